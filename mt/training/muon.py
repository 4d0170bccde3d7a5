"""Muon: momentum made orthogonal, for the hidden matrices of a model (Jordan et al. 2024).

Published at https://kellerjordan.github.io/posts/muon/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
ROUNDS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the odd quintic that each round applies


def orthogonal(matrices: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """(N, R, C) to matrices with the same singular vectors, and singular values near 1.

    Newton-Schulz iteration with the coefficients of Jordan et al. 2024, which are chosen for speed
    and not for convergence: singular values over about 1/100 of the matrix's norm end between 0.65
    and 1.25, smaller ones may stay below.
    """
    tall = matrices.size(1) > matrices.size(2)
    x = (matrices.mT if tall else matrices).to(dtype)  # the smaller side first: a smaller square
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    wide = x.size(2) >= 2 * x.size(1)
    # Squares of squares need the bits of fp32.
    x = _by_squares(x) if wide and dtype == torch.float32 else _by_products(x)
    return x.mT if tall else x


def _by_products(x: Tensor) -> Tensor:
    """(N, R, C) by ROUNDS of x <- a x + b (x xT) x + c (x xT)^2 x."""
    a, b, c = COEFFICIENTS
    for _ in range(ROUNDS):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x


def _by_squares(x: Tensor) -> Tensor:
    """The same of wide matrices, for half the arithmetic where C = 4 R: rounds on (N, R, R) alone.

    A round multiplies x by a polynomial p of its square, so the next square is p square p, and the
    result is the product of all p, times x.
    """
    a, b, c = COEFFICIENTS
    square, product = x @ x.mT, None
    for left in reversed(range(ROUNDS)):
        factor = torch.baddbmm(square, square, square, beta=b, alpha=c)
        factor.diagonal(dim1=1, dim2=2).add_(a)
        product = factor if product is None else factor @ product
        if left:
            square = factor @ square @ factor
    assert product is not None
    return product @ x


class Muon(torch.optim.Optimizer):
    """Moves matrices along their orthogonal momentum, and all else as another optimizer does.

    An update of an (R, C) matrix has singular values near lr * sqrt(max(1, R / C)), whatever its
    width (Jordan et al. 2024), with Nesterov momentum and the decoupled weight decay of AdamW.
    """

    def __init__(
        self,
        matrices: Sequence[tuple[Tensor, int]],
        others: torch.optim.Optimizer,
        *,
        lr: float,
        weight_decay: float = 0.0,
        **extra: Any,
    ) -> None:
        """Each of `matrices` comes with the number of matrices that it is, one below the other."""
        group = {
            "params": [matrix for matrix, _ in matrices],
            "parts": [parts for _, parts in matrices],
            "lr": lr,
            "weight_decay": weight_decay,
            **extra,
        }
        super().__init__([group, *others.param_groups], {})
        self.others = others
        self.state = others.state  # one place for both

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One update from the gradients that are there."""
        assert closure is None
        group = self.param_groups[0]
        lr, decay = group["lr"], 1 - group["lr"] * group["weight_decay"]
        for places, directions in self._by_shape(group):
            rows, columns = places[0].shape
            size = lr * math.sqrt(max(1.0, rows / columns))
            # Half the bits are enough (Jordan et al. 2024), but a CPU seldom has units for them.
            dtype = torch.bfloat16 if places[0].is_cuda else torch.float32
            for place, update in zip(places, orthogonal(directions, dtype), strict=True):
                place.mul_(decay).sub_(update.to(place), alpha=size)
        self.others.step()

    def _by_shape(self, group: dict[str, Any]) -> list[tuple[list[Tensor], Tensor]]:
        """Matrices of one shape (R, C), as views of the parameters, and where to go (N, R, C)."""
        found: dict[torch.Size, list[tuple[Tensor, Tensor]]] = {}
        for parameter, parts in zip(group["params"], group["parts"], strict=True):
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(parameter)
            momentum = state["momentum"].lerp_(parameter.grad, 1 - MOMENTUM)
            direction = parameter.grad.lerp(momentum, MOMENTUM)
            for pair in zip(parameter.chunk(parts), direction.chunk(parts), strict=True):
                found.setdefault(pair[0].shape, []).append(pair)
        return [
            ([place for place, _ in pairs], torch.stack([way for _, way in pairs]))
            for pairs in found.values()
        ]
