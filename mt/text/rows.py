"""Raw rows on their way from a reader to the cleaning: batches of pairs, and the rows that are bad.

How each form of file is read is `mt.text.readers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

BATCH_ROWS = 8192


class BadRow(NamedTuple):
    """A row that cannot be read: its number in the file, why, and how it begins."""

    row: int
    reason: str
    text: str = ""


@dataclass(slots=True)
class RawBatch:
    """Rows as they stand in the file; None is a side that is not there."""

    rows: Sequence[int]
    src: list[str | None]
    tgt: list[str | None]
    groups: list[str | None] | None = None  # the document of each pair, where one is asked for
    bad: list[BadRow] = field(default_factory=list)


Batches = Iterator[RawBatch]


class Columns(NamedTuple):
    """What to look for in a file: language codes, and column names where they differ."""

    src: str
    tgt: str
    src_column: str | None = None
    tgt_column: str | None = None
    group: str | None = None

    @property
    def names(self) -> tuple[str, str]:
        return self.src_column or self.src, self.tgt_column or self.tgt

    def missing_from(self, found: Sequence[str]) -> str:
        """The columns that are not among `found`, in words."""
        missing = [name for name in self.names if name not in found]
        if self.group is not None and self.group not in found:
            missing.append(f"{self.group} (of data.group_by)")
        missing = missing or [*self.names]  # there, but not where they are looked for
        return f"column{'s' if len(missing) > 1 else ''} {' and '.join(missing)}"
