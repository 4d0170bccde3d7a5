"""Progress: a plain line now and then where there is no terminal, a bar where there is one."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from mt import progress
from mt.progress import track


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, for tests to turn; not a real one."""
    now = [0.0]
    # The module's own name alone: servers of other tests go by the real one.
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the package's log says, at the level that every command gives it."""
    caplog.set_level(logging.INFO, "mt")
    said: list[str] = []
    monkeypatch.setattr(progress.log, "info", lambda text, *values: said.append(text % values))
    return said


@pytest.mark.parametrize("terminal", [False, True])
def test_items_come_through_untouched(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: terminal, raising=False)
    items = [object() for _ in range(5)]
    assert list(track(iter(items), "reading")) == items
    assert list(track([], "reading", total=0)) == []


def test_lines_at_intervals_with_counts(clock: list[float], lines: list[str]) -> None:
    for item in track(range(1000), "reading", total=2000, each=10):
        clock[0] += 1.0 if item < 65 else 0.0
    assert lines == ["reading: 300 of 2,000 rows", "reading: 600 of 2,000 rows"]


def test_without_a_total_and_in_other_units(clock: list[float], lines: list[str]) -> None:
    for _ in track(range(2), "reading", unit=" sentences"):
        clock[0] += 31
    assert lines == ["reading: 1 sentences", "reading: 2 sentences"]


def test_quick_work_says_nothing(clock: list[float], lines: list[str]) -> None:
    list(track(range(100_000), "reading"))
    assert lines == []


def test_a_terminal_has_a_bar_and_no_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str]
) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    list(track(range(7), "reading", total=7))
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading" in err
    assert "/7" in err
    assert lines == []
