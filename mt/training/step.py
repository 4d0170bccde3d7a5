"""One step: forward and backward passes over its micro-batches, and one update; no loop here."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.data.batch import Batch, halves
from mt.distributed import ALONE, World
from mt.errors import is_out_of_memory
from mt.model.interface import TranslationModel
from mt.model.loss import projected_cross_entropy
from mt.training.optimizer import set_learning_rate

log = logging.getLogger("mt")


@dataclass(frozen=True)
class StepResult:
    """What one update did."""

    loss: float  # sum of plain cross-entropy over the step's tokens, nats
    tokens: int
    grad_norm: float

    @property
    def finite(self) -> bool:
        """Whether the update could be made."""
        return math.isfinite(self.loss) and math.isfinite(self.grad_norm)


def train_step(
    model: TranslationModel,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    *,
    lr: float,
    label_smoothing: float,
    clip_norm: float | None,
    dtype: torch.dtype,
    seed: tuple[int, int],
    world: World = ALONE,
) -> StepResult:
    """One update from the micro-batches of a step, those of all processes of `world`.

    The gradient is that of the sum of token losses over the real target tokens of all of them, so
    that splitting a batch changes nothing. An update that is not finite is not made. `seed` is
    (seed of the run, step): dropout is a function of these and the micro-batch.
    """
    model.train()
    (tokens,) = world.sum([float(sum(batch.tokens for batch in batches))])
    loss = backward_in_memory(
        model, batches, label_smoothing=label_smoothing, scale=1 / tokens, dtype=dtype,
        seed=seed, world=world,
    )  # fmt: skip
    world.sum_gradients(model.parameters())
    limit = math.inf if clip_norm is None else clip_norm
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
    here, norm = torch.stack((loss, norm.to(loss))).tolist()  # the one wait for a GPU in a step
    (total,) = world.sum([here])
    result = StepResult(total, int(tokens), norm)
    if result.finite:
        set_learning_rate(optimizer, lr)
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return result


def backward_in_memory(
    model: TranslationModel,
    batches: Sequence[Batch],
    *,
    label_smoothing: float,
    scale: float,
    dtype: torch.dtype,
    seed: tuple[int, int],
    world: World,
) -> Tensor:
    """Gradients of all micro-batches; halves them, and begins again, while memory does not suffice.

    Returns the sum of the plain cross-entropy over their tokens, ().
    """
    while True:
        try:
            loss = torch.zeros((), device=model.projection.weight.device)
            for i, batch in enumerate(batches):
                torch.manual_seed(_mix(*seed, world.rank + i * world.size))
                loss += backward(model, batch, label_smoothing, scale, dtype)
            return loss
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error) or all(len(batch.src) < 2 for batch in batches):
                raise
        model.zero_grad(set_to_none=True)  # some of them may be half added up
        batches = [h for b in batches for h in (halves(b) if len(b.src) > 1 else (b,))]
        log.warning(
            "out of memory: step %s goes on with %s micro-batches", seed[1] + 1, len(batches)
        )
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def backward(
    model: TranslationModel,
    batch: Batch,
    label_smoothing: float,
    scale: float,
    dtype: torch.dtype,
) -> Tensor:
    """Adds the gradient of `scale` times the smoothed loss; the plain cross-entropy, summed, ()."""
    with torch.autocast(batch.src.device.type, dtype, enabled=dtype != torch.float32):
        features = model.features(batch.src, batch.src_padding, batch.tgt_in)
    real = features.flatten(0, 1).index_select(0, batch.real)  # (N, D)
    targets = batch.tgt_out.flatten().index_select(0, batch.real)  # (N,)
    objective, entropy = projected_cross_entropy(
        real, model.projection, targets, label_smoothing, scale, dtype
    )
    objective.backward()  # type: ignore[no-untyped-call]
    return entropy


def _mix(*numbers: int) -> int:
    """A seed that differs for each combination of numbers."""
    digest = hashlib.sha256(repr(numbers).encode()).digest()
    return int.from_bytes(digest[:8], "little", signed=True)
