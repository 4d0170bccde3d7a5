"""Notes: each thing once, the first ones by name, the rest counted, in bounded memory."""

from __future__ import annotations

import pytest

from mt.cli import notes
from mt.cli.notes import Few, Note, Notes


def test_few_names_the_first_and_counts_the_rest() -> None:
    few = Few()
    assert not few
    few.add(["b", "a", "b"])
    assert few
    assert str(few) == "b, a"
    few.add(map(str, range(25)))
    assert str(few).endswith(", 16, 17, and 7 more")


def test_few_keeps_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST_KEPT", 30)
    few = Few()
    few.add(map(str, range(1000)))
    few.add(["1", "2"])
    assert len(few._kept) == 30
    assert str(few).endswith(", and 980 more")


def test_long_lines_are_counted_after_twenty(capsys: pytest.CaptureFixture[str]) -> None:
    from mt.cli.report import start_logging

    start_logging()
    total = Notes(22)
    for line in range(1, 31):
        total.add(line, Note(too_long=(100, 5)))
    total.say()
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "line 1: 100 tokens, over the model's limit of 22; translated in 5 parts"
    assert err[20:] == ["over the limit: 10 more lines"]
