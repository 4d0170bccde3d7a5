"""What tests of the commands share: a folder with the trained toy model, and one without."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import toy_pairs, write_jsonl

os.environ["OMP_NUM_THREADS"] = "1"  # of the processes that tests start


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
