"""What a checkpoint of a run holds, and how a run goes on from one."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mt.config import Config
from mt.config_file import differences
from mt.distributed import World
from mt.errors import UserError
from mt.model.weights import load_weights
from mt.storage.checkpoint import (
    DamagedError,
    check,
    list_checkpoints,
    read_part,
    read_state,
    step_of,
)
from mt.storage.model_folder import WEIGHTS, ModelFolder
from mt.text.tokenizer import Tokenizer
from mt.training.optimizer import load_optimizer, optimizer_tensors
from mt.training.progress import Progress, watched_metric
from mt.training.saving import Saver
from mt.training.trainer import Trainer

log = logging.getLogger("mt")

# What may differ when a run goes on: none of it changes the steps that were made.
MAY_CHANGE = (
    "device",
    "training.epochs",
    "training.max_steps",
    "training.minutes",
    "training.validate_every",
    "training.save_every",
    "training.log_every",
    "training.bleu_samples",
    "training.keep",
    "training.average",
    "training.early_stopping",
    "decoding",
)


def state_of(trainer: Trainer, progress: Progress, tokenizers: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint remembers besides tensors; `tokenizers` as `tokenizer_state` says."""
    return {
        "progress": vars(progress),
        "metric": watched_metric(trainer.config),
        "batches_per_step": trainer.batches_per_step,
        "tokenizers": tokenizers,
        "torch": torch.__version__,
    }


def parts_of(trainer: Trainer) -> dict[str, dict[str, Tensor]]:
    """The tensors of a checkpoint by file, as they are at this moment: `model` translates.

    With a moving average that is the average, and training goes on from `raw`.
    """
    model, average = trainer.model, trainer.average
    weights = {name: p.detach() for name, p in model.named_parameters()}
    parts = {"model": weights, "optimizer": optimizer_tensors(model, trainer.optimizer)}
    if average is not None:
        parts["raw"], parts["model"] = weights, average.weights
    return parts


def newest_whole(folder: ModelFolder, src: Tokenizer, tgt: Tokenizer) -> Path | None:
    """The newest whole checkpoint, None if there is no checkpoint; damaged ones are set aside.

    Raises UserError if it was made with other tokenizers, or if every one is damaged.
    """
    damaged: dict[Path, DamagedError] = {}
    for checkpoint in list_checkpoints(folder.checkpoints)[::-1]:
        try:
            check(checkpoint)
        except DamagedError as error:
            damaged[checkpoint] = error
            continue
        folder.check_tokenizers(read_state(checkpoint), checkpoint, src, tgt)
        for other, why in damaged.items():
            aside = other.with_name(f"damaged-{other.name}-{time.time_ns()}")
            other.rename(aside)
            log.warning("damaged checkpoint %s set aside as %s: %s", other.name, aside, why)
        return checkpoint
    if damaged:
        raise UserError(
            "\n  ".join(
                [
                    f"every checkpoint in {folder.checkpoints.absolute()} is damaged:",
                    *map(str, damaged.values()),
                ]
            )
            + "\n  Put whole ones back, or give --restart to move this run aside and train anew"
        )
    return None


def take_back(trainer: Trainer, checkpoint: Path | None, folder: ModelFolder) -> int | None:
    """Puts the first process's checkpoint into the trainer; its step, None if there is none.

    Raises UserError if the steps were of another number of batches.
    """
    world = trainer.world
    state = world.from_first(read_state(checkpoint) if checkpoint else None)
    if state is None:
        return None
    then, now = state.get("batches_per_step"), trainer.batches_per_step
    if then not in (None, now):
        number = then / trainer.settings.accumulate
        processes = f"{number:g} process{'es' * (number != 1)}"
        raise UserError(
            f"{folder.path.absolute()} was trained with steps of {then} "
            f"batches (processes x training.accumulate), now they are of {now}: start "
            f"{processes}, choose another name, or give "
            "--restart"
        )
    trainer.progress = Progress(**state["progress"])
    load_weights(trainer.model, _part(world, checkpoint, "model"))
    trainer.start_average()
    if trainer.average is not None:
        load_weights(trainer.model, _part(world, checkpoint, "raw"))
    updates = trainer.progress.step - trainer.progress.skipped
    moments = _part(world, checkpoint, "optimizer")
    load_optimizer(trainer.model, trainer.optimizer, moments, updates)
    return trainer.progress.step


def _part(world: World, checkpoint: Path | None, stem: str) -> dict[str, Tensor]:
    """The tensors of a file of the first process's checkpoint."""
    return world.tensors_from_first(read_part(checkpoint, stem) if checkpoint else {})


def point_best(saver: Saver, progress: Progress, checkpoint: Path) -> None:
    """Mends an end that came between the writing of the best checkpoint and pointing at it.

    If `best` is an average that was made after this step, it stays.
    """
    if _step_of(saver.folder.pointer("best")) < progress.step == progress.best_step:
        saver.point_best(checkpoint)


def _step_of(checkpoint: Path | None) -> int:
    """The step that a checkpoint, or an average of some, was made at; -1 if it is not whole."""
    try:
        return -1 if checkpoint is None else int(read_state(checkpoint)["progress"]["step"])
    except DamagedError:
        return -1


def newest_first(world: World, config: Config) -> World:
    """The process with the newest checkpoint becomes the first one.

    torchrun may number the machines anew at each start, and they need not share the folder.
    """
    checkpoints = list_checkpoints(ModelFolder(WEIGHTS / config.name).checkpoints)
    return world.led_by_most(step_of(checkpoints[-1]) if checkpoints else 0)


def check_same_config(old: Config, new: Config, folder: ModelFolder) -> None:
    """Raises UserError if a run cannot go on under `new`, listing the settings that differ."""
    changed = [line for line in differences(old, new) if not line.startswith(MAY_CHANGE)]
    if changed:
        raise UserError(
            "\n  ".join(
                [
                    f"{folder.path.absolute()} was trained with other settings (then -> now):",
                    *changed,
                ]
            )
            + "\n  Put them back, choose another name, or give --restart to move the old run "
            "aside and train anew"
        )
