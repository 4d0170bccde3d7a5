"""The history of a run: what its lines say of starts, ends and kills."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mt.storage.failure import WriteError
from mt.storage.history import HISTORY_FILE, History, read_history, read_time, spell_time
from mt.storage.record import METRICS_FILE, last_metrics, read_metrics

NOON = read_time("2026-11-30T12:00:00+00:00")


def test_starts_and_ends(tmp_path: Path) -> None:
    assert read_history(tmp_path) == []
    first = History(tmp_path)
    first.begin(NOON, 0, 100, {"device": "cpu"})
    (start,) = read_history(tmp_path)
    assert (start.began, start.step, start.total) == (NOON, 0, 100)
    assert (start.ended, start.how, start.facts["device"]) == (None, None, "cpu")
    first.end("stopped", 40, "SIGTERM")
    first.end("failed", 40, "comes after it")  # the first end counts
    second = History(tmp_path)
    second.begin(NOON + 3600, 40, 100, {})
    second.end("ended", 100, "training.epochs is 2")
    stopped, ended = read_history(tmp_path)
    assert (stopped.how, stopped.why) == ("stopped", "SIGTERM")
    assert stopped.ended is not None
    assert (ended.how, ended.why, ended.step) == ("ended", "training.epochs is 2", 40)


@pytest.mark.parametrize("then", ["begins again", "has nothing left to do"])
def test_one_that_was_killed_ended_when_it_wrote_last(tmp_path: Path, then: str) -> None:
    History(tmp_path).begin(NOON, 0, 100, {})
    (tmp_path / METRICS_FILE).write_text("")
    os.utime(tmp_path / METRICS_FILE, (NOON + 60, NOON + 60))
    again = History(tmp_path)
    if then == "begins again":
        again.begin(NOON + 9999, 80, 100, {})
    else:
        again.end("ended", 100, "")
    killed = read_history(tmp_path)[0]
    assert killed.ended == NOON + 60
    assert killed.how == ("killed" if then == "begins again" else "ended")


def test_a_line_that_was_cut_off_is_left_out_and_stays_alone(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.begin(NOON, 0, 10, {})
    with (tmp_path / HISTORY_FILE).open("a") as file:
        file.write('{"stopped": "2026-')
    history.end("ended", 10, "all")
    (start,) = read_history(tmp_path)
    assert (start.how, start.why) == ("ended", "all")


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot write the record of the run"):
        History(tmp_path / "gone").begin(NOON, 0, 1, {})
    assert not (tmp_path / "gone").exists()


def test_times_are_read_as_they_were_written() -> None:
    assert read_time(spell_time(NOON + 0.125)) == NOON + 0.125


def test_the_end_of_a_long_record(tmp_path: Path) -> None:
    lines = [{"step": i, "train/loss": float("nan") if i % 7 else 1.0} for i in range(5000)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / METRICS_FILE).write_text(text + '{"step": 5000, "tr')
    every, last = read_metrics(tmp_path), last_metrics(tmp_path)
    assert len(every) == 5000
    assert 100 < len(last) < 5000
    assert str(last) == str(every[-len(last) :])
    assert last_metrics(tmp_path / "none") == []
