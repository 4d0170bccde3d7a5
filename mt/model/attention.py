"""Multi-head attention over the tokens themselves and over the memory, with cached keys, values.

Letters: B pairs, T queries, S keys, D model, H heads, C = D / H channels of a head.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mt.data.masks import causal_mask
from mt.model.dropout import dropout
from mt.model.past import KeysValues, Past


class FusedLinear(nn.Linear):
    """`parts` projections D -> D side by side in one matrix product."""

    def __init__(self, d_model: int, parts: int, bias: bool) -> None:
        super().__init__(d_model, parts * d_model, bias=bias)
        self.parts = parts


class _Heads(nn.Module):
    """What both kinds of attention share: splitting into heads, mixing, and the output matrix."""

    def __init__(self, d_model: int, num_heads: int, dropout: float, bias: bool) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        self.output = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        # (B, T, D) -> (B, T, H, C) -> (B, H, T, C)
        return x.view(batch, length, self.num_heads, width // self.num_heads).transpose(1, 2)

    def mix(
        self, query: Tensor, keys_values: KeysValues, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """softmax(QKᵀ / √C) V, heads joined (Vaswani et al. 2017, 3.2)."""
        share = self.dropout if self.training else 0.0
        if share and query.device.type == "cpu":
            mixed = _written_out(query, keys_values, mask, causal, share)
        else:
            mixed = F.scaled_dot_product_attention(
                query, *keys_values, attn_mask=mask, dropout_p=share, is_causal=causal
            )
        # (B, H, T, C) -> (B, T, H, C) -> (B, T, D)
        joined: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return joined


def _written_out(
    query: Tensor, keys_values: KeysValues, mask: Tensor | None, causal: bool, share: float
) -> Tensor:
    """(B, H, T, C), as torch does it with dropout on a CPU too, but with our cheaper dropout."""
    weights = attention_weights(query, keys_values[0], mask, causal)
    mixed: Tensor = dropout(weights, share) @ keys_values[1]
    return mixed


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool = False
) -> Tensor:
    """softmax(QKᵀ / √C): (B, H, T, S), rows sum to 1 (Vaswani et al. 2017, equation 1)."""
    scores: Tensor = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if causal:
        mask = causal_mask(query.size(2), key.size(2), query.device)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights: Tensor = scores.softmax(dim=-1)
    return weights


class SelfAttention(_Heads):
    """Tokens attend to tokens of their own side."""

    def __init__(self, d_model: int, num_heads: int, dropout: float, bias: bool) -> None:
        super().__init__(d_model, num_heads, dropout, bias)
        self.query_key_value = FusedLinear(d_model, 3, bias)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x (B, T, D), attention mask (B, 1, 1, T) or None, to (B, T, D): all see all."""
        query, key, value = map(self.split, self.query_key_value(x).chunk(3, dim=-1))
        return self.mix(query, (key, value), mask)

    def continued(self, x: Tensor, past: Past) -> Tensor:
        """x (B, T, D), none seeing a later one, after the tokens of `past`, which takes them in."""
        query, key, value = map(self.split, self.query_key_value(x).chunk(3, dim=-1))
        first = past.length == 0
        keys_values = past.append(key, value)
        if x.size(1) == 1 or first:
            return self.mix(query, keys_values, None, causal=x.size(1) > 1)
        return self.mix(query, keys_values, causal_mask(x.size(1), past.length, x.device))


class CrossAttention(_Heads):
    """Target tokens of R = B K rows attend to the memory of B sentences, K rows to each."""

    def __init__(self, d_model: int, num_heads: int, dropout: float, bias: bool) -> None:
        super().__init__(d_model, num_heads, dropout, bias)
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key_value = FusedLinear(d_model, 2, bias)

    def keys_values(self, memory: Tensor) -> KeysValues:
        """memory (B, S, D) to keys and values (B, H, S, C), the same for every target token."""
        key, value = map(self.split, self.key_value(memory).chunk(2, dim=-1))
        return key, value

    def weights(self, x: Tensor, keys_values: KeysValues, mask: Tensor | None) -> Tensor:
        """How much of each memory place a target token takes: (R, H, T, S), rows sum to 1."""
        queries = self.split(self.query(self._queries(x, keys_values)))
        weights = attention_weights(queries, keys_values[0], mask)
        batch, heads, _, places = weights.shape
        # (B, H, K T, S) -> (B, H, K, T, S) -> (B, K, H, T, S) -> (R, H, T, S)
        apart = weights.view(batch, heads, -1, x.size(1), places).transpose(1, 2)
        return apart.flatten(0, 1)

    def forward(self, x: Tensor, keys_values: KeysValues, mask: Tensor | None) -> Tensor:
        """x (R, T, D) to (R, T, D), looking at the memory where mask (B, 1, 1, S) allows."""
        queries = self._queries(x, keys_values)
        return self.mix(self.split(self.query(queries)), keys_values, mask).view_as(x)

    def _queries(self, x: Tensor, keys_values: KeysValues) -> Tensor:
        """(R, T, D) to (B, K T, D): all K hypotheses of a sentence, which share its memory."""
        return x.reshape(keys_values[0].size(0), -1, x.size(2))
