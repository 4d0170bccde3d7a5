"""Numbers in messages."""

from __future__ import annotations

import pytest

from mt.text.report import DataReport, SplitReport, Tally
from mt.wording import counted


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (12345, "12,345 pairs")]
)
def test_one_is_no_plural(number: int, expected: str) -> None:
    assert counted(number, "pair") == expected


def test_a_report_of_one_of_each() -> None:
    one = Tally()
    one.add("p.tsv", 1, "a | b")
    splits = {name: SplitReport(2) for name in ("train", "valid", "test")}
    leaks = {"valid in train": {"same source": one}}
    report = DataReport(["p.tsv"], "en", "it", read=1, kept=1, bad=one, dropped={"empty": one},
                        splits=splits, leaks=leaks)  # fmt: skip
    assert list(report.lines()) == [
        "data         1 pair of 1 row read",
        "bad          1 row, left out: p.tsv row 1, a | b",
        "dropped      1 row, empty: p.tsv row 1",
        "split        2 train, 2 valid, 2 test pairs",
        "overlap      valid in train: 1 pair has the same source",
    ]
