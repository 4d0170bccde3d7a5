"""An evaluation that `mt evaluate` left in a model folder, used again where it is the same one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mt.evaluation.evaluate import TestSet
from mt.storage.checkpoint import list_checkpoints
from mt.storage.export_record import read_record
from mt.storage.model_folder import ModelFolder

DEFAULTS = {"prefix": "", "paragraphs": False}  # what is not written was not asked for


def translating(folder: ModelFolder) -> str | None:
    """The name of the checkpoint that translates: the best, else the newest; of an export its own.

    None if there is none.
    """
    if record := read_record(folder.path):
        return record.checkpoint
    best = folder.pointer("best")
    newest = list_checkpoints(folder.checkpoints)
    chosen = best or (newest[-1] if newest else None)
    return chosen.name if chosen else None


def stored(
    folder: ModelFolder, test_set: TestSet, languages: tuple[str, str], how: Mapping[str, Any]
) -> tuple[list[str], Path] | None:
    """The translations of `test_set` that are there, and their folder.

    None unless sources, references, checkpoint, and `how` it was translated are all the same.
    """
    place = folder.path / "evaluation" / test_set.name
    src, tgt = languages
    try:
        said = {**DEFAULTS, **json.loads((place / "scores.json").read_text(encoding="utf-8"))}
        sources, references, hypotheses = (
            (place / name).read_bytes().decode().split("\n")[:-1]
            for name in (f"src.{src}", f"ref.{tgt}", f"hyp.{tgt}")
        )
    except (OSError, ValueError, TypeError):
        return None
    wanted = json.loads(json.dumps({**how, "checkpoint": translating(folder)}))
    same = (
        wanted["checkpoint"] is not None
        and all(said.get(key) == value for key, value in wanted.items())
        and sources == list(test_set.sources)
        and references == list(test_set.references)
        and len(hypotheses) == len(sources)
    )
    return (hypotheses, place) if same else None
