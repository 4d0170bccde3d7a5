"""The forms in which corpora come, a file each, and which extension means which form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mt.text.readers.json_lines import read_json_lines
from mt.text.readers.parquet import read_parquet
from mt.text.readers.tables import read_csv, read_tsv
from mt.text.readers.text_pair import read_text_pair
from mt.text.readers.tmx import read_tmx
from mt.text.rows import Batches, Columns

# Extension: the reader, and what its rows are called in messages.
READERS: dict[str, tuple[Callable[[Path, Columns], Batches], str]] = {
    ".jsonl": (read_json_lines, "line"),
    ".json": (read_json_lines, "line"),
    ".tsv": (read_tsv, "line"),
    ".csv": (read_csv, "line"),
    ".parquet": (read_parquet, "row"),
    ".tmx": (read_tmx, "unit"),
}

__all__ = ["READERS", "read_text_pair"]
