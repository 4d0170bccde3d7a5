"""One thing to be read, whatever it is: a file, two text files, a split of a data set.

Which of them a config means is `mt.text.sources`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mt.config import DataConfig
from mt.errors import UserError
from mt.text.rows import Batches, Columns

# What splits are called, in data sets and in names of files, and what they are here.
SPLIT_NAMES = {
    "train": "train",
    "valid": "valid",
    "validation": "valid",
    "dev": "valid",
    "test": "test",
}


@dataclass
class Input:
    """One file, pair of files or split of a data set, and how to read it."""

    name: str
    form: str
    fingerprint: str
    read: Callable[[], Batches]
    role: str = "train"  # or valid, or test
    weight: float = 1.0
    unit: str = "line"


def columns_of(data: DataConfig) -> Columns:
    """What readers look for."""
    return Columns(data.src, data.tgt, data.src_column, data.tgt_column, data.group_by)


def sha256_of(paths: Iterable[Path]) -> str:
    """Of the content of files, one after the other; `UserError` for one that cannot be read."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except FileNotFoundError:
            raise UserError(f"no such file: {path.absolute()}") from None
        except OSError as error:
            raise UserError(f"cannot read {path.absolute()}: {error.strerror}") from None
    return digest.hexdigest()
