"""The table of runs: its columns, how they are sorted, and how they are fitted to a width."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mt.progress import spell_seconds
from mt.runs.facts import RunFacts

GAP = "  "
LEAST_NAME = 12  # columns; longer names are cut to it before a column is left out
MOST_WHY = 100


@dataclass(frozen=True)
class Column:
    """A fact of a run: its key in --sort and --csv, its title, its value, and that as text.

    `rank` 0 stays in any table; of others the highest is left out first. `order` says what comes
    first when sorted by it: the smallest (1) or the largest (-1).
    """

    key: str
    title: str
    value: Callable[[RunFacts], Any]
    text: Callable[[Any], str] = str
    rank: int = 0
    order: int = -1
    right: bool = True
    test_set: str = ""  # whose score it is


def columns(test_set: str) -> tuple[Column, ...]:
    """All columns; those of test scores are of the evaluation on `test_set`."""

    def test(metric: str) -> Callable[[RunFacts], float | None]:
        return lambda run: run.tests[test_set].scores.get(metric) if test_set in run.tests else None

    def valid(metric: str) -> Callable[[RunFacts], float | None]:
        return lambda run: run.valid.get(metric)

    score = "{:.2f}".format
    return (
        Column("name", "name", lambda run: run.name, order=1, right=False),
        Column("state", "state", lambda run: run.state, order=1, right=False),
        Column("data", "data", lambda run: ", ".join(map(_short, run.source)) or None, _cut,
               rank=6, order=1, right=False),
        Column("languages", "pair", lambda run: run.languages or None, rank=8, order=1,
               right=False),
        Column("pairs", "pairs", lambda run: run.pairs, "{:,}".format, rank=5),
        Column("parameters", "params", lambda run: run.parameters, spell_count, rank=7),
        Column("steps", "steps", lambda run: run.step, "{:,}".format, rank=2),
        Column("valid-loss", "valid loss", valid("loss"), "{:.3f}".format, rank=4, order=1),
        Column("valid-bleu", "valid BLEU", valid("bleu"), score, rank=1),
        Column("bleu", f"{test_set} BLEU", test("bleu"), score, test_set=test_set),
        Column("chrf", f"{test_set} chrF", test("chrf"), score, rank=3, test_set=test_set),
        Column("time", "time", lambda run: run.seconds, spell_seconds, rank=2),
        Column("newest", "last written", lambda run: run.active, spell_when, rank=9),
        Column("why", "why", lambda run: run.why or None, _cut_why, rank=10, order=1, right=False),
    )  # fmt: skip


def sort(runs: Sequence[RunFacts], column: Column, reverse: bool = False) -> list[RunFacts]:
    """What is first in the order of the column, best or newest or first by name; those without
    a value last, whichever way.
    """
    known = [run for run in runs if column.value(run) is not None]
    known.sort(key=lambda run: run.name)
    known.sort(key=column.value, reverse=(column.order < 0) != reverse)
    return known + [run for run in runs if column.value(run) is None]


def table(
    runs: Sequence[RunFacts], shown: Sequence[Column], width: int
) -> tuple[list[str], list[str]]:
    """The lines of the table, at most `width` columns wide if the first column leaves room for
    that, and the titles of columns that were left out. A column without any value is left out
    too, and not told.
    """
    cells = {
        column: [_text(column, run) for run in runs]
        for column in shown
        if any(column.value(run) is not None for run in runs)
    }
    left_out: list[str] = []
    while True:
        widths = _widths(cells)
        spare = width - sum(widths[1:]) - len(GAP) * (len(cells) - 1)
        if spare >= min(widths[0], LEAST_NAME):
            break
        last = max(cells, key=lambda column: column.rank)
        if last.rank == 0:
            break
        del cells[last]
        left_out.append(last.title)
    widths[0] = max(1, min(widths[0], spare))
    names = next(iter(cells))
    cells[names] = [shorten(text, widths[0]) for text in cells[names]]
    rows = [[column.title for column in cells], *zip(*cells.values(), strict=True)]
    lines = [
        GAP.join(
            pad(text, size, column.right)
            for text, size, column in zip(row, widths, cells, strict=True)
        ).rstrip()
        for row in rows
    ]
    return lines, left_out


def _widths(cells: dict[Column, list[str]]) -> list[int]:
    """Of each column."""
    return [max(map(text_width, [c.title, *texts])) for c, texts in cells.items()]


def _text(column: Column, run: RunFacts) -> str:
    value = column.value(run)
    if value is None:
        return "-"
    stale = bool(column.test_set) and run.tests[column.test_set].stale
    return column.text(value) + ("*" if stale else "")


def pad(text: str, width: int, right: bool) -> str:
    """`text` with spaces before it (`right`) or after it."""
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` columns, with … at the end if it was cut."""
    if text_width(text) <= width:
        return text
    kept = ""
    for character in text:
        if text_width(kept + character) > width - 1:
            break
        kept += character
    return kept + "…"


def text_width(text: str) -> int:
    """Columns of a terminal: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def spell_count(count: int) -> str:
    """873, 12.3 k, 1.25 M, 2.5 G."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)


def _short(source: str) -> str:
    """A file by its name, anything else as it is."""
    return Path(source).name if Path(source).is_absolute() else source


def _cut(text: str) -> str:
    return shorten(text, 24)


def _cut_why(text: str) -> str:
    return shorten(text.splitlines()[0], MOST_WHY)


def spell_moment(seconds: float) -> str:
    """2026-12-01 14:05 +0100: local time, and its distance from UTC."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M %z}"


def spell_when(seconds: float) -> str:
    """14:05 today; with the day before today; local time."""
    then = datetime.fromtimestamp(seconds)
    today = then.date() == datetime.fromtimestamp(time.time()).date()
    return f"{then:%H:%M}" if today else f"{then:%Y-%m-%d %H:%M}"
