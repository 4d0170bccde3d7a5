"""Dropout: its share, its mean, its gradient, and what it does in attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from mt.model import attention as module
from mt.model.dropout import Dropout, dropout, relu_dropout


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_share_and_mean(share: float) -> None:
    torch.manual_seed(0)
    dropped = dropout(torch.ones(1001, 1003), share)
    zero = dropped == 0
    assert zero.float().mean().item() == pytest.approx(share, abs=0.002)
    assert dropped[~zero].unique().tolist() == pytest.approx([1 / (1 - share)])
    # No pattern along either side.
    assert zero.float().mean(0).std().item() == pytest.approx(
        (share * (1 - share) / 1001) ** 0.5, rel=0.1
    )
    assert zero.float().mean(1).std().item() == pytest.approx(
        (share * (1 - share) / 1003) ** 0.5, rel=0.1
    )


def test_gradient_goes_where_the_numbers_went() -> None:
    x = torch.randn(7, 9, requires_grad=True)
    dropped = dropout(x, 0.4)
    (gradient,) = torch.autograd.grad(dropped.sum(), x)
    assert torch.equal(gradient == 0, dropped == 0)
    torch.testing.assert_close(
        gradient[gradient != 0], torch.full_like(gradient[gradient != 0], 1 / 0.6)
    )


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_relu_with_dropout_is_relu_and_then_dropout(share: float) -> None:
    x, direction = torch.randn(9, 31, requires_grad=True), torch.randn(9, 31)
    torch.manual_seed(3)
    fused = relu_dropout(x * 1, share)
    torch.manual_seed(3)
    plain = dropout(x.relu(), share)
    assert torch.equal(fused, plain)
    gradients = [torch.autograd.grad(y, x, direction)[0] for y in (fused, plain)]
    torch.testing.assert_close(*gradients)


def test_a_function_of_the_seed_and_nothing_in_evaluation() -> None:
    layer, x = Dropout(0.5), torch.randn(4, 6)
    torch.manual_seed(1)
    first = layer(x)
    torch.manual_seed(1)
    assert torch.equal(layer(x), first)
    assert not torch.equal(layer(x), first)
    assert layer.eval()(x) is x
    assert dropout(x, 0.0) is x


@pytest.mark.parametrize("causal", [True, False])
def test_attention_written_out_is_torchs_but_for_the_dropout(
    causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "dropout", lambda x, share: x)
    query, key, value = torch.randn(3, 2, 4, 5, 8).unbind(0)
    mask = None if causal else (torch.arange(5) < 4)[None, None, None, :]
    got = module._written_out(query, (key, value), mask, causal, 0.1)
    expected = F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
    torch.testing.assert_close(got, expected)
