"""TSV and CSV as pairs. In TSV a quotation mark is text, CSV follows RFC 4180; "NA" is text too.

Rows are read with their line numbers and field counts checked; a pair is never shifted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mt.errors import UserError
from mt.text.readers.arrow import wrong_columns
from mt.text.readers.lines import Lines, read_lines
from mt.text.rows import BadRow, Batches, Columns, RawBatch

# A quoted field may go over several lines; a quote that opens and never closes must not eat a file.
MOST_LINES_A_ROW = 100
_FIELD = re.compile(r'"((?:[^"]|"")*)"(?=,|\Z)|([^,"][^,]*|(?=,|\Z))', re.DOTALL)


class Row(NamedTuple):
    """The fields of one row and the line it begins on; `fields` is None for one that is broken."""

    line: int
    fields: list[str] | None
    reason: str = ""
    text: str = ""


class Layout(NamedTuple):
    """How many fields a row has, and which of them are wanted."""

    width: int
    src: int
    tgt: int
    group: int | None = None


def read_tsv(path: Path, columns: Columns) -> Batches:
    """The pairs of a `.tsv`: two fields a row, or any number below a header that names the two."""
    layout: Layout | None = None
    for lines in read_lines(path):
        rows = _tsv_rows(lines)
        if layout is None:
            first = next(rows, None)
            layout, is_header = _tsv_layout(path, first.fields if first else None, columns)
            rows = rows if is_header or first is None else _chain(first, rows)
        yield _batch(rows, layout, lines.bad)


def read_csv(path: Path, columns: Columns) -> Batches:
    """The pairs of a `.csv`, whose first line names its columns."""
    layout: Layout | None = None
    joiner = _Joiner()
    for lines in read_lines(path):
        rows = joiner.rows(lines)
        if layout is None:
            header = next(rows, None)
            layout = _csv_layout(path, header, columns)
            joiner.width = layout.width
        yield _batch(rows, layout, lines.bad)
    while joiner.pending:
        yield _batch(joiner.give_up(), layout or Layout(2, 0, 1), [])


def _numbered(lines: Lines) -> Iterator[tuple[int, str | None]]:
    return enumerate(lines.lines, lines.first)


def _tsv_rows(lines: Lines) -> Iterator[Row]:
    for number, line in _numbered(lines):
        if line is not None:
            yield Row(number, line.split("\t"))


def _chain(first: Row, rows: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rows


def _batch(rows: Iterator[Row], layout: Layout, bad: list[BadRow]) -> RawBatch:
    groups: list[str | None] | None = None if layout.group is None else []
    numbers: list[int] = []
    batch = RawBatch(numbers, [], [], groups, [*bad])
    for line, fields, reason, text in rows:
        if fields is not None and len(fields) == 1 and not fields[0].strip():
            fields = [""] * layout.width  # an empty line: a pair without sides, not a broken row
        if fields is None or len(fields) != layout.width:
            batch.bad.append(_bad(line, fields, layout.width, reason, text))
            continue
        numbers.append(line)
        batch.src.append(fields[layout.src])
        batch.tgt.append(fields[layout.tgt])
        if groups is not None and layout.group is not None:
            groups.append(fields[layout.group])
    return batch


def _bad(line: int, fields: list[str] | None, width: int, reason: str, text: str) -> BadRow:
    if fields is None:
        return BadRow(line, reason, text[:100])
    count = len(fields)
    why = f"{count} field{'s' if count != 1 else ''} where {width} are expected"
    return BadRow(line, why, " | ".join(fields)[:100])


def _tsv_layout(path: Path, first: list[str] | None, columns: Columns) -> tuple[Layout, bool]:
    """The layout, and whether the first row is a header."""
    names = [name.strip() for name in first or []]
    for src, tgt in _name_choices(columns):
        if src in names and tgt in names:
            return _layout(path, names, (src, tgt), columns), True
    if columns.src_column or columns.group:
        raise wrong_columns(str(path.absolute()), columns, names)
    return Layout(2, 0, 1), False


def _csv_layout(path: Path, header: Row | None, columns: Columns) -> Layout:
    if header is None:
        return Layout(2, 0, 1)
    names = [name.strip() for name in header.fields or []]
    for src, tgt in _name_choices(columns):
        if src in names and tgt in names:
            return _layout(path, names, (src, tgt), columns)
    hint = "; the first line of a CSV file is its header: has this one none?"
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        hint = "; fields must be separated by commas (for tabs, call the file .tsv)"
    error = wrong_columns(f"{path.absolute()}, line 1", columns, names)
    raise UserError(f"{error}{hint}")


def _name_choices(columns: Columns) -> list[tuple[str, str]]:
    if columns.src_column:
        return [columns.names]
    return [columns.names, ("src", "tgt"), ("source", "target")]


def _layout(path: Path, names: list[str], wanted: tuple[str, str], columns: Columns) -> Layout:
    if columns.group and columns.group not in names:
        chosen = columns._replace(src_column=wanted[0], tgt_column=wanted[1])
        raise wrong_columns(str(path.absolute()), chosen, names)
    group = names.index(columns.group) if columns.group else None
    return Layout(len(names), names.index(wanted[0]), names.index(wanted[1]), group)


class _Joiner:
    """CSV rows from lines: those with an open quote take in the lines that follow."""

    def __init__(self) -> None:
        self.pending: list[str] = []
        self.line = 0
        self.width: int | None = None  # fields of a row, once the header is read

    def _is_broken(self, row: Row) -> bool:
        """Whether a row of several lines is none: its quote closed with one that opens another."""
        return row.fields is None or self.width not in (None, len(row.fields))

    def rows(self, lines: Lines) -> Iterator[Row]:
        for number, line in _numbered(lines):
            if line is None:
                continue
            if not self.pending and '"' not in line:
                yield Row(number, line.split(","))
                continue
            self.line = self.line if self.pending else number
            self.pending.append(line)
            text = "\n".join(self.pending)
            if not _open_quote(text):
                row = _parsed(self.line, text)
                if len(self.pending) > 1 and self._is_broken(row):
                    yield from self.give_up()
                    continue
                self.pending = []
                yield row
            elif len(self.pending) > MOST_LINES_A_ROW:
                yield from self.give_up()

    def give_up(self) -> Iterator[Row]:
        """The row with the open quote is broken; the lines after it are rows of their own."""
        rest, first = self.pending[1:], self.line + 1
        text, self.pending = self.pending[0], []
        yield Row(self.line, None, "a quotation mark that opens here and does not close", text)
        yield from self.rows(Lines(first, [*rest], []))


def _open_quote(text: str) -> bool:
    """Whether `text` ends inside a quoted field. Only a quote that begins a field opens one."""
    at = 0
    while at <= len(text):
        if text[at : at + 1] == '"':
            end = _closing(text, at + 1)
            if end < 0:
                return True
            at = end + 1
        comma = text.find(",", at)
        if comma < 0:
            return False
        at = comma + 1
    return False


def _closing(text: str, at: int) -> int:
    while (end := text.find('"', at)) >= 0 and text[end + 1 : end + 2] == '"':
        at = end + 2
    return end


def _parsed(line: int, text: str) -> Row:
    fields, at = [], 0
    while True:
        found = _FIELD.match(text, at)
        if not found:
            return Row(line, None, "text after a closing quotation mark", text)
        quoted, plain = found.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if at >= len(text):
            return Row(line, fields)
        at += 1  # the comma
