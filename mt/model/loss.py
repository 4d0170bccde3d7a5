"""The loss: label-smoothed cross-entropy of the output layer, in bounded memory.

Letters: N real target tokens, D model, V target vocabulary, C tokens of a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

LOGITS_IN_MEMORY = 2**24  # C * V numbers, 64 MiB in fp32


class _ProjectedCrossEntropy(torch.autograd.Function):
    """The output layer and the loss, chunk by chunk, with the gradient made on the way.

    Memory does not grow with N * V, nothing is computed twice, and logits are passed over as seldom
    as can be: of their gradient, softmax - (1 - smoothing) one-hot - smoothing / V, nothing but the
    softmax is ever written out, and that without its divisor. The rest goes into the products of it
    with weights and features.
    """

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        targets: Tensor,
        smoothing: float,
        scale: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        wanted = any(ctx.needs_input_grad[:3])
        matrix = weight.to(dtype)  # (V, D)
        mean = matrix.mean(dim=0) if smoothing else torch.zeros_like(matrix[0])  # (D,)
        gradient = _Gradient(features, weight, bias, scale) if wanted else None
        objective = features.new_zeros((), dtype=torch.float32)
        entropy = features.new_zeros((), dtype=torch.float32)
        for rows in _chunks(len(targets), len(weight)):
            part, target = features[rows].to(dtype), targets[rows]  # (C, D), (C,)
            logits = _logits(part, matrix, bias)  # (C, V)
            of_target = logits.gather(1, target[:, None]).squeeze(1)
            highest = logits.amax(dim=1, keepdim=True)
            powers = logits.sub_(highest).exp_()
            total = powers.sum(dim=1)  # (C,)
            log_sum = highest.squeeze(1) + total.log()
            nll = log_sum - of_target
            uniform = log_sum - (part @ mean).float() - bias.mean()
            objective += ((1 - smoothing) * nll + smoothing * uniform).sum()
            entropy += nll.sum()
            if gradient is not None:
                gradient.add_softmax(rows, powers, total, part, matrix)
        if gradient is not None:
            gradient.add_targets(targets, 1 - smoothing)
            gradient.add_uniform(mean, smoothing)
            ctx.gradients = gradient.tensors()
        ctx.mark_non_differentiable(entropy)
        return objective * scale, entropy

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        gradients = ctx.gradients
        del ctx.gradients  # so that they become the parameters' own instead of being copied
        if outputs[0].device.type != "cpu" or outputs[0] != 1:  # elsewhere a look would cost a wait
            for gradient in gradients:
                gradient.mul_(outputs[0])
        return (*gradients, None, None, None, None)


class _Gradient:
    """The gradient of `scale` times the objective by features, weight and bias, piece by piece."""

    def __init__(self, features: Tensor, weight: Tensor, bias: Tensor, scale: float) -> None:
        self.inputs = features, weight
        self.features = torch.empty_like(features)  # (N, D)
        self.weight = torch.empty_like(weight)  # (V, D)
        self.bias = torch.zeros_like(bias)  # (V,)
        self.scale = scale

    def add_softmax(
        self, rows: slice, powers: Tensor, total: Tensor, part: Tensor, matrix: Tensor
    ) -> None:
        """The softmax of a chunk, given as powers (C, V) of e and their totals (C,)."""
        share = self.scale / total  # (C,)
        delta = powers.to(matrix.dtype)
        self.features[rows] = (delta @ matrix).float().mul_(share[:, None])
        shared = (part * share[:, None]).to(matrix.dtype)  # (C, D)
        first = rows.start == 0
        if self.weight.dtype == matrix.dtype:
            self.weight.addmm_(delta.T, shared, beta=0 if first else 1)
        elif first:
            self.weight.copy_(delta.T @ shared)
        else:
            self.weight += delta.T @ shared
        self.bias += share.to(powers.dtype) @ powers

    def add_targets(self, targets: Tensor, confidence: float) -> None:
        """-`confidence` at the target of each token."""
        features, weight = self.inputs
        amount = -confidence * self.scale
        self.features.add_(weight.index_select(0, targets), alpha=amount)
        self.weight.index_add_(0, targets, features.to(weight.dtype), alpha=amount)
        ones = torch.ones_like(targets, dtype=self.bias.dtype)
        self.bias.index_add_(0, targets, ones, alpha=amount)

    def add_uniform(self, mean: Tensor, smoothing: float) -> None:
        """-`smoothing` / V at every token; `mean` (D,) is that of the weight's rows."""
        if not smoothing:
            return
        features, weight = self.inputs
        each = -smoothing * self.scale / len(weight)
        self.features.add_(mean, alpha=-smoothing * self.scale)
        self.weight.add_(features.sum(dim=0).to(weight.dtype), alpha=each)
        self.bias.add_(each * len(features))

    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        """By features, weight and bias."""
        return self.features, self.weight, self.bias


def _chunks(count: int, vocabulary: int) -> Iterator[slice]:
    """`count` tokens in chunks of about one size, whose logits fit into LOGITS_IN_MEMORY."""
    pieces = max(1, -(-count * vocabulary // LOGITS_IN_MEMORY))
    size = max(1, -(-count // pieces))
    return (slice(first, first + size) for first in range(0, count, size))


def _logits(part: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """(C, V) in fp32 or better, from part (C, D) and matrix (V, D)."""
    if part.dtype == bias.dtype:
        return torch.addmm(bias, part, matrix.T)
    return (part @ matrix.T).float().add_(bias)


def projected_cross_entropy(
    features: Tensor,
    projection: torch.nn.Linear,
    targets: Tensor,
    smoothing: float = 0.0,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """Sums over the tokens: the smoothed objective times `scale`, and the plain cross-entropy.

    features (N, D), targets (N,) ids; both results are () and in nats. The objective is
    (1 - smoothing) times the cross-entropy plus smoothing times the mean of -log p over the
    vocabulary (Szegedy et al. 2016, section 7); only it has a gradient. `dtype` is that of the
    matrix products.
    """
    assert projection.bias is not None
    objective, entropy = _ProjectedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        features, projection.weight, projection.bias, targets, smoothing, scale, dtype
    )
    return objective, entropy


def token_log_probabilities(
    features: Tensor, projection: torch.nn.Linear, targets: Tensor
) -> Tensor:
    """(N,) of each token, natural logarithm, in float64; in bounded memory, without a gradient.

    features (N, D), targets (N,) ids. The sum is that of `projected_cross_entropy`, negated.
    """
    chunk = max(1, LOGITS_IN_MEMORY // projection.out_features)
    parts = []
    for first in range(0, len(targets), chunk):
        rows = slice(first, first + chunk)
        logits = projection(features[rows]).double()  # (C, V)
        parts.append(logits.gather(1, targets[rows, None]).squeeze(1) - logits.logsumexp(dim=1))
    return torch.cat(parts)
