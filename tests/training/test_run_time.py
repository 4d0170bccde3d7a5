"""Runs that end when their time is over, on a clock that the test moves on by hand."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pytest
import torch

from mt.config import TrainingConfig
from mt.config_file import config_from_dict
from mt.distributed import World
from mt.errors import UserError
from mt.storage.checkpoint import list_checkpoints, read_state
from mt.storage.model_folder import ModelFolder
from mt.training import clock as module
from mt.training.run import Run
from mt.training.run_time import LEAVING, SPARE, RunTime
from mt.training.schedule import learning_rate
from tests.conftest import Result, toy_config, toy_pairs, write_config, write_jsonl

SECONDS = 600.0
SETTINGS = {
    "training__minutes": SECONDS / 60,
    "training__epochs": None,
    "training__lr": 1e-2,
    "training__warmup_steps": 5,
    "training__schedule": "linear",
    "training__validate_every": "1000 epochs",
    "training__save_every": "1000 epochs",
    "data__valid_size": 7,
    "model__dropout": 0.0,
}


class Hand(threading.local):
    """A clock that stands still until it is told to go on; each thread has its own."""

    now = 5000.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    hand = Hand()
    monkeypatch.setattr(module, "time", hand)
    return hand


@pytest.fixture
def corpus(here: Path) -> Path:
    return write_jsonl(here / "pairs.jsonl", toy_pairs(60))


@dataclass
class Trained:
    """What a run did, by the clock of the test."""

    run: Run
    seconds: float
    rates: list[float] = field(default_factory=list)  # of each step
    validated: list[int] = field(default_factory=list)  # after which steps
    saved: list[int] = field(default_factory=list)


def train(
    hand: Hand,
    step: Callable[[float], float] = lambda seconds: 10.0,
    *,
    validating: float = 20.0,
    saving: float = 5.0,
    preparing: float = 30.0,
    stop_after: int | None = None,
    world: World | None = None,
    **changes: object,
) -> Trained:
    """Trains a toy model; `step` is how long a step takes so many seconds after the start."""
    began = hand.now
    config = config_from_dict(toy_config(**{**SETTINGS, **changes}), "test")
    run = Run(config, world=world) if world is not None else Run(config)
    trainer, write = run.trainer, run.trainer.save
    found = Trained(run, 0.0)
    trainer.time.began, trainer.saver = began, None if stop_after is None else trainer.saver
    hand.now += preparing

    def decode() -> tuple[dict[str, float], list[dict[str, str]]]:
        hand.now += validating
        found.validated.append(trainer.progress.step)
        return {"bleu": 1.0, "chrf": 1.0}, []

    def save(progress: object, best: bool) -> None:
        hand.now += saving
        found.saved.append(trainer.progress.step)
        if trainer.saver is not None:
            write(progress, best)

    trainer.save = save
    trainer.decode = decode if trainer.decode else None
    for _ in trainer.fit():
        found.rates.append(trainer._lr)
        hand.now += step(hand.now - began)
        trainer.stop_requested = trainer.progress.step == stop_after
    found.seconds = hand.now - began
    run.close()
    return found


def test_the_end_comes_in_time_and_all_that_belongs_to_it(corpus: Path, hand: Hand) -> None:
    found = train(hand)
    last = found.run.trainer.progress.step
    assert 0.95 * SECONDS <= found.seconds <= SECONDS
    assert found.run.trainer.done
    # Once in the middle, so as to know how long it takes, and once at the end.
    assert len(found.validated) == 2
    assert found.validated[-1] == found.saved[-1] == last
    assert last // 2 - 4 <= found.validated[0] <= last // 2 + 4


def test_at_an_even_pace_the_learning_rate_is_that_of_as_many_steps(
    corpus: Path, hand: Hand
) -> None:
    """Validating and saving are cheap here, so that nothing bends the line."""
    for schedule in ("linear", "cosine"):
        found = train(hand, validating=0.0, saving=0.0, training__schedule=schedule, name=schedule)
        total, settings = len(found.rates), found.run.config.training
        expected = [learning_rate(step + 1, settings, total) for step in range(total)]
        assert found.rates == pytest.approx(expected, abs=0.025 * settings.lr)


@pytest.mark.parametrize(
    "step",
    [
        lambda s: 4.0 if s < 300 else 16.0,
        lambda s: 16.0 if s < 300 else 4.0,
        lambda s: 3.0 + s % 13,
    ],
    ids=["slower", "faster", "uneven"],
)
@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_the_learning_rate_is_at_zero_in_time_whatever_the_pace_becomes(
    corpus: Path, hand: Hand, schedule: str, step: Callable[[float], float]
) -> None:
    found = train(hand, step, training__schedule=schedule)
    highest = found.run.config.training.lr
    assert 0.95 * SECONDS <= found.seconds <= 1.02 * SECONDS
    assert found.rates[-1] < 0.04 * highest
    falling = found.rates[5:]
    assert falling == sorted(falling, reverse=True)
    assert max(found.rates) > 0.9 * highest


def test_a_resumed_run_has_the_rest_of_its_time(
    corpus: Path, hand: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    first = train(hand, stop_after=20)
    checkpoint = list_checkpoints(ModelFolder(Path("weights/toy")).checkpoints)[-1]
    seconds = read_state(checkpoint)["progress"]["seconds"]
    assert seconds == pytest.approx(first.seconds, abs=15)  # what came after it is not known
    hand.now += 100_000
    second = train(hand, preparing=50)
    assert second.run.resumed_from == 20
    assert 0.95 * SECONDS <= first.seconds + second.seconds <= 1.02 * SECONDS
    assert first.rates[-1] > second.rates[0] > second.rates[-1]
    assert second.rates[-1] < 0.04 * second.run.config.training.lr


def test_more_minutes_go_on_and_the_same_do_not(corpus: Path, hand: Hand) -> None:
    ended = train(hand, stop_after=1000)
    again = train(hand)
    assert again.run.trainer.done
    assert not again.rates
    more = train(hand, stop_after=1000, training__minutes=12.0)
    assert more.run.resumed_from == len(ended.rates)
    assert more.rates
    steps = len(ended.rates) + len(more.rates) + 1
    assert len(train(hand, training__minutes=None, training__max_steps=steps).rates) == 1


def test_steps_or_epochs_may_be_over_before_the_time(corpus: Path, hand: Hand) -> None:
    found = train(hand, training__max_steps=20)
    assert len(found.rates) == 20
    assert found.rates[-1] < 0.1 * max(found.rates)
    assert not found.run.trainer.time_is_up


def test_what_is_due_close_to_the_end_waits_for_it(corpus: Path, hand: Hand) -> None:
    """Every third step is validated; none so late that the end would be late."""
    found = train(hand, training__validate_every="3 steps", training__save_every="2 steps")
    assert found.seconds <= SECONDS
    assert found.validated[:3] == [3, 6, 9]
    last = found.run.trainer.progress.step
    assert found.validated[-1] == found.saved[-1] == last
    assert found.validated[-2] < last - 1
    assert found.rates[-1] < 0.1 * found.run.config.training.lr


def test_a_validation_longer_than_the_rest_of_the_time_is_the_last(
    corpus: Path, hand: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "mt")
    found = train(hand, validating=500.0, stop_after=1000)
    assert len(found.validated) == 1
    assert found.validated[0] == found.run.trainer.progress.step
    assert "validating and saving after step" in caplog.text
    assert not train(hand).rates  # nothing is left to do


def test_no_time_for_a_first_step_is_said(corpus: Path, hand: Hand) -> None:
    with pytest.raises(UserError, match=r"training.minutes \(10\) are over before .*took 605 sec"):
        train(hand, preparing=605.0)


def test_without_validation_pairs_saving_is_measured(corpus: Path, hand: Hand) -> None:
    found = train(hand, data__valid_size=0, saving=30.0)
    assert not found.validated
    assert len(found.saved) == 2
    assert 0.95 * SECONDS <= found.seconds <= SECONDS


def test_before_it_was_measured_a_validation_takes_its_share_of_an_epoch(
    corpus: Path, hand: Hand
) -> None:
    """40 of 60 pairs of about one length to validate on, forward alone: a third of two epochs."""
    trainer = train(hand, data__valid_size=40, training__max_steps=6).run.trainer
    assert trainer.time.pace == pytest.approx(10)
    epoch = 10 * trainer.steps_per_epoch
    assert trainer.seconds_of_reading_valid() == pytest.approx(2 * epoch / 3, rel=0.05)


def test_the_end_has_time_for_an_average() -> None:
    took = {"validating": 20.0, "saving": 4.0}
    settings = TrainingConfig.model_validate({"minutes": 5})
    average = {"average": {"last": 3}, "keep": {"last": 3, "best": 1}}
    averaged = settings.model_validate({"minutes": 5, **average})
    assert RunTime(settings).end(took) == pytest.approx(SPARE * 24 + LEAVING)
    assert RunTime(averaged).end(took) == pytest.approx(SPARE * (24 + 20 + 4 + 8) + LEAVING)
    assert RunTime(settings).end({}) == LEAVING


class Threads(World):
    """Processes that are threads: what `sum` and `gather` need, and no more."""

    barrier = threading.Barrier(2)
    given: dict[int, object] = {}  # noqa: RUF012

    def _meet(self, value: object) -> list[object]:
        self.given[self.rank] = value
        self.barrier.wait(60)
        both = [self.given[0], self.given[1]]
        self.barrier.wait(60)
        return both

    def sum(self, values: list[float]) -> list[float]:
        a, b = self._meet(list(values))
        return [x + y for x, y in zip(a, b, strict=True)]  # type: ignore[call-overload]

    def gather(self, items):  # type: ignore[no-untyped-def]
        a, b = self._meet(list(items))
        return [x for pair in zip_longest(a, b) for x in pair if x is not None]  # type: ignore

    def from_first(self, value):  # type: ignore[no-untyped-def]
        return self._meet(value)[0]

    def tensors_from_first(self, tensors):  # type: ignore[no-untyped-def]
        return {name: t.clone() for name, t in self._meet(dict(tensors))[0].items()}  # type: ignore

    def sum_gradients(self, parameters) -> None:  # type: ignore[no-untyped-def]
        own = list(parameters)
        for parameter in own:  # at the end of an epoch one may have no batch
            parameter.grad = (
                torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            )
        both = self._meet([parameter.grad.clone() for parameter in own])
        for parameter, a, b in zip(own, *both, strict=True):  # type: ignore[call-overload]
            parameter.grad.copy_(a + b)


def test_all_processes_go_by_the_clock_of_the_first(corpus: Path, hand: Hand) -> None:
    """The second one's clock runs ten times as fast, and it has no say."""
    found: dict[int, Trained] = {}

    def one(rank: int) -> None:
        world = Threads(rank=rank, size=2, local_rank=rank)
        pace = (lambda seconds: 10.0) if rank == 0 else (lambda seconds: 100.0)
        found[rank] = train(hand, pace, world=world)

    threads = [threading.Thread(target=one, args=(rank,)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    first, second = found[0], found[1]
    assert 0.95 * SECONDS <= first.seconds <= SECONDS
    assert first.rates == second.rates
    assert first.validated == second.validated
    assert second.run.trainer.done


def test_a_real_run(corpus: Path, mt: Callable[..., Result]) -> None:
    began = time.monotonic()
    config = write_config(corpus.parent / "toy.yaml", **SETTINGS, training__bleu_samples=5)
    minutes = "training.minutes=0.07"
    result = mt("train", "--config", config, "--set", minutes)
    seconds = time.monotonic() - began
    assert result.status == 0, result.err
    assert "time         0.07 min for all, " in result.err
    assert "ended after step" in result.err
    assert ": training.minutes is 0.07" in result.err
    assert 0.8 * 4.2 < seconds < 2 * 4.2  # others may want the machine, too
    again = mt("train", "--config", config, "--set", minutes)
    assert again.status == 0
    assert "training.minutes is 0.07; raise it to go on" in again.err


def test_too_little_time_is_one_line(corpus: Path, mt: Callable[..., Result]) -> None:
    config = write_config(corpus.parent / "toy.yaml", **SETTINGS)
    result = mt("train", "--config", config, "--set", "training.minutes=1e-4")
    assert result.status == 2
    last = result.err.splitlines()[-1]
    assert last.startswith("mt: training.minutes (0.0001) are over before the first step: ")
    assert "training.minutes" in mt("train", "--config", config, "--set", "training.minutes=0").err
