"""Signals and kills: a stopped run says how to go on, and goes on as if nothing had happened."""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mt.storage.checkpoint import check, list_checkpoints, read_part, read_state
from mt.storage.history import read_history
from mt.storage.model_folder import ModelFolder
from mt.training.metrics import read_metrics, repeatable
from tests.cli import processes
from tests.conftest import Result, write_config

Mt = Callable[..., Result]
CHECKPOINTS = Path("weights/toy/checkpoints")


def last_step() -> int:
    last = ModelFolder(CHECKPOINTS.parent).pointer("last")
    assert last is not None
    check(last)
    return int(read_state(last)["progress"]["step"])


def weights(folder: Path = Path()) -> dict[str, torch.Tensor]:
    newest = list_checkpoints(folder / CHECKPOINTS)[-1]
    return {**read_part(newest, "model"), **read_part(newest, "optimizer")}


def curves(folder: Path = Path()) -> list[dict[str, Any]]:
    return [repeatable(line) for line in read_metrics(folder / "runs" / "toy")]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_says_how_to_go_on(
    corpus: Path, mt: Mt, number: int, status: int
) -> None:
    """Stopped in the middle of an epoch; what is printed is a command that works."""
    write_config(corpus / "my toy.yaml", training__epochs=500)
    overrides = ["--set", "training.keep={last: 3, best: 0}"]
    process = processes.start("train", "--config", "my toy.yaml", *overrides, folder=corpus)
    processes.until(lambda: len(list_checkpoints(CHECKPOINTS)) > 1, process)
    assert process.pid
    os.kill(process.pid, number)
    assert processes.ended(process) == status
    said = Path("err.txt").read_text()
    assert "Traceback" not in said
    assert Path("out.txt").read_text() == ""
    found = re.search(
        rf"^stopped by {number.name} after step ([\d,]+), saved in "
        r"weights/toy/checkpoints/step-\d+; go on with: (.*)$", said, re.M,
    )  # fmt: skip
    assert found, said
    step = int(found[1].replace(",", ""))
    assert step == last_step()
    (start,) = read_history(Path("runs/toy"))
    assert (start.how, start.why) == ("stopped", number.name)
    for checkpoint in list_checkpoints(CHECKPOINTS):
        check(checkpoint)
    command = shlex.split(found[2])
    assert command == ["mt", "train", "--config", "my toy.yaml", *overrides]
    result = mt(*command[1:], "--set", f"training.max_steps={step + 2}")
    assert result.status == 0
    assert f"resuming weights/toy after step {step:,}" in result.err
    assert last_step() == step + 2
    last = read_history(Path("runs/toy"))[-1]
    assert (last.step, last.total, last.how) == (step, step + 2, "ended")
    assert last.why == f"training.max_steps is {step + 2}"


def _stop_twice(first: int, second: int) -> None:
    from mt.cli.train import _stopping

    trainer: Any = SimpleNamespace(stop_requested=False)
    with _stopping(trainer) as received:
        signal.raise_signal(first)
        if not (trainer.stop_requested and received == [first]):
            os._exit(3)
        signal.raise_signal(second)
    os._exit(4)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once(first: int, second: int) -> None:
    assert processes.call(_stop_twice, first, second) == -second


def test_signals_are_handled_as_before_once_training_is_over() -> None:
    from mt.cli.train import _stopping

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    with _stopping(SimpleNamespace(stop_requested=False)):  # type: ignore[arg-type]
        assert all(signal.getsignal(n) != handler for n, handler in before.items())
    assert {n: signal.getsignal(n) for n in before} == before


def test_an_interruption_before_training_makes_nothing(
    corpus: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch, names: Callable[[], set[str]]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    write_config(corpus / "toy.yaml")
    before = names()
    monkeypatch.setattr("mt.training.run.load_training_data", interrupted)
    result = mt("train", "--config", "toy.yaml")
    assert result == (130, "", "mt: interrupted\n")
    assert names() == before


LONG = {
    "training__epochs": 4,
    "training__save_every": "1 step",
    "training__validate_every": "5 steps",
    "training__log_every": 3,
    "training__schedule": "cosine",
    "training__warmup_steps": 4,
    "model__dropout": 0.2,
    "data__valid_size": 6,
}


def test_killed_at_any_instant_it_ends_with_the_weights_of_a_straight_run(
    corpus: Path, mt: Mt, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five kills, most of them while checkpoints are written, each followed by the same command."""
    straight = tmp_path_factory.mktemp("straight")
    for folder in (straight, corpus):
        write_config(folder / "toy.yaml", **LONG)
    (straight / "pairs.jsonl").write_bytes(Path("pairs.jsonl").read_bytes())
    with monkeypatch.context() as patch:
        patch.chdir(straight)
        assert mt("train", "--config", "toy.yaml").status == 0
    chance = random.Random(1)
    killed = 0
    for round_ in range(5):
        before = set(list_checkpoints(CHECKPOINTS))
        process = processes.start("train", "--config", "toy.yaml", folder=corpus)
        if round_:  # the first one is killed before it has saved anything, or soon after
            processes.until(lambda: set(list_checkpoints(CHECKPOINTS)) - before, process)  # noqa: B023
        time.sleep(chance.random() * 0.03)
        process.kill()
        killed += processes.ended(process) == -signal.SIGKILL
    assert killed == 5
    result = mt("train", "--config", "toy.yaml")
    assert result.status == 0
    assert "resuming weights/toy after step" in result.err
    expected, found = weights(straight), weights()
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert curves() == curves(straight)
    assert not [p for p in CHECKPOINTS.iterdir() if p.name.startswith(".")]


def test_no_two_processes_train_one_model(corpus: Path, mt: Mt) -> None:
    write_config(corpus / "toy.yaml", training__epochs=500)
    process = processes.start("train", "--config", "toy.yaml", folder=corpus)
    processes.until(lambda: list_checkpoints(CHECKPOINTS), process)
    result = mt("train", "--config", "toy.yaml")
    assert result.status == 2
    assert f"weights/toy is being trained by another process (process {process.pid})" in result.err
    assert process.is_alive()
    process.kill()
    processes.ended(process)


def _with_little_memory() -> None:
    import resource

    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + 2**28, here + 2**28))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
def test_out_of_memory_says_what_to_lower(corpus: Path) -> None:
    write_config(
        corpus / "toy.yaml", model__d_model=2048, model__d_ff=8192, training__batch_size=32
    )
    process = processes.start(
        "train", "--config", "toy.yaml", folder=corpus, before=_with_little_memory
    )
    assert processes.ended(process) == 1
    said = Path("err.txt").read_text()
    assert "Traceback" not in said
    assert "mt: out of memory: lower training.batch_size" in said
    assert "data.max_length" in said
    assert "d_model" in said


def _start_method_spawn() -> None:
    import multiprocessing

    multiprocessing.set_start_method("spawn", force=True)


def test_it_trains_where_processes_are_spawned(corpus: Path) -> None:
    """As on macOS and Windows, where nothing is inherited."""
    write_config(corpus / "toy.yaml", training__max_steps=2)
    process = processes.start(
        "train", "--config", "toy.yaml", folder=corpus, before=_start_method_spawn
    )
    assert processes.ended(process) == 0
    assert last_step() == 2
