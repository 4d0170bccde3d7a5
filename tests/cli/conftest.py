"""A toy model that knows its sentences by heart, trained once for all tests of the commands."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from mt.cli.main import main
from tests.conftest import toy_pairs, write_config, write_jsonl

os.environ["OMP_NUM_THREADS"] = "1"  # of the processes that tests start

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
    """Made by the first worker that asks; the others wait for it and have the same."""
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
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("pairs.jsonl"), KNOWN)
        write_jsonl(Path("valid.jsonl"), KNOWN[::5])
        write_jsonl(Path("test.jsonl"), KNOWN[::-3])
        write_config(Path("toy.yaml"), **TO_THE_POINT)
        assert main(["train", "--config", "toy.yaml"]) == 0


@pytest.fixture
def trained(training_folder: Path, here: Path) -> Path:
    """The current folder, with a copy of the trained model and all that it was made of."""
    shutil.copytree(training_folder, here, dirs_exist_ok=True)
    return here


@pytest.fixture
def corpus(here: Path) -> Path:
    """The current folder, with `pairs.jsonl` and nothing else."""
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    return here


@pytest.fixture
def names(here: Path) -> Callable[[], set[str]]:
    """The files and folders in the current folder."""
    return lambda: {path.name for path in here.iterdir()}
