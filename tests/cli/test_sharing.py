"""`mt translate` in several processes: the file that one would write, whatever becomes of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.cli import sharing
from mt.cli.sharing import Place
from tests.cli import processes
from tests.conftest import KNOWN, Result

Mt = Callable[..., Result]
Run = Callable[..., Result]
PARTS = Path(".out.txt.parts")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
COMMAND = ["translate", "--input", "in.txt", "--output", "out.txt"]


def write_input(lines: int) -> list[str]:
    """Sentences that differ from line to line, blank ones and too long ones among them."""
    known = [source for source, _ in KNOWN]
    texts = [f"{known[i % 63]} {known[i % 59]}" if i % 11 else "" for i in range(lines)]
    texts[3:4] = ["the cat sleeps today, " * 12]
    Path("in.txt").write_text("".join(f"{text}\n" for text in texts))
    return texts


def assert_same(one: str, other: str) -> None:
    """Of two outputs; the last bits of their figures depend on what else was in the batch."""
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e-\d+)?")
    assert number.sub("#", one) == number.sub("#", other)
    figures = [list(map(float, number.findall(text))) for text in (one, other)]
    assert figures[0] == pytest.approx(figures[1], abs=2e-4)


def without_resuming(err: str) -> str:
    return "".join(line for line in err.splitlines(True) if not line.startswith("going on from"))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "SMALLEST_PART", 4)
    monkeypatch.setattr("mt.cli.translate.PART_BATCHES", 1)
    monkeypatch.setattr(sharing, "LOOK_EVERY", 0.01)


@pytest.fixture
def process(mt: Mt, small_parts: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs what torchrun would start as process `rank` of `size`."""

    def run(rank: int, size: int, *more: str, job: str = "a") -> Result:
        with monkeypatch.context() as patch:
            for name, value in (("RANK", rank), ("WORLD_SIZE", size), ("LOCAL_RANK", rank)):
                patch.setenv(name, str(value))
            patch.setenv("TORCHELASTIC_RUN_ID", job)
            return mt(*COMMAND, "--batch-size", "4", "--device", "cpu", *more)

    return run


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TORCHRUN, "-m", "mt", *COMMAND, "--device", "cpu"], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert out == ""
    return process.returncode, err


def rank_1(agent: int) -> int:
    """The process id of the second worker, by its environment."""
    for folder in Path("/proc").iterdir():
        try:
            stat = (folder / "stat").read_text()
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == agent and b"RANK=1" in environment:
            return int(folder.name)
    raise AssertionError("there is no such process")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes as on Linux")
def test_a_lost_process_is_told_and_the_same_command_goes_on(trained: Path, mt: Mt) -> None:
    """What two processes of torchrun write, one of them killed, is what one process writes."""
    write_input(8 * 512 + 100)
    job = start()
    deadline = time.monotonic() + 90
    while not (list(PARTS.glob("*-0?????.json")) and (PARTS / "process-0.json").exists()):
        assert job.poll() is None, job.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(rank_1(job.pid), signal.SIGKILL)
    status, err = finish(job)
    assert status != 0
    assert "SIGKILL" in err or "-9" in err
    assert "mt: stopped: a process of the job was lost" in err
    kept = rf"finished parts? (is|are) kept in {PARTS.absolute()}; the same command goes on"
    assert re.search(kept, err)
    assert not Path("out.txt").exists()
    finished = len(list(PARTS.glob("*-0?????.json")))

    again = processes.Job(trained, trained, arguments=[*COMMAND, "--device", "cpu"])
    (status, err), (other_status, other_err) = again.finish()
    assert (status, other_status) == (0, 0), err + other_err
    found = re.search(r"^going on from (\d+) finished parts? in ", err, re.M)
    assert found
    assert int(found[1]) >= finished > 0
    assert "line 4: " in err
    assert not PARTS.exists()
    together = Path("out.txt").read_bytes()
    alone = mt(*COMMAND)
    assert Path("out.txt").read_bytes() == together
    assert together.count(b"\n") == 8 * 512 + 100
    assert alone.err == without_resuming(err)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_shares_of_any_number_of_processes_make_the_same_file(
    trained: Path, mt: Mt, process: Run, size: int
) -> None:
    write_input(23)
    content = Path("in.txt").read_bytes() + b"the c\xe4t zzz\nyes."
    Path("in.txt").write_bytes(content)
    for rank in range(1, size):
        assert process(rank, size, "--errors", "replace") == Result(0, "", "")
    first = process(0, size, "--errors", "replace")
    together = Path("out.txt").read_bytes()
    alone = mt(*COMMAND, "--errors", "replace")
    assert (first.status, first.out) == (alone.status, alone.out) == (0, "")
    assert without_resuming(first.err) == alone.err
    assert "not UTF-8, what could not be read replaced: line 24" in first.err
    assert Path("out.txt").read_bytes() == together
    assert not list(Path().glob(".out*"))


@pytest.mark.parametrize(
    "options",
    [["--json", "--beam-size", "2", "--n-best", "2"], ["--scores", "--alignments", "--paragraphs"]],
    ids=" ".join,
)
def test_all_that_is_written_of_a_translation_is_shared_out(
    trained: Path, mt: Mt, process: Run, options: list[str]
) -> None:
    write_input(23)
    assert process(1, 2, *options) == Result(0, "", "")
    first = process(0, 2, *options)
    together = Path("out.txt").read_text("utf-8")
    alone = mt(*COMMAND, *options)
    assert without_resuming(first.err) == alone.err
    assert_same(Path("out.txt").read_text("utf-8"), together)
    assert ("\t" in together) != ('"alignment"' in together)


def test_an_empty_file_is_shared_out_too(trained: Path, process: Run) -> None:
    Path("in.txt").write_bytes(b"")
    assert process(1, 2) == process(0, 2) == Result(0, "", "")
    assert Path("out.txt").read_bytes() == b""


def test_ctranslate2_shares_too(trained: Path, mt: Mt, process: Run) -> None:
    pytest.importorskip("ctranslate2")
    assert mt("export", "--format", "ctranslate2").status == 0
    write_input(20)
    engine = ["--engine", "ctranslate2"]
    assert process(1, 2, *engine).status == 0
    assert process(0, 2, *engine).status == 0
    together = Path("out.txt").read_bytes()
    assert mt(*COMMAND, *engine).status == 0
    assert Path("out.txt").read_bytes() == together


@pytest.mark.parametrize("change", ["input", "model", "--max-length-ratio=0.1", "--paragraphs",
                                    "--scores", "--alignments", "--json"])  # fmt: skip
def test_parts_of_something_else_are_not_used(
    trained: Path, mt: Mt, process: Run, change: str
) -> None:
    write_input(10)
    assert process(1, 2).status == 0
    more: list[str] = []
    if change == "input":
        write_input(12)
    elif change.startswith("--"):
        more = [change]
    else:
        for checkpoint in Path("weights/toy/checkpoints").iterdir():
            state = checkpoint / "state.json"
            state.write_text(state.read_text() + "\n")
    for rank in (1, 0):
        assert process(rank, 2, *more, job="b").status == 0
    together = Path("out.txt").read_text("utf-8")
    assert mt(*COMMAND, *more).status == 0
    assert_same(Path("out.txt").read_text("utf-8"), together)


def test_parts_that_are_there_are_not_made_again(trained: Path, process: Run) -> None:
    write_input(10)
    assert process(1, 2).status == 0
    (part,) = PARTS.glob("*-000001.json")
    content = json.loads(part.read_text())
    part.write_text(json.dumps({**content, "text": "kept\n" * 4}))
    assert process(1, 2, job="b").status == 0
    result = process(0, 2, job="b")
    assert f"going on from 1 finished part in {PARTS.absolute()}" in result.err
    assert Path("out.txt").read_text().splitlines()[4:8] == ["kept"] * 4


def test_a_process_that_leaves_no_sign_is_told(
    trained: Path, process: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "UNSEEN", 0.05)
    write_input(10)
    result = process(0, 2)
    assert (result.status, result.out) == (1, "")
    assert f"mt: process 1 of 2 has left no sign in {PARTS.absolute()}: is it on a disk" in (
        result.err
    )
    assert f"2 finished parts are kept in {PARTS.absolute()}" in result.err
    assert not Path("out.txt").exists()


def test_a_process_that_is_stuck_is_told(
    trained: Path, process: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_input(10)
    assert process(1, 2).status == 0
    next(PARTS.glob("*-000001.json")).unlink()
    monkeypatch.setattr(sharing, "STUCK", 0.05)
    result = process(0, 2)
    assert result.status == 1
    assert f"no part of {trained}/out.txt was finished for 0 minutes" in result.err


def test_processes_that_see_different_models_are_told(trained: Path, process: Run) -> None:
    write_input(10)
    assert process(1, 2).status == 0
    result = process(0, 2, "--unknown", "mark")
    assert result.status == 1
    assert "mt: process 1 of 2 has another input, model or options" in result.err


def test_text_that_is_not_utf8_is_named_with_its_line(trained: Path, process: Run) -> None:
    write_input(10)
    with Path("in.txt").open("ab") as file:
        file.write(b"\n\xff\n")
    result = process(0, 2)
    assert result.status == 2
    assert f"mt: {trained}/in.txt, line 12: not UTF-8" in result.err
    assert not Path("out.txt").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["a sentence"], [], ["--input", "in.txt"], ["--input", "-", "--output", "out.txt"],
        ["--output", "out.txt"],
    ],
)  # fmt: skip
def test_several_processes_need_a_file_to_read_and_one_to_write(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    write_input(1)
    result = mt("translate", *arguments)
    assert result == Result(
        2,
        "",
        "mt: several processes share out a file: give --input FILE and --output FILE, or start "
        "one\n",
    )


@pytest.mark.parametrize(
    ("name", "why"), [("nope", "is not there"), ("weights", "is no file that could be shared out")]
)
def test_what_cannot_be_shared_out_is_named(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    result = mt("translate", "--input", name, "--output", "out.txt")
    assert result == Result(2, "", f"mt: --input {Path(name).absolute()} {why}\n")


def test_the_input_is_not_overwritten_by_many_either(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    write_input(1)
    result = mt("translate", "--input", "in.txt", "--output", "./in.txt")
    assert result.status == 2
    assert "is the input: it would be overwritten" in result.err


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    def there(are: bool) -> None:
        monkeypatch.setattr(sharing, "_has_gpu", lambda _: are)

    return there


@pytest.mark.parametrize(
    ("asked", "there", "given"),
    [
        ("auto", True, "cuda:1"), ("cuda", True, "cuda:1"), ("auto", False, "auto"),
        ("cpu", True, "cpu"), ("cuda:0", True, "cuda:0"), ("cuda", False, "cuda:1"),
    ],
)  # fmt: skip
def test_each_process_has_a_gpu_of_its_own(
    gpus: Callable[[bool], None], asked: str, there: bool, given: str
) -> None:
    gpus(there)
    assert Place(3, 4, 1, "").device("torch", asked) == given
    assert Place(0, 1, 0, "").device("torch", asked) == asked


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_job_that_is_refused_leaves_nothing_and_says_nothing_of_parts(
    trained: Path, process: Run, order: tuple[int, int], names: Callable[[], set[str]]
) -> None:
    write_input(10)
    before = names()
    for rank in order:
        result = process(rank, 2, "--json", "--beam-size", "2", "--n-best", "5")
        assert result.status == 2
        assert result.err.splitlines()[-1].startswith("mt: --n-best 5 is more than")
        assert "finished part" not in result.err
    assert names() == before


def test_a_refusal_leaves_parts_of_another_command(trained: Path, process: Run) -> None:
    write_input(10)
    assert process(1, 2).status == 0
    there = {path.name for path in PARTS.glob("*-0*.json")}
    assert process(0, 2, "--json", "--beam-size", "2", "--n-best", "5").status == 2
    assert {path.name for path in PARTS.iterdir()} == there
