"""Ids to vectors: token embeddings and sinusoidal positions.

Letters: B pairs, T length, D model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mt.model.dropout import Dropout


class TokenEmbedding(nn.Embedding):
    """Embedding times √D, plus positions, with dropout (Vaswani et al. 2017, 3.4, 3.5 and 5.4)."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, dropout: float) -> None:
        super().__init__(vocab_size, d_model)
        self.scale = math.sqrt(d_model)
        self.dropout = Dropout(dropout)
        self.register_buffer("positions", sinusoids(512, d_model), persistent=False)

    def forward(self, ids: Tensor, offset: int = 0) -> Tensor:
        """ids (B, T), the first of them at position `offset`, to (B, T, D)."""
        end = offset + ids.size(1)
        if end > len(self.positions):
            self.positions = sinusoids(2 * end, self.embedding_dim).to(self.positions)
        vectors = super().forward(ids) * self.scale + self.positions[offset:end]
        dropped: Tensor = self.dropout(vectors)
        return dropped


def sinusoids(length: int, d_model: int) -> Tensor:
    """(length, D): sin(p / 10000^(2i/D)) at 2i, the cosine at 2i + 1 (Vaswani et al. 2017, 3.5)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = position * frequency  # (length, D/2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()
