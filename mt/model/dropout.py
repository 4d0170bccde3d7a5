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


def relu_dropout(x: Tensor, share: float) -> Tensor:
    """`dropout(relu(x), share)`, written over x, which must be needed by nothing else."""
    if x.device.type != "cpu":
        return F.dropout(x.relu_(), share)
    result: Tensor = _ReluDropout.apply(x, share)  # type: ignore[no-untyped-call]
    return result


def _factors(like: Tensor, share: float) -> Tensor:
    """0 for a share of the places, 1 / (1 - share) for the others, as numbers to multiply by."""
    words = torch.empty(-(-like.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = words.view(torch.int16)[: like.numel()].view(like.shape)
    factors = torch.empty_like(like, memory_format=torch.contiguous_format)
    torch.ge(bits, round(share * STEPS) - STEPS // 2, out=factors)  # quicker than bool and back
    return factors.mul_(1 / (1 - share))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        factors = _factors(x, share)
        ctx.save_for_backward(factors)
        return x * factors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (factors,) = ctx.saved_tensors
        return gradients[0] * factors, None


class _ReluDropout(torch.autograd.Function):
    """Where the result is 0 the gradient is 0, so that only the result has to be kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        ctx.mark_dirty(x)
        ctx.scale = 1 / (1 - share)
        x.relu_()
        if share:
            x.mul_(_factors(x, share))
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (result,) = ctx.saved_tensors
        passed = torch.ops.aten.threshold_backward(gradients[0], result, 0)
        return passed.mul_(ctx.scale), None
