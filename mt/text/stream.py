"""The rows of a split, streamed from its file: pages of a mapped file would all stay in memory."""

from __future__ import annotations

from collections.abc import Iterator

import datasets
import pyarrow as pa

ROWS_AT_ONCE = 1 << 13


def batches(split: datasets.Dataset, rows: int | None = None) -> Iterator[pa.RecordBatch]:
    """All rows of `split` in order, at most `rows` of them at once."""
    rows = rows or ROWS_AT_ONCE
    for piece in _pieces(split):
        for first in range(0, len(piece), rows):
            yield piece.slice(first, rows)


def sentences(split: datasets.Dataset, column: str) -> Iterator[str]:
    """The text of one column, a row at a time."""
    for batch in batches(split):
        yield from batch.column(column).to_pylist()


def _pieces(split: datasets.Dataset) -> Iterator[pa.RecordBatch]:
    if not split.cache_files or split._indices is not None:
        table = split.with_format("arrow")[:]
        yield from table.to_batches()
        return
    for file in split.cache_files:
        with pa.OSFile(file["filename"], "rb") as source:
            yield from pa.ipc.open_stream(source)
