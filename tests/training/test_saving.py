"""Saving: what is written is what was there at the save, one at a time, and no error is lost."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from mt.config import KeepConfig
from mt.config_file import config_from_dict
from mt.storage.checkpoint import (
    checkpoint_name,
    list_checkpoints,
    read_part,
    read_state,
    step_of,
    write_as,
)
from mt.storage.failure import WriteError
from mt.storage.model_folder import ModelFolder
from mt.training import saving
from mt.training.run import Run
from mt.training.saving import Saver
from tests.conftest import toy_config, toy_pairs, write_jsonl

Make = Callable[..., Saver]
PATIENCE = 20.0  # seconds


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    savers = []

    def saver(metric: str = "loss", **keep: int) -> Saver:
        folder = ModelFolder(tmp_path / "weights/toy")
        folder.checkpoints.mkdir(parents=True, exist_ok=True)
        savers.append(Saver(folder, KeepConfig(**keep), metric))
        return savers[-1]

    yield saver
    for made in savers:
        made.close()


def save(saver: Saver, step: int, score: float | None = None, best: bool = False) -> None:
    """A checkpoint whose weights tell its step, made at a validation if there is a score."""
    progress = {
        "step": step,
        "validated_step": None if score is None else step,
        "scores": {} if score is None else {saver.metric: score},
    }
    saver.save(step, {"model": {"w": torch.tensor([step])}}, {"progress": progress}, best)


def steps(saver: Saver) -> list[int]:
    saver.wait()
    return [step_of(path) for path in list_checkpoints(saver.folder.checkpoints)]


class Gate:
    """Holds the writing of checkpoints until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_go = threading.Event(), threading.Event()
        self.writes = 0
        write = saving.write_checkpoint

        def held(*arguments: object) -> Path:
            self.writes += 1
            self.begun.set()
            assert self.may_go.wait(PATIENCE)
            return write(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(saving, "write_checkpoint", held)

    def open_after(self, seconds: float) -> None:
        """Opens so long after the first write begins."""

        def wait() -> None:
            self.begun.wait(PATIENCE)
            time.sleep(seconds)
            self.may_go.set()

        threading.Thread(target=wait).start()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


def test_what_is_written_is_what_was_there_at_the_save(make: Make, gate: Gate) -> None:
    saver = make()
    weight = torch.arange(6.0).reshape(2, 3).T  # not contiguous
    average = torch.full((2,), 0.5, dtype=torch.bfloat16)
    state = {"progress": {"step": 1, "validated_step": None, "scores": {"loss": 2.0}}}
    parts = {"model": {"w": weight}, "average": {"w": average}}
    for step in (1, 2):  # the second time into the same copies
        gate.begun.clear()
        gate.may_go.clear()
        expected = weight.clone()
        saver.save(step, parts, state, best=False)
        assert gate.begun.wait(PATIENCE)
        weight += 1  # as training does meanwhile
        average += 1
        state["progress"]["scores"]["loss"] += 1  # type: ignore[index]
        gate.may_go.set()
        saver.wait()
        written = saver.folder.checkpoints / checkpoint_name(step)
        assert torch.equal(read_part(written, "model")["w"], expected)
        assert read_part(written, "average")["w"].tolist() == [step - 0.5] * 2
        assert read_state(written)["progress"]["scores"] == {"loss": 1.0 + step}


def test_training_goes_on_and_the_next_save_waits(make: Make, gate: Gate) -> None:
    saver = make()
    save(saver, 1)
    assert gate.begun.wait(PATIENCE)
    saver.check()  # nothing to tell, and no waiting
    assert list_checkpoints(saver.folder.checkpoints) == []
    assert saver.folder.pointer("last") is None
    second = threading.Thread(target=save, args=(saver, 2))
    second.start()
    second.join(0.1)
    assert second.is_alive()
    assert gate.writes == 1
    gate.may_go.set()
    second.join(PATIENCE)
    assert steps(saver) == [1, 2]


def test_closing_waits(make: Make, gate: Gate) -> None:
    saver = make()
    save(saver, 1)
    gate.open_after(0.05)
    saver.close()
    assert steps(saver) == [1]


@pytest.mark.parametrize("how", ["save", "check", "wait", "close"])
def test_an_error_is_raised_once_by_whatever_comes_next(make: Make, how: str) -> None:
    saver = make()
    save(saver, 1)
    saver.wait()
    shutil.rmtree(saver.folder.path)
    save(saver, 2)
    saver._thread.submit(lambda: None).result()  # it comes after the write
    calls = {"save": lambda: save(saver, 3), **{n: getattr(saver, n) for n in ("check", "wait")}}
    with pytest.raises(WriteError) as failed:
        calls.get(how, saver.close)()
    place = saver.folder.checkpoints.absolute()
    assert str(failed.value) == (
        f"cannot write the checkpoint after step 2 in {place}: "
        "the folder, or something in it, was removed meanwhile"
    )
    assert not saver.folder.path.exists()
    saver.check()
    saver.wait()


def test_any_other_error_is_raised_too(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Path:
        raise ZeroDivisionError

    monkeypatch.setattr(saving, "write_checkpoint", broken)
    saver = make()
    save(saver, 1)
    with pytest.raises(ZeroDivisionError):
        saver.wait()


@pytest.mark.parametrize(("metric", "sign"), [("loss", 1), ("bleu", -1)])
def test_the_newest_and_the_best_stay(make: Make, metric: str, sign: int) -> None:
    saver = make(metric, last=2, best=2)
    for step, score in enumerate((5, 1, 4, 2, 6, 7), start=1):
        save(saver, step, score * sign, best=step == 2)
    save(saver, 7)  # not made at a validation
    assert steps(saver) == [2, 4, 6, 7]
    assert saver.folder.pointer("best") == saver.folder.checkpoints / checkpoint_name(2)
    assert saver.folder.pointer("last") == saver.folder.checkpoints / checkpoint_name(7)


def test_the_one_that_best_names_stays_though_another_is_better_by_a_hair(make: Make) -> None:
    """With min_delta a small gain is none, and what `best` names is not the lowest loss."""
    saver = make(last=1, best=1)
    for step, loss in enumerate((3.0, 2.99, 2.98, 2.97), start=1):
        save(saver, step, loss, best=step == 1)
    assert steps(saver) == [1, 4]
    assert saver.folder.pointer("best") is not None


def test_those_that_best_and_last_name_stay_whatever_is_asked_for(make: Make) -> None:
    saver = make(last=5)
    for step in (1, 2, 3):
        save(saver, step)
    saver.wait()
    saver.folder.point("best", saver.folder.checkpoints / checkpoint_name(1))
    saver.folder.point("last", saver.folder.checkpoints / checkpoint_name(2))
    saver.keep = KeepConfig(last=1, best=1)
    saver._prune()
    assert steps(saver) == [1, 2, 3]


def test_an_average_is_neither_counted_nor_removed_and_the_best_before_it_stays(
    make: Make,
) -> None:
    """The run goes on after its end, where `best` names the average."""
    saver = make(last=1, best=1)
    for step, loss in enumerate((3.0, 2.99, 2.98), start=1):
        save(saver, step, loss, best=step == 1)
    saver.wait()
    write_as(saver.folder.average, {"model": {}}, {"progress": {"step": 3, "best_step": 1}})
    saver.folder.point("best", saver.folder.average)
    save(saver, 4, 2.97)
    assert steps(saver) == [1, 4]
    assert saver.folder.pointer("best") == saver.folder.average


def test_with_no_best_ones_kept_none_is_named(make: Make) -> None:
    earlier = make(last=1, best=1)
    save(earlier, 1, 1.0, best=True)
    earlier.wait()
    saver = make(last=1, best=0)
    save(saver, 2, 0.5, best=True)
    assert steps(saver) == [2]
    assert not (saver.folder.path / "best").exists()


def test_a_checkpoint_that_cannot_be_removed_is_a_warning(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    said: list[str] = []
    monkeypatch.setattr(saving, "remove_checkpoint", refuse)
    monkeypatch.setattr(saving.log, "warning", lambda text, *rest: said.append(text % rest))
    saver = make(last=1)
    for step in (1, 2):
        save(saver, step)
    assert steps(saver) == [1, 2]
    assert said == ["checkpoint step-00000001 cannot be removed: Permission denied"]


def test_a_run_ends_with_all_written_and_its_waiting_counts_as_saving(
    here: Path, gate: Gate
) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    run = Run(config_from_dict(toy_config(training__max_steps=2, training__epochs=None), "test"))
    gate.open_after(0.3)
    for _ in run.trainer.fit():
        pass
    assert run.newest_step() == 2
    assert run.trainer._clock._spent["saving"] > 0.1
    run.close()


def test_training_stops_at_the_step_after_a_failed_write(here: Path) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    config = toy_config(training__save_every="3 steps", training__validate_every="100 epochs")
    run = Run(config_from_dict(config, "test"))
    steps = run.trainer.fit()
    next(steps), next(steps)
    shutil.rmtree("weights/toy")
    next(steps)
    run.saver._thread.submit(lambda: None).result()  # it comes after the write
    with pytest.raises(WriteError, match="cannot write the checkpoint after step 3 in"):
        next(steps)
    assert run.trainer.progress.step == 4
    assert run.newest_step() is None
    run.close()
