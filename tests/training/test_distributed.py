"""Several processes started by torchrun: the same training as one, and the loss of one of them."""

from __future__ import annotations

import os
import signal
import socket
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
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
TWO = [*TORCHRUN, "--standalone", "--nproc-per-node", "2"]
TRAIN = ["-m", "mt", "train", "--config", "toy.yaml"]


def start(
    folder: Path, *launcher: str, command: list[str] = TRAIN, **settings: str
) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **settings}
    return subprocess.Popen(
        [*launcher, *command], cwd=folder, text=True, env=environment, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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


def wait_for_checkpoints(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while len(list_checkpoints(folder / "weights/toy/checkpoints")) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def told(err: str) -> list[str]:
    """The failures that our processes speak of; torchrun adds words of its own."""
    return [line for line in err.splitlines() if line.startswith("mt: ")]


def check_same_weights(folder: Path, other: Path) -> None:
    expected = read_part(newest(other), "model")
    for name, tensor in read_part(newest(folder), "model").items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-6, rtol=0, msg=name)


def check_same_curves(folder: Path, other: Path) -> None:
    curves = [read_metrics(path / "runs" / "toy") for path in (folder, other)]
    assert len(curves[0]) == len(curves[1])
    for a, b in zip(*curves, strict=True):
        assert a.keys() == b.keys()
        assert (a["step"], a.get("valid/samples")) == (b["step"], b.get("valid/samples"))
        for tag in ("train/loss", "train/padding", "train/grad_norm", "valid/loss", "valid/bleu"):
            assert a.get(tag) == (pytest.approx(b[tag], abs=1e-5) if tag in b else None)


def test_two_processes_train_as_one_with_accumulation(tmp_path: Path) -> None:
    """53 pairs in batches of 8 are 7: the last step of an epoch leaves one process without."""
    two = prepare(tmp_path / "two")
    one = prepare(tmp_path / "one", training__accumulate=2)
    processes = [start(two, *TWO), start(one, sys.executable)]
    for process in processes:
        status, err = finish(process)
        assert status == 0, err
    assert read_state(newest(two))["progress"]["step"] == 8
    check_same_weights(two, one)
    check_same_curves(two, one)


def start_machines(folders: list[Path], **changes: Any) -> list[tuple[int, str]]:
    """A launcher in each folder, as on machines of their own; status and stderr of each."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        meeting = f"127.0.0.1:{free.getsockname()[1]}"
    launcher = [*TORCHRUN, "--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d"]
    launcher += ["--rdzv-endpoint", meeting]
    for folder in folders:
        write_config(folder / "toy.yaml", **{**SETTINGS, **changes})
    processes = [start(f, *launcher, HF_HOME=str(f / "cache")) for f in folders]
    return [finish(process) for process in processes]


def test_two_machines_that_share_no_folder_train_and_resume_as_one_process(tmp_path: Path) -> None:
    """Which of them is the first is torchrun's choice at each start: checkpoints decide."""
    machines = [prepare(tmp_path / "a"), prepare(tmp_path / "b")]
    one = prepare(tmp_path / "one", training__accumulate=2)
    assert finish(start(one, sys.executable))[0] == 0
    for epochs in (1, 2):
        endings = start_machines(
            machines[::-1] if epochs == 2 else machines, training__epochs=epochs
        )
        assert [status for status, _ in endings] == [0, 0], endings
    assert sum("resuming weights/toy after step 4" in err for _, err in endings) == 1
    (writer,) = [folder for folder in machines if (folder / "weights").exists()]
    assert [folder for folder in machines if (folder / "runs").exists()] == [writer]
    check_same_weights(writer, one)


def test_a_corpus_that_one_machine_lacks_is_told_on_both(tmp_path: Path) -> None:
    machines = [prepare(tmp_path / "a"), prepare(tmp_path / "b")]
    (machines[1] / "pairs.jsonl").unlink()
    for status, err in start_machines(machines):
        assert status == 1
        (line,) = told(err)
        assert "pairs.jsonl" in line
    assert not any((folder / "weights").exists() for folder in machines)


def test_a_killed_process_is_started_again_and_the_run_ends_as_if_it_had_lived(
    tmp_path: Path,
) -> None:
    length = {"training__epochs": 40, "training__save_every": "10 steps"}
    two = prepare(tmp_path / "two", **length)
    one = prepare(tmp_path / "one", training__accumulate=2, **length)
    straight = start(one, sys.executable)
    launcher = [*TWO, "--max-restarts", "1"]
    process = start(two, *launcher, command=[*TRAIN, "--restart"])
    wait_for_checkpoints(two, process)
    os.kill(_rank(process, 1), signal.SIGKILL)
    status, err = finish(process)
    assert status == 0, err
    assert "resuming weights/toy after step" in err
    assert finish(straight)[0] == 0
    check_same_weights(two, one)
    check_same_curves(two, one)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_becomes_of_one_process_becomes_of_all(tmp_path: Path, number: int) -> None:
    folder = prepare(tmp_path, training__epochs=4000, training__save_every="5 steps")
    process = start(folder, *TWO)
    wait_for_checkpoints(folder, process)
    os.kill(_rank(process, 1), number)
    status, err = finish(process)
    assert status == 1
    if number == signal.SIGKILL:
        (line,) = told(err)
        assert line.startswith("mt: another process of this job was lost")
        assert "SIGKILL" in err or "-9" in err
    else:
        step = read_state(newest(folder))["progress"]["step"]
        assert not told(err)
        assert f"stopped and saved after step {step:,}; go on with: mt train" in err


def test_torchrun_is_told_to_stop_and_the_run_is_saved(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__epochs=4000, training__save_every="5 steps")
    process = start(folder, *TWO)
    wait_for_checkpoints(folder, process)
    process.terminate()
    status, err = finish(process)
    step = read_state(newest(folder))["progress"]["step"]
    assert status != 0
    assert not told(err)
    assert f"stopped and saved after step {step:,}; go on with: mt train" in err


FAILS = """
import os, sys
from mt.cli.main import main
from mt.errors import RunError
from mt.training.trainer import Trainer

def fail(trainer, result):
    if os.environ["RANK"] == "1":
        raise RunError("the disk is full")

Trainer._after_update = fail
sys.exit(main(["train", "--config", "toy.yaml"]))
"""


def test_a_failure_of_one_process_is_told_once_and_ends_all(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    (folder / "fails.py").write_text(FAILS)
    status, err = finish(start(folder, *TWO, command=["fails.py"]))
    assert status == 1
    assert told(err) == ["mt: the disk is full"]


def test_more_processes_than_batches_is_refused(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__batch_size=60)
    status, err = finish(start(folder, *TWO))
    assert status != 0
    (line,) = told(err)
    assert line.startswith("mt: 2 processes for 1 batches an epoch: start fewer of them")
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
