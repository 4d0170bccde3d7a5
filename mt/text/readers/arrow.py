"""Tables of Arrow columns (parquet, data sets) as pairs; where a table comes from is not known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from mt.errors import UserError
from mt.text.rows import Batches, Columns, RawBatch


def read_tables(tables: Iterable[pa.RecordBatch], where: str, columns: Columns) -> Batches:
    """The pairs of consecutive batches of rows; `where` names them in messages.

    The columns are flat or in a struct column `translation`. `UserError` when they are not there
    or hold anything but text.
    """
    first = 1
    for table in tables:
        src, tgt = (_texts(table, name, where, columns) for name in columns.names)
        groups = _groups(table, where, columns) if columns.group else None
        yield RawBatch(range(first, first + len(src)), src, tgt, groups)
        first += len(src)


def check_columns(schema: pa.Schema, where: str, columns: Columns) -> None:
    """Raises the `UserError` of `read_tables` before a row is read."""
    empty = pa.RecordBatch.from_pylist([], schema=schema)
    for _ in read_tables([empty], where, columns):
        pass


def _texts(table: pa.RecordBatch, name: str, where: str, columns: Columns) -> list[str | None]:
    column = _column(table, name)
    if column is None:
        raise wrong_columns(where, columns, _names(table.schema))
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind, column = kind.value_type, column.dictionary_decode()
    if pa.types.is_null(kind):
        return [None] * len(column)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind)):
        raise UserError(f"{where}: column {name} holds {kind}, expected text (string)")
    texts: list[str | None] = column.to_pylist()
    return texts


def _is_view(kind: Any) -> bool:
    return bool(pa.types.is_string_view(kind))


def _column(table: pa.RecordBatch, name: str) -> Any:
    if name in table.schema.names:
        return table.column(name)
    if "translation" in table.schema.names:
        nested = table.column("translation")
        if pa.types.is_struct(nested.type) and nested.type.get_field_index(name) >= 0:
            return pa.compute.struct_field(nested, name)
    return None


def _groups(table: pa.RecordBatch, where: str, columns: Columns) -> list[str | None]:
    column = table.column(columns.group) if columns.group in table.schema.names else None
    if column is None:
        raise wrong_columns(where, columns, _names(table.schema))
    return [str(value) for value in column.to_pylist()]


def _names(schema: pa.Schema) -> list[str]:
    names: list[str] = []
    for item in schema:
        nested = item.name == "translation" and pa.types.is_struct(item.type)
        names += [part.name for part in item.type] if nested else [item.name]
    return names


def wrong_columns(where: str, columns: Columns, found: list[str]) -> UserError:
    """What is said when the columns that the config asks for are not there."""
    return UserError(
        f"{where}: no {columns.missing_from(found)}; found: {', '.join(found) or 'none'}. "
        "Set data.src and data.tgt, or data.src_column and data.tgt_column, to names found"
    )
