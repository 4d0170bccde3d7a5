"""The two kinds of mask, made in one place for training and translating alike.

A padding mask is True at padding; an attention mask is True where attention may look.
Letters: B pairs, S source length, T target length.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor | None:
    """(B, S) ids to (B, S) True at padding, or None when no row is padded."""
    padding = ids == pad_id
    return padding if bool(padding.any()) else None


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """(queries, keys) attention mask for the last `queries` of `keys` positions: no future."""
    mask = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return mask.tril(diagonal=keys - queries)


def attention_mask(padding: Tensor | None) -> Tensor | None:
    """(B, S) padding mask to (B, 1, 1, S) attention mask over keys, for all heads and queries."""
    return None if padding is None else ~padding[:, None, None, :]
