"""From the text of a split to ids on disk: made once, streamed through, and found again.

What is found again is keyed by the text and both tokenizers, so it is never that of others.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mt.data.frame import FRAME
from mt.data.mapped_table import MappedTable
from mt.data.ragged import Lengths, Ragged
from mt.progress import track
from mt.text.corpus import cache_folder
from mt.text.stream import batches
from mt.text.tokenizer import Tokenizer

log = logging.getLogger("mt")
IDS = pa.schema([("src_ids", pa.list_(pa.int32())), ("tgt_ids", pa.list_(pa.int32()))])
ROWS_AT_ONCE = 1 << 13
# Opening a mapped file brings in the pages around the head of each piece: a few large ones are few.
BATCHES_IN_PIECE = 32
MILLION = 10**6
LONGEST = np.iinfo(np.uint16).max  # lengths beyond are recorded as this: too long in any case


@dataclass(frozen=True)
class EncodedSplit:
    """The ids of a split, memory-mapped, without SOS and EOS; and the lengths, in memory."""

    src: Ragged
    tgt: Ragged
    lengths: Lengths  # (N, 2) source and target tokens of each pair, SOS, EOS included
    mapped: MappedTable  # what src and tgt are views of


def encode_split(split: datasets.Dataset, src: Tokenizer, tgt: Tokenizer) -> EncodedSplit:
    """The ids of the columns "src" and "tgt" of `split`."""
    key = "".join((split._fingerprint, src.to_json(), tgt.to_json()))
    name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    folder = cache_folder().parent / "mt-ids" / name
    if folder.is_dir():
        try:
            return open_encoded(folder, len(split))
        except (OSError, ValueError, pa.ArrowException):
            log.warning("the prepared ids %s are damaged; they are made again", folder)
            shutil.rmtree(folder, ignore_errors=True)
    _build(split, src, tgt, folder)
    return open_encoded(folder, len(split))


def open_encoded(folder: Path, rows: int) -> EncodedSplit:
    """What `encode_split` left in `folder`. Raises ValueError if it is not ids of `rows` pairs."""
    mapped = MappedTable(folder / "ids.arrow")
    table = mapped.table
    lengths = _read_lengths(folder / "lengths.u16")
    if not len(table) == len(lengths) == rows:
        raise ValueError(f"{folder} is not whole")
    src, tgt = (Ragged(table.column(name)) for name in ("src_ids", "tgt_ids"))
    return EncodedSplit(src, tgt, lengths, mapped)


def _read_lengths(path: Path) -> Lengths:
    """(N, 2), in one byte each where that is enough; a million at a time, to hold them once."""
    count, longest = path.stat().st_size // 4, 0
    with path.open("rb") as file:
        while len(part := np.fromfile(file, np.uint16, 2 * MILLION)):
            longest = max(longest, int(part.max()))
        kind: type[np.integer[Any]] = np.uint8 if longest < 2**8 else np.uint16
        lengths: Lengths = np.empty(2 * count, kind)
        file.seek(0)
        for first in range(0, len(lengths), 2 * MILLION):
            lengths[first : first + 2 * MILLION] = np.fromfile(file, np.uint16, 2 * MILLION)
    return lengths.reshape(-1, 2)


def _build(split: datasets.Dataset, src: Tokenizer, tgt: Tokenizer, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="unfinished-", dir=folder.parent))
    try:
        with (
            pa.OSFile(str(work / "ids.arrow"), "wb") as sink,
            pa.ipc.new_stream(sink, IDS) as out,
            (work / "lengths.u16").open("wb") as lengths,
        ):
            text = track(batches(split, ROWS_AT_ONCE), "to ids", len(split), each=ROWS_AT_ONCE)
            while ids := [_ids(rows, src, tgt) for rows in islice(text, BATCHES_IN_PIECE)]:
                out.write_table(pa.Table.from_batches(ids).combine_chunks())
                lengths.writelines(_lengths(batch).tobytes() for batch in ids)
        try:
            work.rename(folder)
        except OSError:
            if not folder.is_dir():  # if it is, another machine with this cache was faster
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _ids(text: pa.RecordBatch, src: Tokenizer, tgt: Tokenizer) -> pa.RecordBatch:
    sides = [
        _lists(tokenizer.encode_batch(text.column(side).to_pylist()))
        for side, tokenizer in (("src", src), ("tgt", tgt))
    ]
    return pa.record_batch(sides, schema=IDS)


def _lengths(batch: pa.RecordBatch) -> NDArray[np.uint16]:
    counts = [np.diff(column.offsets.to_numpy()) for column in batch.columns]
    lengths: NDArray[np.uint16] = np.stack(counts, axis=1)
    return np.minimum(lengths + FRAME, LONGEST).astype(np.uint16)


def _lists(rows: list[list[int]]) -> pa.Array:
    """Rows of ids as an Arrow list<int32>, without a Python object for each on the way."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    values = np.fromiter((i for row in rows for i in row), np.int32, int(offsets[-1]))
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
