"""JSON lines: one object a line, with flat columns or a nested `translation`; nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mt.errors import UserError
from mt.text.readers.arrow import wrong_columns
from mt.text.readers.lines import read_lines
from mt.text.rows import BadRow, Batches, Columns, RawBatch

Sides = tuple[str | None, str | None, str | None]


def read_json_lines(path: Path, columns: Columns) -> Batches:
    """The pairs of a `.jsonl` file; `UserError` when no row of its beginning has the columns."""
    for lines in read_lines(path):
        if lines.first == 1:
            _check_not_array(path, lines.lines)
        batch = RawBatch([], [], [], [] if columns.group else None, lines.bad)
        numbers: list[int] = []
        for number, line in enumerate(lines.lines, lines.first):
            if line is None:
                continue
            try:
                src, tgt, group = _sides(line, columns)
            except ValueError as error:
                batch.bad.append(BadRow(number, str(error), line[:100]))
                continue
            numbers.append(number)
            batch.src.append(src)
            batch.tgt.append(tgt)
            if batch.groups is not None:
                batch.groups.append(group)
        batch.rows = numbers
        if lines.first == 1 and not numbers:
            _check_columns(path, lines.lines, columns)
        yield batch


def _sides(line: str, columns: Columns) -> Sides:
    """Source, target and group of one row; ValueError says what is wrong with it."""
    if not line.strip():
        return None, None, None
    try:
        row = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: nested too deep") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ValueError(f"not JSON: {reason}") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    src_name, tgt_name = columns.names
    cells = row
    if src_name not in row and isinstance(row.get("translation"), dict):
        cells = row["translation"]
    src, tgt = _text(cells, src_name), _text(cells, tgt_name)
    if "\\u" in line:
        _check_characters(src, tgt)
    return src, tgt, _group(row, columns.group) if columns.group else None


def _text(cells: dict[str, Any], name: str) -> str | None:
    try:
        value = cells[name]
    except KeyError:
        raise ValueError(f"no {name}") from None
    if value is None or type(value) is str:
        return value
    raise ValueError(f"{name} is not text but {json.dumps(value)[:40]}")


def _group(row: dict[str, Any], name: str) -> str:
    if row.get(name) is None:
        raise ValueError(f"no {name}")
    value = row[name]
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _check_characters(*sides: str | None) -> None:
    try:
        for side in sides:
            (side or "").encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is no character") from None


def _check_not_array(path: Path, lines: list[str | None]) -> None:
    start = next((line for line in lines if line and line.strip()), "")
    if start and start.lstrip().startswith("["):
        raise UserError(
            f"{path.absolute()}, line 1: a JSON array; expected one object a line; convert it: "
            f"jq -c '.[]' {path.name} > {path.stem}.jsonl"
        )


def _check_columns(path: Path, lines: list[str | None], columns: Columns) -> None:
    """Raises when rows are fine as JSON but none has the columns: those found are listed."""
    found: dict[str, None] = {}
    for line in lines[:100]:
        try:
            row = json.loads(line or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            nested = row.get("translation")
            found.update(dict.fromkeys(k for k in row if k != "translation" or nested is None))
            found.update(dict.fromkeys(nested if isinstance(nested, dict) else ()))
    missing = [name for name in (*columns.names, columns.group) if name and name not in found]
    if found and missing:
        raise wrong_columns(str(path.absolute()), columns, list(found))
