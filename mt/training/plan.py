"""What a run will do, said before step 1: sizes, what is left out, unknown words, steps, time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch

from mt.data.dataset import BilingualDataset
from mt.data.plan import padding_share
from mt.model.build import count_parameters
from mt.model.loss import projected_cross_entropy
from mt.training.run import Run
from mt.training.trainer import Trainer

UNKNOWN_WARNING = 0.02
EXAMPLES = 3


def describe(run: Run) -> Iterator[str]:
    """The plan, line by line."""
    config, data, trainer = run.config, run.data, run.trainer
    yield from data.corpus.report.lines()
    for name, dataset in (("training", data.train), ("validation", data.valid)):
        yield from _too_long(name, dataset, data.corpus.splits[name[:5]], config.data.max_length)
    src, tgt = config.data.src, config.data.tgt
    yield f"vocabulary   {data.src.vocab_size:,} {src}, {data.tgt.vocab_size:,} {tgt}"
    yield from _unknown(run)
    depth = " + ".join(map(str, config.model.depth))
    yield (
        f"model        {count_parameters(trainer.model) / 1e6:.2f} M parameters, {depth} layers, "
        f"d_model {config.model.d_model}, on {run.device} in {str(run.dtype)[6:]}"
    )
    plan = trainer.plan(0)
    share = padding_share(data.train.lengths, plan)
    yield (f"batches      {_batch(trainer)}, {len(plan):,} an epoch, {share:.1%} padding")
    yield f"learning     lr {config.training.lr:g}, {config.training.schedule} schedule"
    left = trainer.total_steps - trainer.progress.step
    estimate = f", about {spell_seconds(left * seconds_per_step(trainer))}" if left > 0 else ""
    epochs = trainer.total_steps / trainer.steps_per_epoch
    yield f"steps        {trainer.total_steps:,} ({epochs:.3g} epochs){estimate}"
    if not len(data.valid):
        yield "validation   none: the valid split is empty (data.valid_size)"


def seconds_per_step(trainer: Trainer) -> float:
    """A trial on a batch of the plan, forward and backward, that leaves no trace."""
    plan = trainer.plan(0)
    batch = trainer.train_data.batch(plan[len(plan) // 2]).to(trainer.device)
    seconds = 0.0
    for _ in range(2):  # the first one warms up
        start = time.perf_counter()
        features = trainer.model.features(batch.src, batch.src_padding, batch.tgt_in)
        real = features.flatten(0, 1).index_select(0, batch.real)
        targets = batch.tgt_out.flatten().index_select(0, batch.real)
        loss, _ = projected_cross_entropy(real, trainer.model.projection, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        if trainer.device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    trainer.optimizer.zero_grad(set_to_none=True)
    return seconds * trainer.settings.accumulate


def spell_seconds(seconds: float) -> str:
    """90 s, 12 min, 3 h 20 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _batch(trainer: Trainer) -> str:
    size, each = trainer.batch_size, trainer.settings.accumulate
    text = f"{size.pairs:,} pairs" if size.pairs is not None else f"{size.tokens:,} tokens"
    return f"{text} x {each}" if each > 1 else text


def _too_long(name: str, dataset: BilingualDataset, split: object, limit: int) -> Iterator[str]:
    rows = dataset.too_long
    if not len(rows):
        return
    places = [str(split[int(row)]["row"]) for row in rows[:EXAMPLES]]  # type: ignore[index]
    more = ", ..." if len(rows) > EXAMPLES else ""
    yield (
        f"left out     {len(rows):,} {name} pairs too long: over data.max_length "
        f"({limit} tokens a side); rows {', '.join(places)}{more}"
    )


def _unknown(run: Run) -> Iterator[str]:
    data = run.data
    split = ("valid", data.valid) if len(data.valid) else ("train", data.train)
    shares = split[1].unknown_shares()
    src, tgt = run.config.data.src, run.config.data.tgt
    yield f"unknown      {shares[0]:.1%} of {src} and {shares[1]:.1%} of {tgt} tokens in {split[0]}"
    if max(shares) > UNKNOWN_WARNING:
        yield (
            "warning      over 2 % of the tokens are unknown: lower tokenizer.min_frequency, "
            "or train on more text"
        )
