"""Second pass over a corpus: each staged row goes to the file of its split, and is counted there.

Which split that is has been decided, in `mt.text.splits`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mt.progress import track
from mt.text.inputs import Input
from mt.text.report import EXAMPLES, DataReport, SplitReport, Tally
from mt.text.rows import BATCH_ROWS
from mt.text.splits import REASONS, TRAIN, Codes, Leaks
from mt.text.staging import ROLES, Staging

TRAIN_SCHEMA = pa.schema(
    [("src", pa.string()), ("tgt", pa.string()), ("row", pa.int64()), ("file", pa.int32())]
)
PIECE_ROWS = 1 << 16
HELD_OUT_SCHEMA = pa.schema([*TRAIN_SCHEMA, ("ref", pa.string()), ("document", pa.string())])


class _File:
    """An Arrow file that is written in large pieces: opening it touches a page of each."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.schema = schema
        self.sink = pa.OSFile(str(path), "wb")
        self.writer = pa.ipc.new_stream(self.sink, schema)
        self.pending: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self.pending.append(_shaped(batch, self.schema))
        if sum(map(len, self.pending)) >= PIECE_ROWS:
            self._flush()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self.pending, schema=self.schema).combine_chunks()
        self.writer.write_table(table)
        self.pending = []

    def close(self) -> None:
        self._flush()
        self.writer.close()
        self.sink.close()


def _shaped(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in schema.names}
    if "ref" in columns:
        columns["ref"] = pa.compute.coalesce(batch.column("ref"), batch.column("tgt"))
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


class SplitWriter:
    """Writes `folder`/train.arrow, valid.arrow and test.arrow, and completes the report."""

    def __init__(self, folder: Path, inputs: list[Input], report: DataReport, leaks: Leaks) -> None:
        self.folder, self.inputs, self.report = folder, inputs, report
        self.weights = np.array([i.weight for i in inputs])
        self.sums = [np.uint64(0)] * len(ROLES)
        self.wanted = self._wanted_examples(leaks)
        report.splits = {role: SplitReport() for role in ROLES}

    def write(self, staging: Staging, codes: Codes) -> None:
        """All rows of `staging`, whose split `codes` tells."""
        schemas = [TRAIN_SCHEMA, HELD_OUT_SCHEMA, HELD_OUT_SCHEMA]
        paths = [self.folder / f"{role}.arrow" for role in ROLES]
        files = [_File(path, schema) for path, schema in zip(paths, schemas, strict=True)]
        start = 0
        for batch in track(staging.batches(), "writing the splits", each=BATCH_ROWS):
            part = codes[start : start + len(batch)]
            self._dropped(batch, part)
            self._examples(batch, start)
            for code, file in enumerate(files):
                if len(chosen := self._chosen(batch, part, code)):
                    file.add(batch.take(pa.array(chosen)))
            start += len(batch)
        for file in files:
            file.close()
        self.report.kept = sum(int((codes == code).sum()) for code in range(len(ROLES)))
        self._finish()

    def _chosen(self, batch: pa.RecordBatch, part: Codes, code: int) -> npt.NDArray[np.int64]:
        """Indexes of the rows for one split, training pairs as often as their weight says."""
        chosen = np.flatnonzero(part == code)
        hashes = batch.column("hash").to_numpy()[chosen]
        if code == TRAIN and (self.weights != 1).any():
            weights = self.weights[batch.column("file").to_numpy()[chosen]]
            whole = np.floor(weights)
            times = (whole + (hashes / 2.0**64 < weights - whole)).astype(np.int64)
            chosen, hashes = np.repeat(chosen, times), np.repeat(hashes, times)
        self.report.splits[ROLES[code]].pairs += len(chosen)
        self.sums[code] = np.add(self.sums[code], hashes.sum(dtype=np.uint64))
        return chosen

    def _dropped(self, batch: pa.RecordBatch, part: Codes) -> None:
        for code, reason in REASONS.items():
            for number, index in enumerate(np.flatnonzero(part == code)):
                tally = self.report.dropped.setdefault(reason, Tally())
                if len(tally.examples) == EXAMPLES:
                    tally.count += int((part == code).sum()) - number
                    break
                tally.add(*self._place(batch, int(index)))

    def _examples(self, batch: pa.RecordBatch, start: int) -> None:
        for index in [i for i in self.wanted if start <= i < start + len(batch)]:
            for tally in self.wanted[index]:
                tally.add(*self._place(batch, index - start))
                tally.count -= 1  # it is counted already

    def _place(self, batch: pa.RecordBatch, index: int) -> tuple[str, int, str]:
        row = {name: batch.column(name)[index].as_py() for name in ("src", "tgt", "row", "file")}
        return self.inputs[row["file"]].name, row["row"], f"{row['src']} | {row['tgt']}"

    def _wanted_examples(self, leaks: Leaks) -> dict[int, list[Tally]]:
        wanted: dict[int, list[Tally]] = {}
        for (held, other), kinds in leaks.items():
            tallies = {kind: Tally(leak.count) for kind, leak in kinds.items()}
            self.report.leaks[f"{ROLES[held]} in {ROLES[other]}"] = tallies
            for kind, leak in kinds.items():
                for index in leak.first:
                    wanted.setdefault(index, []).append(tallies[kind])
        return wanted

    def _finish(self) -> None:
        given = {i.role for i in self.inputs}
        for role, total in zip(ROLES, self.sums, strict=True):
            split = self.report.splits[role]
            split.hash = f"{int(total):016x}"
            own = role != "train" and role in given
            split.origin = "" if role == "train" else "given" if own else "split from train"
