"""What a run will do, said before step 1: sizes, what is left out, unknown words, steps, time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import torch

from mt.config import TrainingConfig
from mt.data.plan import largest_batch
from mt.model.build import count_parameters
from mt.progress import spell_seconds
from mt.training.inspection import inspect
from mt.training.run import Run
from mt.training.step import backward_in_memory
from mt.training.trainer import Trainer
from mt.wording import counted


def describe(run: Run) -> Iterator[str]:
    """The plan, line by line."""
    config, data, trainer = run.config, run.data, run.trainer
    inspection = inspect(config, data, trainer.plan(0))
    yield from inspection.lines()
    depth = " + ".join(map(str, config.model.depth))
    yield (
        f"model        {count_parameters(trainer.model) / 1e6:.2f} M parameters, {depth} layers, "
        f"d_model {config.model.d_model}, on {run.device} in {str(run.dtype)[6:]}"
    )
    yield (
        f"batches      {_batch(trainer)}, {inspection.batches:,} an epoch, "
        f"{inspection.padding:.1%} padding"
    )
    yield f"learning     {_learning(config.training)}"
    if config.training.ema is not None:
        yield (
            f"average      of the weights with decay {config.training.ema:g}: it is what is "
            "validated and translates"
        )
    yield from _length(trainer)
    if not len(data.valid):
        yield "validation   none: the valid split is empty (data.valid_size)"


def _length(trainer: Trainer) -> Iterator[str]:
    """Steps and time, as far as they are known."""
    minutes, warmup = trainer.settings.minutes, trainer.settings.warmup_steps
    left = trainer.total_steps - trainer.progress.step
    each = seconds_per_step(trainer) if left > 0 and not trainer.time_is_up else 0.0
    total, about, estimate = trainer.total_steps, "", ""
    if minutes is not None and each:
        seconds = max(0.0, trainer.time.left - trainer.progress.seconds)
        in_time = trainer.progress.step + round(seconds / each)
        yield f"time         {minutes:g} min for all, {spell_seconds(seconds)} left"
        if in_time < total:
            total, about = in_time, "about "
    if not about and each:
        estimate = f", about {spell_seconds(left * each)}"
    if total < math.inf:
        counted = ", validation not counted" if each else ""
        epochs = f"{total / trainer.steps_per_epoch:.3g} epochs"
        yield f"steps        {about}{total:,} ({epochs}){estimate}{counted}"
    if 0 < total <= warmup:
        yield (
            f"warning      training.warmup_steps ({warmup}) are not over when training ends, after "
            f"{about}{total:,} steps: lower them"
        )


def seconds_per_step(trainer: Trainer) -> float:
    """A trial, forward and backward, that leaves no trace.

    The largest batch of the plan comes first: if memory does not suffice, it shows here and not in
    the middle of an epoch. The time is that of a batch like most.
    """
    plan = trainer.plan(0)
    largest = largest_batch(trainer.train_data.lengths, plan)
    seconds = 0.0
    for number in (largest, len(plan) // 2):
        batch = trainer.train_data.batch(plan[number]).to(trainer.device)
        start = time.perf_counter()
        backward_in_memory(
            trainer.model, [batch], label_smoothing=0.1, scale=1.0, dtype=trainer.dtype,
            seed=(0, trainer.progress.step), world=trainer.world,
        )  # fmt: skip
        if trainer.device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    trainer.optimizer.zero_grad(set_to_none=True)
    return seconds * trainer.settings.accumulate


def _learning(settings: TrainingConfig) -> str:
    """lr 0.0003, cosine schedule, 100 steps of warm-up."""
    text = f"lr {settings.lr:g}"
    if settings.optimizer == "muon":
        text += f" (matrices {settings.matrix_lr:g} by Muon)"
    warmup = (
        f", {counted(settings.warmup_steps, 'step')} of warm-up" if settings.warmup_steps else ""
    )
    return f"{text}, {settings.schedule} schedule{warmup}"


def _batch(trainer: Trainer) -> str:
    size, each = trainer.batch_size, trainer.settings.accumulate
    text = counted(size.pairs, "pair") if size.pairs is not None else f"{size.tokens:,} tokens"
    return f"{text} x {each}" if each > 1 else text
