"""Parquet files as pairs, a few thousand rows in memory at a time; nothing else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mt.errors import UserError
from mt.text.readers.arrow import check_columns, read_tables
from mt.text.readers.lines import COMPRESSED
from mt.text.rows import BATCH_ROWS, Batches, Columns


def read_parquet(path: Path, columns: Columns) -> Batches:
    """The pairs of a `.parquet` file; `UserError` when it is damaged or lacks the columns."""
    shown = str(path.absolute())
    if path.suffix.lower() in COMPRESSED:
        raise UserError(f"{shown}: parquet is compressed inside; unpack the {path.suffix} first")
    try:
        with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
            schema = file.schema_arrow
            check_columns(schema, shown, columns)
            wanted = [
                n for n in (*columns.names, columns.group, "translation") if n in schema.names
            ]
            yield from read_tables(file.iter_batches(BATCH_ROWS, columns=wanted), shown, columns)
    except FileNotFoundError:
        raise UserError(f"no such file: {shown}") from None
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())[:150]
        raise UserError(f"{shown}: damaged or not parquet ({why})") from None
