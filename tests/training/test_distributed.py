"""Several processes: the same training as one, and the loss of one of them.

torchrun starts them where it has a part in it; elsewhere they are started as it does, but with
everything imported.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed import HashStore

from mt.config_file import config_from_dict
from mt.distributed import LOST, LostError, World, _name_of_this_start
from mt.errors import RunError, UserError
from mt.storage.checkpoint import list_checkpoints, read_part, read_state, write_checkpoint
from mt.training.checks import check_same_everywhere, own_device
from mt.training.data import load_training_data
from mt.training.metrics import read_metrics
from tests.cli import processes
from tests.conftest import Result, toy_config, toy_pairs, write_config, write_jsonl

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
        _, err = process.communicate(timeout=240)
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


def job(*folders: Path, before: Callable[[], None] | None = None) -> processes.Job:
    return processes.Job(*folders, arguments=TRAIN[2:], before=before)


def two_checkpoints(folder: Path) -> bool:
    return len(list_checkpoints(folder / "weights/toy/checkpoints")) >= 2


def wait_for_checkpoints(folders: list[Path], launchers: list[subprocess.Popen[str]]) -> Path:
    """The folder where the second checkpoint has come."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        for folder in folders:
            if two_checkpoints(folder):
                return folder
        for process in launchers:
            assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("no checkpoints")


def told(err: str) -> list[str]:
    """The failures that our processes speak of; torchrun adds words of its own."""
    return [line for line in err.splitlines() if line.startswith("mt: ")]


def check_same_weights(folder: Path, other: Path, part: str = "model") -> None:
    expected = read_part(newest(other), part)
    for name, tensor in read_part(newest(folder), part).items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-6, rtol=0, msg=name)


def check_same_curves(folder: Path, other: Path) -> None:
    curves = [read_metrics(path / "runs" / "toy") for path in (folder, other)]
    assert len(curves[0]) == len(curves[1])
    for a, b in zip(*curves, strict=True):
        assert a.keys() == b.keys()
        assert (a["step"], a.get("valid/samples")) == (b["step"], b.get("valid/samples"))
        for tag in (
            "train/loss", "train/padding", "train/grad_norm", "valid/loss", "valid/bleu",
            "final/loss", "average/loss",
        ):  # fmt: skip
            assert a.get(tag) == (pytest.approx(b[tag], abs=1e-5) if tag in b else None)


def test_two_processes_train_as_one_with_accumulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mt: Callable[..., Result]
) -> None:
    """53 pairs in batches of 8 are 7: the last step of an epoch leaves one process without."""
    two = prepare(tmp_path / "two")
    one = prepare(tmp_path / "one", training__accumulate=2)
    started = job(two, two)
    monkeypatch.chdir(one)
    assert mt("train", "--config", "toy.yaml").status == 0
    for status, err in started.finish():
        assert status == 0, err
    assert read_state(newest(two))["progress"]["step"] == 8
    check_same_weights(two, one)
    check_same_curves(two, one)


def start_machines(
    folders: list[Path], *command: str, restarts: int = 0
) -> list[subprocess.Popen[str]]:
    """A launcher in each folder, as on machines of their own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        meeting = f"127.0.0.1:{free.getsockname()[1]}"
    launcher = [*TORCHRUN, "--nnodes", "2", "--nproc-per-node", "1"]
    launcher += [
        "--max-restarts",
        str(restarts),
        "--rdzv-backend",
        "c10d",
        "--rdzv-endpoint",
        meeting,
    ]
    settings = [(folder, {"HF_HOME": str(folder / "cache")}) for folder in folders]
    return [start(f, *launcher, command=[*TRAIN, *command], **s) for f, s in settings]


def test_two_machines_that_share_no_folder_lose_a_process_and_train_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mt: Callable[..., Result]
) -> None:
    """torchrun starts both again: they go on from the checkpoint that one of them has."""
    length: dict[str, Any] = {"training__epochs": 20, "training__save_every": "8 steps"}
    length |= {"training__bleu_samples": 0, "training__validate_every": "60 steps"}
    length |= {"training__ema": 0.9, "training__average": {"last": 2}}
    length |= {"training__keep": {"last": 2}}
    machines = [prepare(tmp_path / "a", **length), prepare(tmp_path / "b", **length)]
    launchers = start_machines(machines, "--restart", restarts=2)
    writer = wait_for_checkpoints(machines, launchers)
    other = machines[1 - machines.index(writer)]
    os.kill(child(launchers[machines.index(other)]), signal.SIGKILL)
    endings = [finish(process) for process in launchers]
    assert [status for status, _ in endings] == [0, 0], endings
    err = endings[machines.index(writer)][1]
    assert "resuming weights/toy after step" in err
    assert told(err) == [f"mt: {LOST}"]
    assert not any((other / name).exists() for name in ("weights", "runs"))

    monkeypatch.chdir(prepare(tmp_path / "one", training__accumulate=2, **length))
    assert mt("train", "--config", "toy.yaml").status == 0
    check_same_weights(writer, Path())
    check_same_weights(writer, Path(), "raw")
    check_same_curves(writer, Path())
    averages = [read_state(newest(f).with_name("average"))["of"] for f in (writer, Path())]
    assert len(averages[0]) == 2
    assert averages[0] == averages[1]


def test_a_corpus_that_one_machine_lacks_is_told_on_both(tmp_path: Path) -> None:
    machines = [prepare(tmp_path / "a"), prepare(tmp_path / "b")]
    (machines[1] / "pairs.jsonl").unlink()
    endings = job(*machines).finish()
    assert [status for status, _ in endings] == [1, 2]
    for _, err in endings:
        (line,) = told(err)
        assert "pairs.jsonl" in line
    assert not any((folder / "weights").exists() for folder in machines)


def test_the_process_with_the_newest_checkpoint_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [0, 40, 40]
    monkeypatch.setattr(World, "gather", lambda world, own: steps)
    led = [World(rank, 3).led_by_most(steps[rank]) for rank in range(3)]
    assert [world.rank for world in led] == [2, 0, 1]
    assert {world.leader for world in led} == {1}


def test_other_data_on_another_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(prepare(tmp_path))
    config = config_from_dict(toy_config(), "test")
    there = config_from_dict(toy_config(training__lr=0.5, device="auto"), "test")
    data = load_training_data(config)
    own: list[Any] = []
    monkeypatch.setattr(World, "gather", lambda _, items: own.extend(items) or own)
    check_same_everywhere(World(0, 2), config, data)
    write_jsonl(Path("pairs.jsonl"), toy_pairs(60)[::-1])
    with pytest.raises(UserError) as refused:
        check_same_everywhere(World(1, 2), there, load_training_data(config))
    message = str(refused.value)
    assert "process 1 on" in message
    assert "training.lr: 0.001 -> 0.5" in message
    assert "order of the pairs: " in message
    assert "device" not in message
    assert "train: " not in message  # the same pairs, in another order


def test_a_killed_process_ends_the_job(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__epochs=4000, training__save_every="5 steps")
    started = job(folder, folder)
    processes.until(lambda: two_checkpoints(folder), started.processes[0])
    started.processes[1].kill()
    (status, err), killed = started.finish()
    assert (status, killed[0]) == (1, -signal.SIGKILL)
    assert told(err) == [f"mt: {LOST}"]


def stopped_by(who: str, folder: Path) -> str:
    step = read_state(newest(folder))["progress"]["step"]
    saved = f"saved in weights/toy/checkpoints/{newest(folder).name}"
    return f"stopped by {who} after step {step:,}, {saved}; go on with: torchrun … -m mt"


def test_torchrun_told_to_stop_all_save_and_end(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__epochs=4000, training__save_every="5 steps")
    launcher = start(folder, *TWO)
    wait_for_checkpoints([folder], [launcher])
    os.kill(launcher.pid, signal.SIGTERM)
    status, err = finish(launcher)
    assert status == 1  # torchrun's own; each process ends with 143
    assert not told(err)
    assert stopped_by("SIGTERM", folder) in err


def test_one_process_told_to_stop_all_save_and_end(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__epochs=4000, training__save_every="5 steps")
    started = job(folder, folder)
    processes.until(lambda: two_checkpoints(folder), started.processes[0])
    started.processes[1].terminate()
    (status, err), (other_status, other_err) = started.finish()
    assert (status, other_status) == (143, 143)
    assert not told(err + other_err)
    assert stopped_by("another process", folder) in err


def fail_in_process_1() -> None:
    from mt.training.trainer import Trainer

    def fail(*_: object) -> None:
        if os.environ["RANK"] == "1":
            raise RunError("the disk is full")

    Trainer._after_update = fail  # type: ignore[method-assign]


def test_a_failure_of_one_process_is_told_once_and_ends_all(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    (status, err), (other_status, other_err) = job(
        folder, folder, before=fail_in_process_1
    ).finish()
    assert (status, other_status) == (1, 1)
    assert told(err + other_err) == ["mt: the disk is full"]


def test_more_processes_than_batches_is_refused(tmp_path: Path) -> None:
    folder = prepare(tmp_path, training__batch_size=60)
    endings = job(folder, folder).finish()
    assert [status for status, _ in endings] == [2, 2]
    (line,) = told("".join(err for _, err in endings))
    assert line.startswith("mt: 2 processes for 1 batch an epoch: start fewer of them")
    assert not list_checkpoints(folder / "weights/toy/checkpoints")


def test_a_run_must_be_resumed_with_as_many_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mt: Callable[..., Result]
) -> None:
    monkeypatch.chdir(prepare(tmp_path, training__bleu_samples=0, training__epochs=1))
    assert mt("train", "--config", "toy.yaml").status == 0
    last = newest(tmp_path)
    state = read_state(last)
    assert state.pop("batches_per_step") == 1
    parts = {stem: read_part(last, stem) for stem in ("model", "optimizer")}
    state = {**state, "batches_per_step": 3}
    write_checkpoint(last.parent, state["progress"]["step"], parts, state)
    result = mt("train", "--config", "toy.yaml", "--set", "training.epochs=2")
    assert result.status == 2
    assert "trained with steps of 3 batches (processes x training.accumulate)" in result.err
    assert "now they are of 1: start 3 processes, choose another name" in result.err


def test_alone_nothing_is_asked_of_others() -> None:
    world = World()
    assert world.share([1, 2, 3]) == [1, 2, 3]
    assert world.gather([1, 2, 3]) == [1, 2, 3]
    assert world.sum([1.5, 2.5]) == [1.5, 2.5]


def test_a_failure_is_told_once_on_each_machine() -> None:
    board = HashStore()
    failed, beside, away, away_too = (
        World(rank, 4, rank % 2, rank // 2, board=board) for rank in range(4)
    )
    said = failed.to_tell(RunError("disk full"), "disk full")
    assert said == "disk full"
    assert beside.to_tell(LostError(), LOST) is None
    told_away = away.to_tell(LostError(), LOST)
    assert told_away is not None
    assert re.fullmatch(r"process 0 on .+: disk full", told_away)
    assert away_too.to_tell(LostError(), LOST) is None
    assert World().to_tell(RunError("disk full"), "disk full") == "disk full"


def test_a_process_that_was_killed_is_told_as_lost() -> None:
    board = HashStore()
    assert World(1, 3, 1, board=board).to_tell(LostError(), LOST) == LOST
    assert World(2, 3, 2, board=board).to_tell(LostError(), LOST) is None


def test_processes_that_are_started_again_do_not_hear_those_before() -> None:
    board, names = HashStore(), []
    for _ in range(2):  # what the first start left is there at the second
        with ThreadPoolExecutor() as pool:
            calls = [pool.submit(_name_of_this_start, board, rank, 3) for rank in (2, 1, 0)]
        found = {call.result() for call in calls}
        assert len(found) == 1
        names += found
    assert names[0] != names[1]


def test_each_process_has_a_gpu_of_its_own_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    cuda = torch.device("cuda")
    assert own_device(cuda, World(3, 4, local_rank=1, machine=1)) == torch.device("cuda:1")
    assert own_device(torch.device("cuda:1"), World()) == torch.device("cuda:1")
    with pytest.raises(UserError, match="more processes than GPUs on this machine, which has 2"):
        own_device(cuda, World(2, 3, local_rank=2))


def test_shares_hold_everything_once() -> None:
    for size in (2, 3, 5):
        shares = [World(rank, size).share(list(range(11))) for rank in range(size)]
        assert sorted(item for share in shares for item in share) == list(range(11))


def child(launcher: subprocess.Popen[str], rank: int | None = None) -> int:
    """The process that torchrun started, as `rank`, by its environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            settings = path.read_bytes().split(b"\0")
            parent = path.with_name("stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if int(parent) == launcher.pid and (rank is None or f"RANK={rank}".encode() in settings):
            return int(path.parent.name)
    raise AssertionError(f"no process of rank {rank}")
