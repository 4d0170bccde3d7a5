"""Several processes started by torchrun: the same training as one, and the loss of one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.distributed import World
from mt.storage.checkpoint import list_checkpoints, read_part, read_state
from mt.training.metrics import read_metrics
from tests.conftest import toy_pairs, write_config, write_jsonl

SETTINGS: dict[str, Any] = {
    "model__dropout": 0.2,
    "training__epochs": 2,
    "training__batch_size": 8,
    "training__validate_every": "3 steps",
    "data__valid_size": 7,
}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        [*arguments, "-m", "mt", "train", "--config", "toy.yaml"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    try:
        _, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, err


def prepare(folder: Path, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / "pairs.jsonl", toy_pairs(60))
    write_config(folder / "toy.yaml", **{**SETTINGS, **changes})
    return folder


def newest(folder: Path) -> Path:
    return list_checkpoints(folder / "weights/toy/checkpoints")[-1]


def test_two_processes_train_as_one_with_accumulation(tmp_path: Path) -> None:
    """53 pairs in batches of 8 are 7: the last step of an epoch leaves one process without."""
    two = prepare(tmp_path / "two")
    one = prepare(tmp_path / "one", training__accumulate=2)
    processes = [start(two, *TORCHRUN, "--standalone"), start(one, sys.executable)]
    for process in processes:
        status, err = finish(process)
        assert status == 0, err
    assert read_state(newest(two))["progress"]["step"] == 8
    expected = read_part(newest(one), "model")
    for name, tensor in read_part(newest(two), "model").items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-6, rtol=0, msg=name)
    curves = [read_metrics(folder / "runs" / "toy") for folder in (two, one)]
    assert len(curves[0]) == len(curves[1])
    for a, b in zip(*curves, strict=True):
        assert a.keys() == b.keys()
        assert a.get("valid/samples") == b.get("valid/samples")
        for tag in ("train/loss", "train/padding", "train/grad_norm", "valid/loss", "valid/bleu"):
            assert a.get(tag) == (pytest.approx(b[tag], abs=1e-5) if tag in b else None)


def test_a_lost_process_ends_the_job_and_the_next_start_resumes(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__epochs=400, training__save_every="5 steps")
    process = start(folder, *TORCHRUN, "--standalone")
    deadline = time.monotonic() + 90
    while len(list_checkpoints(folder / "weights/toy/checkpoints")) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(_rank(process, 1), signal.SIGKILL)
    status, err = finish(process)
    assert status != 0
    assert "SIGKILL" in err or "-9" in err
    reached = read_state(newest(folder))["progress"]["step"]

    write_config(
        folder / "toy.yaml",
        **{**SETTINGS, "training__max_steps": reached + 5, "training__epochs": 400,
           "training__save_every": "5 steps"},
    )  # fmt: skip
    status, err = finish(start(folder, *TORCHRUN, "--standalone"))
    assert status == 0, err
    assert f"resuming weights/toy after step {reached}" in err
    assert read_state(newest(folder))["progress"]["step"] == reached + 5


def test_more_processes_than_batches_is_refused(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__batch_size=60)
    status, err = finish(start(folder, *TORCHRUN, "--standalone"))
    assert status != 0
    assert "2 processes for 1 batches an epoch: start fewer of them" in err
    assert not list_checkpoints(folder / "weights/toy/checkpoints")


def test_alone_nothing_is_asked_of_others() -> None:
    world = World()
    assert world.share([1, 2, 3]) == [1, 2, 3]
    assert world.gather([1, 2, 3]) == [1, 2, 3]
    assert world.sum([1.5, 2.5]) == [1.5, 2.5]


def test_shares_hold_everything_once() -> None:
    for size in (2, 3, 5):
        shares = [World(rank, size).share(list(range(11))) for rank in range(size)]
        assert sorted(item for share in shares for item in share) == list(range(11))


def _rank(launcher: subprocess.Popen[str], rank: int) -> int:
    """The process that torchrun started as `rank`, by its environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            settings = path.read_bytes().split(b"\0")
            parent = path.with_name("stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if f"RANK={rank}".encode() in settings and int(parent) == launcher.pid:
            return int(path.parent.name)
    raise AssertionError(f"no process of rank {rank}")
