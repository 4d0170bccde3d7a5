"""What tests of `mt train` share: the command on a toy corpus, and what it left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import (
    Result,
    write_config,
)

Mt = Callable[..., Result]


Names = Callable[[], set[str]]


CHECKPOINTS = Path("weights/toy/checkpoints")


def train(mt: Mt, *arguments: str, **changes: Any) -> Result:
    changes.setdefault("training__max_steps", 2)
    write_config(Path("toy.yaml"), **changes)
    return mt("train", "--config", "toy.yaml", *arguments)


def vocabulary(language: str) -> set[str]:
    text = Path(f"weights/toy/tokenizer_{language}.json").read_text("utf-8")
    return set(json.loads(text)["model"]["vocab"])


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}
