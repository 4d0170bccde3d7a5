"""First pass over a corpus: rows are read, normalised, filtered and written down once, as Arrow.

Which split a pair goes to needs all of them and is decided afterwards, in `mt.text.splits`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from mt.config import DataConfig
from mt.errors import UserError
from mt.progress import track
from mt.text.buckets import Buckets
from mt.text.cleaning import mend
from mt.text.filters import Rule, build_rule, only_blank
from mt.text.hashing import Hashes, hash_pairs, hash_texts, near_keys
from mt.text.inputs import Input
from mt.text.report import DataReport, FileReport, Tally
from mt.text.rows import BATCH_ROWS, BadRow, RawBatch

MOST_BAD = 0.1
SHOWN_BAD = 5
ROLES = ("train", "valid", "test")
SCHEMA = pa.schema(
    [
        ("src", pa.string()),
        ("tgt", pa.string()),
        ("ref", pa.string()),  # the target text as it stood in the file; null where it is tgt
        ("row", pa.int64()),
        ("file", pa.int32()),
        ("hash", pa.uint64()),  # of the pair
        ("document", pa.string()),  # null where no column of the file names it
    ]
)


class Staging:
    """The cleaned rows in `folder`/rows.arrow, their hashes in buckets, their roles in memory."""

    def __init__(self, folder: Path, data: DataConfig, report: DataReport) -> None:
        self.path = folder / "rows.arrow"
        self.report = report
        self.roles = bytearray()  # a byte a row: the index in ROLES
        self.rule = build_rule(data.cleaning, data.src, data.tgt)
        self.sources = Buckets(
            folder / "sources", [("src", np.uint64), ("pair", np.uint64), ("index", np.int64)]
        )
        self.targets = Buckets(folder / "targets", [("index", np.int64)])
        self.groups = self.sources
        if data.group_by:
            self.groups = Buckets(folder / "groups", [("index", np.int64)])

    def fill(self, inputs: Sequence[Input]) -> None:
        """Reads all `inputs`; `UserError` for one with too many bad rows."""
        with pa.OSFile(str(self.path), "wb") as sink, pa.ipc.new_stream(sink, SCHEMA) as writer:
            for number, source in enumerate(inputs):
                first_bad: list[BadRow] = []
                for batch in track(source.read(), f"reading {source.name}", each=BATCH_ROWS):
                    first_bad += batch.bad[: SHOWN_BAD - len(first_bad)]
                    if table := self._take(batch, number, source):
                        writer.write_batch(table)
                _check_bad(source, self.report.files[number], first_bad)
        for buckets in {self.sources, self.targets, self.groups}:
            buckets.close()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows again. Through the file, not the memory map, whose pages count as ours."""
        with pa.OSFile(str(self.path)) as stream, pa.ipc.open_stream(stream) as reader:
            yield from reader

    def _take(self, raw: RawBatch, number: int, source: Input) -> pa.RecordBatch | None:
        file = self.report.files[number]
        file.rows += len(raw.rows) + len(raw.bad)
        file.bad += len(raw.bad)
        self.report.read += len(raw.rows) + len(raw.bad)
        for bad in raw.bad:
            self.report.bad.add(source.name, bad.row, f"{bad.reason}: {bad.text}")
        kept = _Kept(self.report, source.name, raw.groups is not None)
        rule = self.rule if source.role == "train" else only_blank
        kept.fill(raw, rule)
        file.kept += len(kept.src)
        return self._write(kept, number, source.role) if kept.src else None

    def _write(self, kept: _Kept, number: int, role: str) -> pa.RecordBatch:
        count, first = len(kept.src), len(self.roles)
        index = np.arange(first, first + count)
        self.roles.extend(bytes([ROLES.index(role)]) * count)
        src, tgt = hash_texts(kept.src), hash_texts(kept.tgt)
        pair = hash_pairs(src, tgt)
        near = hash_texts(near_keys(kept.src))
        self.sources.add(key=near, src=src, pair=pair, index=index)
        self.targets.add(key=tgt, index=index)
        if self.groups is not self.sources:
            self.groups.add(key=kept.group_hashes(near), index=index)
        documents = kept.group or [None] * count
        columns = [kept.src, kept.tgt, kept.ref, kept.row, [number] * count, pair, documents]
        return pa.record_batch(
            [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
        )


class _Kept:
    """The rows of one batch that stay."""

    def __init__(self, report: DataReport, name: str, grouped: bool) -> None:
        self.report, self.name = report, name
        self.src: list[str] = []
        self.tgt: list[str] = []
        self.ref: list[str | None] = []
        self.row: list[int] = []
        self.group: list[str | None] | None = [] if grouped else None

    def fill(self, raw: RawBatch, rule: Rule) -> None:
        groups: Sequence[str | None] = raw.groups or [None] * len(raw.rows)
        for row, src, tgt, group in zip(raw.rows, raw.src, raw.tgt, groups, strict=True):
            clean_src, mended_src = mend(src or "")
            clean_tgt, mended_tgt = mend(tgt or "")
            if mended_src or mended_tgt:
                self._count_mended(row, src, tgt, {*mended_src, *mended_tgt})
            reason = rule(clean_src, clean_tgt)
            if reason:
                tally = self.report.dropped.setdefault(reason, Tally())
                tally.add(self.name, row, f"{src} | {tgt}")
                continue
            self.src.append(clean_src)
            self.tgt.append(clean_tgt)
            self.ref.append(tgt if mended_tgt else None)
            self.row.append(row)
            if self.group is not None:
                self.group.append(group)

    def _count_mended(self, row: int, src: str | None, tgt: str | None, kinds: set[str]) -> None:
        for kind in sorted(kinds):
            tally = self.report.mended.setdefault(kind, Tally())
            tally.add(self.name, row, f"{src} | {tgt}")

    def group_hashes(self, near: Hashes) -> Hashes:
        """Of the documents; a row of a file without documents is its own."""
        if self.group is None:
            return near
        return hash_texts(f"document {group}" for group in self.group)


def _check_bad(source: Input, file: FileReport, first: list[BadRow]) -> None:
    if file.bad <= MOST_BAD * file.rows:
        return
    rows = "; ".join(f"{source.unit} {bad.row} ({bad.reason})" for bad in first)
    more = "; ..." if file.bad > len(first) else ""
    raise UserError(
        f"{source.name}: {file.bad:,} of {file.rows:,} rows are bad, more than "
        f"{MOST_BAD:.0%}: {rows}{more}. Mend or remove them, or check that the form of the file "
        "is what its extension says"
    )


def file_reports(inputs: Sequence[Input]) -> list[FileReport]:
    """A blank report for each input."""
    return [FileReport(i.name, i.form, i.role, i.weight, i.fingerprint) for i in inputs]
