"""Dropout (Srivastava et al. 2014), cheap on a CPU, where drawing random numbers is what costs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEPS = 2**16  # a share is rounded to so many-ths


class Dropout(nn.Module):
    """Sets a share of the numbers to 0 in training, and scales the rest so that the mean stays."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape to the same shape."""
        return dropout(x, self.share) if self.training else x


def dropout(x: Tensor, share: float) -> Tensor:
    """`torch.nn.functional.dropout`, from 16 random bits a number instead of a float on a CPU."""
    if share == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, share)
    dropped: Tensor = _Dropout.apply(x, share)  # type: ignore[no-untyped-call]
    return dropped


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        count = x.numel()
        words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[:count].view(x.shape)
        kept = bits >= round(share * STEPS) - STEPS // 2
        ctx.scale = 1 / (1 - share)
        ctx.save_for_backward(kept)
        return x.mul(kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return gradients[0].mul(kept).mul_(ctx.scale), None
