"""The chunked loss against torch's own cross-entropy, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mt.model import loss as module
from mt.model.loss import projected_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_logits", [1, 50, 10**6])
def test_equals_cross_entropy_of_the_whole(
    smoothing: float, chunk_logits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOGITS_IN_MEMORY", chunk_logits)
    torch.manual_seed(0)
    projection = nn.Linear(8, 19).double()
    features = torch.randn(13, 8, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(19, (13,))
    inputs = (features, projection.weight, projection.bias)

    expected = F.cross_entropy(
        projection(features), targets, label_smoothing=smoothing, reduction="sum"
    )
    wanted = torch.autograd.grad(expected / 13, inputs)
    objective, entropy = projected_cross_entropy(
        features, projection, targets, smoothing, 1 / 13, torch.float64
    )
    got = torch.autograd.grad(objective, inputs)

    torch.testing.assert_close(objective.double(), expected.detach() / 13, rtol=1e-5, atol=1e-6)
    plain = F.cross_entropy(projection(features), targets, reduction="sum")
    torch.testing.assert_close(entropy.double(), plain.detach(), rtol=1e-5, atol=1e-6)
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_the_gradient_follows_what_comes_after() -> None:
    projection, features = nn.Linear(4, 7), torch.randn(3, 4, requires_grad=True)
    targets = torch.tensor([1, 2, 3])
    once, _ = projected_cross_entropy(features, projection, targets)
    (single,) = torch.autograd.grad(once, features)
    thrice, _ = projected_cross_entropy(features, projection, targets)
    (triple,) = torch.autograd.grad(3 * thrice, features)
    torch.testing.assert_close(triple, 3 * single)


def test_works_without_gradients() -> None:
    projection, features = nn.Linear(4, 7), torch.randn(3, 4)
    with torch.inference_mode():
        objective, entropy = projected_cross_entropy(features, projection, torch.tensor([1, 2, 3]))
    torch.testing.assert_close(objective, entropy)
