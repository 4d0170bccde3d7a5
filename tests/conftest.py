"""What tests share: a small corpus, small configs, and the command run inside the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Read when the libraries are imported: nothing of a test lands in the home folder.
_CACHE = tempfile.TemporaryDirectory(prefix="mt-tests-")
os.environ["HF_HOME"] = _CACHE.name
os.environ["XDG_STATE_HOME"] = _CACHE.name
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import pytest  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from filelock import FileLock  # noqa: E402

torch.set_num_threads(1)  # the models of the tests are too small for more

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


class Result(NamedTuple):
    status: int
    out: str
    err: str


def toy_pairs(count: int) -> list[tuple[str, str]]:
    """`count` distinct pairs of a toy language pair that a small model learns in seconds."""
    who = [("the cat", "il gatto"), ("the dog", "il cane"), ("the fox", "la volpe"),
           ("the man", "l'uomo"), ("the bird", "l'uccello"), ("a child", "un bambino")]  # fmt: skip
    does = [("sleeps", "dorme"), ("eats", "mangia"), ("runs", "corre"), ("sings", "canta"),
            ("waits", "aspetta")]  # fmt: skip
    how = [("today", "oggi"), ("here", "qui"), ("now", "ora"), ("well", "bene")]
    pairs = [(f"{w} {d} {h}.", f"{x} {e} {i}.") for w, x in who for d, e in does for h, i in how]
    assert count <= len(pairs)
    # A step that shares no factor with 120 visits all pairs, not one subject after the other.
    return [pairs[i * 7 % len(pairs)] for i in range(count)]


def write_jsonl(path: Path, pairs: list[tuple[str, str]], src: str = "en", tgt: str = "it") -> Path:
    rows = ({"translation": {src: a, tgt: b}} for a, b in pairs)
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return path


def toy_config(**changes: Any) -> dict[str, Any]:
    """A config for `pairs.jsonl`, as a dict; `changes` are dotted keys with __ for the dot."""
    config: dict[str, Any] = {
        "name": "toy",
        "device": "cpu",
        "seed": 7,
        "data": {"source": "pairs.jsonl", "src": "en", "tgt": "it", "max_length": 24},
        "tokenizer": {"min_frequency": 1},
        "model": {"num_layers": 1, "d_model": 32, "num_heads": 4, "d_ff": 64, "dropout": 0.1},
        "training": {"epochs": 2, "batch_size": 8, "lr": 1e-3, "log_every": 1},
    }
    for key, value in changes.items():
        *sections, last = key.split("__")
        place = config
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    return config


def write_config(path: Path, **changes: Any) -> Path:
    path.write_text(yaml.safe_dump(toy_config(**changes)), "utf-8")
    return path


OTHERS = [
    ("Hello, world!", "Ciao, mondo!"),
    ("Why (not)?", "Perché (no)?"),
    ("the coffee is hot.", "il caffè è caldo."),
    ("yes.", "sì."),
    ('"no!"', '"no!"'),
    ("the cat & the dog sleep.", "il gatto & il cane dormono."),
]
KNOWN = toy_pairs(60) + OTHERS  # what the model knows
SENTENCES = dict(KNOWN)
TO_THE_POINT = {
    "data__valid": "valid.jsonl",
    "data__test": "test.jsonl",
    "model__dropout": 0.0,
    "training__epochs": 40,
    "training__batch_size": 16,
    "training__lr": 6e-3,
    "training__schedule": "linear",
    "training__label_smoothing": 0.0,
    "training__validate_every": "40 epochs",
    "training__save_every": "20 epochs",
    "training__precision": "fp32",
}


@pytest.fixture(scope="session")
def training_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a toy model that knows its sentences by heart, trained once for all tests.

    The first worker that asks makes it; the others wait for it and have the same.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base if "PYTEST_XDIST_WORKER" not in os.environ else base.parent) / "trained"
    with FileLock(f"{folder}.lock"):
        done = folder.with_name("trained.done")
        if not done.exists():
            folder.mkdir()
            _train(folder)
            done.touch()
    return folder


def _train(folder: Path) -> None:
    from mt.cli.main import main

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("pairs.jsonl"), KNOWN)
        write_jsonl(Path("valid.jsonl"), KNOWN[::5])
        write_jsonl(Path("test.jsonl"), KNOWN[::-3])
        write_config(Path("toy.yaml"), **TO_THE_POINT)
        assert main(["train", "--config", "toy.yaml"]) == 0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mt(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs `mt ARGUMENTS` inside this process."""
    from mt.cli.main import main

    def run(*arguments: str | Path) -> Result:
        capfd.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ending:  # argparse
            status = int(ending.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err, err
        return Result(status, out, err)

    return run


def mt_process(*arguments: str | Path, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs `python -m mt ARGUMENTS` as a process of its own."""
    command = [sys.executable, "-m", "mt", *map(str, arguments)]
    settings.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, timeout=120, check=False, **settings)
