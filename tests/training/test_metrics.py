"""The record of a run: what fails to be written is said there and then, in one message."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar import layout_pb2

from mt.config_file import config_from_dict
from mt.storage.failure import WriteError
from mt.training import board as board_module
from mt.training import event_file, metrics
from mt.training.event_file import EventFile
from mt.training.metrics import MetricsLog, read_metrics
from mt.training.run import Run
from tests.conftest import toy_config, toy_pairs, write_jsonl

full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@full_disk
@pytest.mark.parametrize("which", ["metrics.jsonl", "events"])
def test_a_full_disk_is_told_at_the_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    log = MetricsLog(tmp_path)
    log.scalars(1, {"a": 0.5})
    log.flush()
    if which == "events":
        log._board._file.close()
        log._board._file = Path("/dev/full").open("ab")  # noqa: SIM115
        log._board._records = event_file.RecordWriter(log._board._file)
    else:
        log._file.close()
        log._file = Path("/dev/full").open("a")  # noqa: SIM115
    log.scalars(2, {"a": 0.25})
    with pytest.raises(WriteError) as refused:
        log.flush()
    assert str(refused.value).startswith(
        f"cannot write the record of the run in {tmp_path}: No space left on device ("
    )
    assert str(refused.value).endswith(" MB free on that disk)")
    assert refused.value.way_out == "make room there"
    log.close()
    assert read_metrics(tmp_path) == [{"step": 1, "a": 0.5}] + (
        [{"step": 2, "a": 0.25}] if which == "events" else []
    )


@pytest.mark.parametrize("what", ["folder", "metrics.jsonl", "events"])
def test_a_record_that_was_removed_is_missed(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "runs"
    log = MetricsLog(folder)
    if what == "folder":
        shutil.rmtree(folder)
    else:
        (log._board.path if what == "events" else folder / what).unlink()
    log.scalars(1, {"a": 0.5})
    with pytest.raises(WriteError, match=f"in {folder}: .* was removed meanwhile"):
        log.flush()
    log.close()


def test_a_folder_that_cannot_be_written_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(WriteError, match=f"cannot write the record of the run in {tmp_path}/runs"):
        MetricsLog(tmp_path / "runs")


def test_no_thread_is_needed(tmp_path: Path) -> None:
    before = threading.active_count()
    log = MetricsLog(tmp_path)
    assert threading.active_count() == before
    log.close()


def test_tensorboard_reads_the_events_and_drops_what_is_purged(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first, last, purge in ((1, 4, None), (3, 5, 3)):
        file = EventFile(tmp_path, purge)
        for step in range(first, last + 1):
            file.add(metrics.scalar("a", step * 0.5 + first), step)
        file.close()
    board = EventAccumulator(str(tmp_path))
    board.Reload()
    found = [(event.step, event.value) for event in board.Scalars("a")]
    assert found == [(1, 1.5), (2, 2.0), (3, 4.5), (4, 5.0), (5, 5.5)]


def read_board(folder: Path) -> EventAccumulator:
    board = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    board.Reload()
    return board


def test_a_run_leaves_a_layout_of_charts_whose_curves_it_has(here: Path) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    settings = {"data__valid_size": 10, "training__optimizer": "muon", "training__max_steps": 3}
    run = Run(config_from_dict(toy_config(**settings, training__validate_every="1 steps"), "test"))
    for _ in run.trainer.fit():
        pass
    run.close()
    board = read_board(Path("runs/toy"))
    (tensor,) = board.Tensors("custom_scalars__config__")
    found = layout_pb2.Layout.FromString(tensor.tensor_proto.string_val[0])
    charts = {chart.title: chart.multiline.tag for part in found.category for chart in part.chart}
    curves = set(board.Tags()["scalars"])
    assert charts["loss, nats a token"] == ["train/loss", "valid/loss"]
    for tags in charts.values():
        assert set(tags) <= curves
    lengths = [board.Histograms(f"data/{side}_tokens")[0] for side in ("source", "target")]
    for side, histogram in enumerate(lengths):
        expected = Counter(run.data.train.lengths[:, side].tolist())
        value = histogram.histogram_value
        pairs = zip(value.bucket_limit, value.bucket, strict=True)
        assert {limit - 0.5: count for limit, count in pairs if count} == expected


def test_of_many_pairs_a_million_lengths_are_counted_evenly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(board_module, "MOST_PAIRS", 10)
    lengths = np.stack((np.arange(2, 42), np.full(40, 7)), axis=1)
    source, target = (summary.value[0].histo for summary in board_module.histograms(lengths))
    assert (source.num, source.min, source.max) == (10, 2, 38)
    assert (target.num, target.min, target.max) == (10, 7, 7)
