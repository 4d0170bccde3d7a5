"""Help and usage: at once, on the right stream, with the way out, and without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mt import __version__
from mt.cli.main import main
from tests.conftest import ROOT, Result, mt_process

Mt = Callable[..., Result]
COMMANDS = (
    "train", "translate", "evaluate", "compare", "runs", "export", "serve", "config", "completion",
)  # fmt: skip
HEAVY = (
    "torch", "datasets", "numpy", "tokenizers", "pydantic", "sacrebleu", "tensorboard",
    "ctranslate2", "onnx", "onnxruntime", "starlette", "uvicorn", "prometheus_client",
)  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], *([c, "--help"] for c in COMMANDS)], ids=str)
def test_help_goes_to_stdout_and_makes_nothing(here: Path, mt: Mt, arguments: list[str]) -> None:
    result = mt(*arguments)
    assert result.status == 0
    assert result.out.startswith("usage: mt")
    assert result.err == ""
    assert list(here.iterdir()) == []


def test_help_names_every_command_and_the_version_is_shown(mt: Mt) -> None:
    out = mt("--help").out
    assert all(command in out for command in COMMANDS)
    assert mt("--version").out == f"mt {__version__}\n"


@pytest.fixture
def without_libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which importing anything heavy fails."""
    folder = tmp_path_factory.mktemp("broken")
    for name in HEAVY:
        (folder / f"{name}.py").write_text(f"raise ImportError('{name} was imported')\n")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0), (["train", "--help"], 0), (["translate", "--help"], 0),
        (["evaluate", "--help"], 0), (["compare", "--help"], 0), (["runs", "--help"], 0),
        (["runs", "--sort", "nothing"], 2), (["compare"], 2), (["export", "--help"], 0),
        (["serve", "--help"], 0), ([], 2), (["trian"], 2), (["train"], 2), (["export"], 2),
        (["translate", "--no-such"], 2),
    ],
    ids=str,
)  # fmt: skip
def test_help_and_usage_errors_answer_at_once_without_the_libraries(
    here: Path, without_libraries: dict[str, str], arguments: list[str], status: int
) -> None:
    ended = mt_process(*arguments, env=without_libraries)
    assert ended.returncode == status, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert bool(ended.stdout) == (status == 0)
    assert bool(ended.stderr) == (status != 0)
    assert list(here.iterdir()) == []


def test_a_command_that_works_does_need_them(here: Path, without_libraries: dict[str, str]) -> None:
    """Or the test above would show nothing."""
    ended = mt_process("translate", "x", env=without_libraries)
    assert ended.returncode == 1
    assert b"was imported" in ended.stderr


def test_help_takes_little_processor_time(here: Path) -> None:
    """Counted in processor time, which other work on the machine does not change much."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert mt_process("--help").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_a_config_with_a_mistake_is_refused_before_torch_is_imported(here: Path) -> None:
    Path("bad.yaml").write_text("data: {src: en, tgt: it, source: x}\nmodell: {}\n")
    program = (
        "import sys\nfrom mt.cli.main import main\n"
        "status = main(['train', '--config', 'bad.yaml'])\n"
        "print(status, 'torch' in sys.modules, 'datasets' in sys.modules)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "2 False False\n"
    assert "modell is not a key; did you mean model?" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "mt: the following arguments are required: COMMAND"),
        (["trian"], "did you mean train?"),
        (["translat", "x"], "did you mean translate?"),
        (["train"], "mt train: the following arguments are required: --config"),
        (["train", "--config"], "mt train: argument --config: expected one argument"),
        (["train", "--config", "x.yaml", "--restrat"], "did you mean --restart?"),
        (["train", "--config", "x", "--set", "a.b", "1"], "one word, with =: --set a.b=1"),
        (["translate", "--modle", "x"], "did you mean --model?"),
        (["translate", "--config", "x"], "a model has its config in its folder: --model NAME"),
        (["translate", "--beam", "5", "x"], "did you mean --beam-size?"),
        (["translate", "--batchsize=3"], "did you mean --batch-size?"),
        (["translate", "--in", "x"], "unrecognized arguments"),  # no abbreviations
        (["evaluate", "--split", "train"], "invalid choice: 'train'"),
    ],
    ids=str,
)
def test_usage_errors(here: Path, mt: Mt, arguments: list[str], expected: str) -> None:
    result = mt(*arguments)
    assert (result.status, result.out) == (2, "")
    assert expected in result.err
    assert len(result.err.splitlines()) == 2
    assert result.err.splitlines()[1].startswith("usage: see mt")
    assert list(here.iterdir()) == []


def test_both_names_of_the_command_are_the_same() -> None:
    """`mt`, as installed, and `python -m mt`."""
    script = Path(sys.executable).with_name("mt")
    if not script.exists():
        pytest.skip("the package is not installed")
    outs = [
        subprocess.run(command, capture_output=True, check=True).stdout
        for command in ([script, "--help"], [sys.executable, "-m", "mt", "--help"])
    ]
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("odd"), "mt: this should not have happened: ValueError: odd. MT_DEBUG=1"),
        (OSError(28, "No space left on device", "a/x"), "mt: No space left on device: a/x"),
        (MemoryError(), "mt: out of memory: free some"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "mt: out of memory: free"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "mt: out of memory: free"),
    ],
    ids=str,
)  # fmt: skip
def test_failures_are_one_line_and_status_1(
    here: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("mt.cli.translate.load_translator", fail)
    result = mt("translate", "x")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(expected)
    assert len(result.err.splitlines()) == 1
    monkeypatch.setenv("MT_DEBUG", "1")
    with pytest.raises(type(error)):
        main(["translate", "x"])


def test_debugging_shows_where(here: Path) -> None:
    start = time.monotonic()
    ended = mt_process("train", "--config", "nope.yaml", env={**os.environ, "MT_DEBUG": "1"})
    assert ended.returncode != 0
    assert b"Traceback" in ended.stderr
    assert b"no such config file" in ended.stderr
    assert time.monotonic() - start < 60


def test_ctrl_c_before_the_command_is_there_is_told_in_a_word(here: Path) -> None:
    """Imports take a while, and a person may think better of it meanwhile."""
    slow = here / "slow"
    slow.mkdir()
    content = "import time\nprint('importing', flush=True)\ntime.sleep(60)\n"
    (slow / "argparse.py").write_text(content, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "mt", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": f"{slow}{os.pathsep}{ROOT}"},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "mt: interrupted\n")
