"""Averages of weights: the moving one beside training, and that of several checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from mt.storage.checkpoint import read_part

Weights = Mapping[str, Tensor]


class MovingAverage:
    """The exponential moving average of a model's weights, in fp32, beside them."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.weights = {n: p.detach().float().clone() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, updates: int) -> None:
        """Moves towards the weights after so many updates.

        The decay is at most (1 + updates) / (10 + updates), so that the random start is forgotten
        soon: the rule of TensorFlow's `tf.train.ExponentialMovingAverage` with `num_updates`.
        """
        decay = min(self.decay, (1 + updates) / (10 + updates))
        weights = [p.detach().float() for p in self.model.parameters()]
        torch._foreach_lerp_(list(self.weights.values()), weights, 1 - decay)


@contextmanager
def swapped_in(model: nn.Module, weights: Weights) -> Iterator[None]:
    """Within the block the model has `weights`, by parameter name; after it, its own again."""
    own = {name: p.detach().clone() for name, p in model.named_parameters()}
    try:
        _put(model, weights)
        yield
    finally:
        _put(model, own)


@torch.no_grad()
def _put(model: nn.Module, weights: Weights) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def average_of(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights that checkpoints translate with; summed in double precision.

    Raises `DamagedError`.
    """
    total: dict[str, Tensor] = {}
    for checkpoint in checkpoints:
        for name, tensor in read_part(checkpoint, "model").items():
            total[name] = tensor.double() + total[name] if name in total else tensor.double()
    return {name: (tensor / len(checkpoints)).float() for name, tensor in total.items()}
