"""A disk that is full, and folders removed under a run: one message, exit 1, a way to go on."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from mt.storage.checkpoint import check, list_checkpoints, read_state
from mt.storage.model_folder import ModelFolder
from tests.cli import processes
from tests.conftest import Result, write_config

Mt = Callable[..., Result]
CHECKPOINTS = Path("weights/toy/checkpoints")
ENDLESS = {
    "training__epochs": 5000,
    "training__save_every": "2 steps",
    "training__validate_every": "5000 epochs",
    "training__log_every": 1000,
}
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def start(folder: Path) -> BaseProcess:
    """A run that has saved something and would go on for long."""
    write_config(folder / "my toy.yaml", **ENDLESS)
    process = processes.start("train", "--config", "my toy.yaml", folder=folder)
    processes.until(lambda: len(list_checkpoints(CHECKPOINTS)) > 1, process)
    return process


def only_message(process: BaseProcess, status: int = 1) -> str:
    """The one line about what failed: it is the last, nothing like it is before, and no trace."""
    assert processes.ended(process) == status
    said = Path("err.txt").read_text()
    assert "Traceback" not in said
    assert "Exception" not in said
    assert "Error" not in said
    assert said.count("cannot write") == 1
    assert Path("out.txt").read_text() == ""
    line = said.splitlines()[-1]
    assert line.startswith("mt: cannot write ")
    return line


def resumes(mt: Mt, message: str, newest: int) -> None:
    """The command in the message goes on after step `newest`."""
    command = shlex.split(message.rpartition(": ")[2])
    assert command == ["mt", "train", "--config", "my toy.yaml"]
    result = mt(*command[1:], "--set", f"training.max_steps={newest + 2}")
    assert result.status == 0
    assert f"resuming weights/toy after step {newest:,}" in result.err
    last = ModelFolder(CHECKPOINTS.parent).pointer("last")
    assert last is not None
    assert read_state(last)["progress"]["step"] == newest + 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process as Linux does")
def test_a_checkpoint_that_does_not_fit_stops_the_run(corpus: Path, mt: Mt) -> None:
    """The largest file allowed is lowered while the run goes on: the system refuses as if full."""
    import resource

    process = start(corpus)
    assert process.pid
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (50_000, 50_000))
    message = only_message(process)
    found = re.fullmatch(
        r"mt: cannot write the checkpoint after step ([\d,]+) in (.*): File too large "
        r"\(0\.\d MB needed, [\d,.]+ MB free on that disk\)\. Earlier checkpoints are as they "
        r"were, the newest at step ([\d,]+); raise the limit on the size of files \(ulimit -f\), "
        r"then go on with: mt train --config 'my toy.yaml'",
        message,
    )
    assert found, message
    assert Path(found[2]) == CHECKPOINTS.absolute()
    failed, newest = (int(found[i].replace(",", "")) for i in (1, 3))
    assert newest == failed - 2
    left = sorted(CHECKPOINTS.iterdir())
    assert left == list_checkpoints(CHECKPOINTS)  # nothing half written
    for checkpoint in left:
        check(checkpoint)
    resumes(mt, message, newest)


@full_disk
@pytest.mark.parametrize(
    ("file", "what"), [("metrics.jsonl", "the record of the run"), ("train.log", "the log")]
)
def test_a_full_disk_under_runs_stops_the_run(corpus: Path, file: str, what: str) -> None:
    write_config(corpus / "toy.yaml", training__save_every="2 steps")
    runs = Path("runs/toy")
    runs.mkdir(parents=True)
    (runs / file).symlink_to("/dev/full")
    message = only_message(processes.start("train", "--config", "toy.yaml", folder=corpus))
    assert re.fullmatch(
        rf"mt: cannot write {what} in {runs.absolute()}: No space left on device "
        r"\([\d,.]+ MB free on that disk\)\. No checkpoint is in weights/toy; make room there, "
        r"then begin anew with: mt train --config toy\.yaml",
        message,
    ), message


def test_a_removed_model_folder_stops_the_run(corpus: Path) -> None:
    process = start(corpus)
    remove(CHECKPOINTS.parent)
    message = only_message(process)
    assert re.fullmatch(
        rf"mt: cannot write the checkpoint after step [\d,]+ in {CHECKPOINTS.absolute()}: the "
        r"folder, or something in it, was removed meanwhile\. No checkpoint is in weights/toy; "
        r"begin anew with: mt train --config 'my toy\.yaml'",
        message,
    ), message
    assert not CHECKPOINTS.parent.exists()


def test_a_removed_runs_folder_stops_the_run(corpus: Path, mt: Mt) -> None:
    process = start(corpus)
    shutil.rmtree("runs/toy")
    message = only_message(process)
    found = re.fullmatch(
        rf"mt: cannot write the record of the run in {Path('runs/toy').absolute()}: the folder, or "
        r"something in it, was removed meanwhile\. Earlier checkpoints are as they were, the "
        r"newest at step ([\d,]+); go on with: mt train --config 'my toy\.yaml'",
        message,
    )
    assert found, message
    resumes(mt, message, int(found[1].replace(",", "")))


def remove(folder: Path) -> None:
    """By a rename first, as files are made in it meanwhile."""
    shutil.rmtree(folder.rename(folder.with_name("going")))


def test_early_stopping_needs_the_best_checkpoint(corpus: Path, mt: Mt) -> None:
    write_config(
        corpus / "toy.yaml",
        training__early_stopping={"patience": 2},
        training__keep={"last": 1, "best": 0},
    )
    result = mt("train", "--config", "toy.yaml")
    assert result.status == 2
    assert "training.keep.best (0) keeps no best checkpoint, which is what" in result.err
    assert "set it to 1 or more" in result.err
    assert not Path("weights").exists()


def test_with_no_best_checkpoint_kept_the_newest_translates(corpus: Path, mt: Mt) -> None:
    changes = {"training__validate_every": "2 steps", "training__max_steps": 6}
    write_config(corpus / "toy.yaml", **changes, training__keep={"last": 1, "best": 1})
    assert mt("train", "--config", "toy.yaml").status == 0
    assert Path("weights/toy/best").is_file()
    changes["training__max_steps"] = 8
    write_config(corpus / "toy.yaml", **changes, training__keep={"last": 1, "best": 0})
    result = mt("train", "--config", "toy.yaml")
    assert result.status == 0
    assert "kept in" not in result.err
    assert not Path("weights/toy/best").exists()
    assert [p.name for p in list_checkpoints(CHECKPOINTS)] == ["step-00000008"]
    Path("weights/toy/best").write_text("step-00000004\n")  # of a version that left it there
    assert mt("translate", "--model", "toy", "the cat sleeps here.").status == 0
