"""The loss: label-smoothed cross-entropy of the output layer, in bounded memory.

Letters: N real target tokens, D model, V target vocabulary, C tokens of a chunk.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LOGITS_IN_MEMORY = 2**22  # C * V numbers, 16 MiB in fp32: what stays in the processor's cache


class _ProjectedCrossEntropy(torch.autograd.Function):
    """The output layer and the loss, chunk by chunk, with the gradient made on the way.

    The logits of a chunk are turned into their own gradient in place, so that memory does not
    grow with N * V and nothing is computed twice.
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
        gradients = [torch.zeros_like(x) if wanted else None for x in (features, weight, bias)]
        objective = features.new_zeros((), dtype=torch.float32)
        entropy = features.new_zeros((), dtype=torch.float32)
        matrix = weight.to(dtype)
        chunk = max(1, LOGITS_IN_MEMORY // len(weight))
        for first in range(0, len(targets), chunk):
            rows = slice(first, first + chunk)
            part, target = features[rows].to(dtype), targets[rows, None]  # (C, D), (C, 1)
            logits = (part @ matrix.T).float().add_(bias)  # (C, V)
            log_sum = logits.logsumexp(dim=1, keepdim=True)
            nll = log_sum - logits.gather(1, target)
            uniform = log_sum - logits.mean(dim=1, keepdim=True)
            objective += ((1 - smoothing) * nll + smoothing * uniform).sum()
            entropy += nll.sum()
            if wanted:
                _to_gradient(logits, log_sum, target, smoothing, scale)
                _collect(gradients, rows, logits, part, matrix)
        ctx.save_for_backward(*gradients)
        ctx.mark_non_differentiable(entropy)
        return objective * scale, entropy

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        features, weight, bias = ctx.saved_tensors
        return features * outputs[0], weight * outputs[0], bias * outputs[0], None, None, None, None


def _to_gradient(
    logits: Tensor, log_sum: Tensor, target: Tensor, smoothing: float, scale: float
) -> None:
    """Logits (C, V) to scale * (softmax - (1 - smoothing) one-hot - smoothing / V), in place."""
    logits.sub_(log_sum).exp_().sub_(smoothing / logits.size(1))
    logits.scatter_add_(1, target, torch.full_like(log_sum, smoothing - 1))
    logits.mul_(scale)


def _collect(
    gradients: list[Tensor | None], rows: slice, logits: Tensor, part: Tensor, matrix: Tensor
) -> None:
    features, weight, bias = gradients
    assert features is not None
    assert weight is not None
    assert bias is not None
    delta = logits.to(matrix.dtype)
    features[rows] = (delta @ matrix).to(features.dtype)
    if weight.dtype == matrix.dtype:
        weight.addmm_(delta.T, part)
    else:
        weight += (delta.T @ part).to(weight.dtype)
    bias += logits.sum(dim=0)


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
