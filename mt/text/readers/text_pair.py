"""Two text files, line for line each other's translation; nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from mt.errors import UserError
from mt.text.readers.lines import Lines, read_lines
from mt.text.rows import Batches, RawBatch
from mt.wording import counted


def read_text_pair(src: Path, tgt: Path) -> Batches:
    """The pairs of two files; `UserError` with both counts when one is longer."""
    src_lines, tgt_lines = read_lines(src), read_lines(tgt)
    for left, right in zip_longest(src_lines, tgt_lines):
        counts = [len(side.lines) if side else 0 for side in (left, right)]
        if left is None or right is None or counts[0] != counts[1]:
            done = (left or right).first - 1
            rests = (_count(src_lines), _count(tgt_lines))
            raise _unequal(src, tgt, done + counts[0] + rests[0], done + counts[1] + rests[1])
        yield _without_bad(left, right)


def _count(batches: Iterator[Lines]) -> int:
    return sum(len(batch.lines) for batch in batches)


def _unequal(src: Path, tgt: Path, src_count: int, tgt_count: int) -> UserError:
    return UserError(
        f"{src.absolute()} has {counted(src_count, 'line')} and {tgt.absolute()} has {tgt_count:,}"
        ": line n of one must translate line n of the other; a tool that dropped or broke lines in "
        "only one of them is the usual cause"
    )


def _without_bad(left: Lines, right: Lines) -> RawBatch:
    rows = range(left.first, left.first + len(left.lines))
    if not left.bad and not right.bad:
        return RawBatch(rows, left.lines, right.lines)
    bad = {row.row: row for row in [*right.bad, *left.bad]}
    kept = [i for i, row in enumerate(rows) if row not in bad]
    return RawBatch(
        [rows[i] for i in kept],
        [left.lines[i] for i in kept],
        [right.lines[i] for i in kept],
        bad=[bad[row] for row in sorted(bad)],
    )
