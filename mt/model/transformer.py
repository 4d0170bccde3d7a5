"""The native Transformer: stacks of this project's layers behind the model interface.

Letters: B pairs, K hypotheses of each, R = B K, S source length, T target length, D model,
H heads, C = D / H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from mt.data.masks import attention_mask
from mt.model.interface import State, Tie, TranslationModel
from mt.model.layers import DecoderLayer, EncoderLayer, Shape
from mt.model.past import KeysValues, Past


@dataclass
class CachedState:
    """Keys and values per layer: of the memory, made once, and of the target tokens so far."""

    memory: list[KeysValues]  # per layer, each (B, H, S, C)
    mask: Tensor | None  # attention mask over the memory (B, 1, 1, S)
    past: list[Past]  # per layer
    watch: bool = False
    beams: int = 1  # K
    length: int = 0  # T, target tokens read so far
    attention: Tensor | None = None  # of the last `advance`, if watched: (R, L, H, T, S)

    def reorder(self, rows: Tensor) -> None:
        self.follow(rows)
        pairs = rows[:: self.beams] // self.beams  # whose memory they look at
        self.memory = [(k.index_select(0, pairs), v.index_select(0, pairs)) for k, v in self.memory]
        if self.mask is not None:
            self.mask = self.mask.index_select(0, pairs)

    def follow(self, rows: Tensor) -> None:
        for past in self.past:
            past.reorder(rows)


class Transformer(TranslationModel):
    """Encoder and decoder of Vaswani et al. 2017; pre-norm stacks end in a norm of their own."""

    def __init__(
        self, src_vocab: int, tgt_vocab: int, shape: Shape, depth: tuple[int, int], tie: Tie
    ) -> None:
        super().__init__(src_vocab, tgt_vocab, shape.d_model, shape.dropout, tie)
        self.encoder = nn.ModuleList(EncoderLayer(shape) for _ in range(depth[0]))
        self.decoder = nn.ModuleList(DecoderLayer(shape) for _ in range(depth[1]))
        # A post-norm layer ends normalised; the sum that leaves a pre-norm stack is not.
        self.encoder_norm = nn.LayerNorm(shape.d_model) if shape.norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(shape.d_model) if shape.norm == "pre" else nn.Identity()

    def encode(self, src: Tensor, src_padding: Tensor | None) -> Tensor:
        x = self.src_embedding(src)  # (B, S, D)
        mask = attention_mask(src_padding)
        for layer in self.encoder:
            x = layer(x, mask)
        memory: Tensor = self.encoder_norm(x)
        return memory

    def start(
        self, memory: Tensor, src_padding: Tensor | None, watch: bool = False, beams: int = 1
    ) -> CachedState:
        layers = cast(list[DecoderLayer], list(self.decoder))
        keys_values = [layer.cross_attention.keys_values(memory) for layer in layers]
        past = [Past() for _ in layers]
        return CachedState(keys_values, attention_mask(src_padding), past, watch, beams)

    def advance(self, tgt: Tensor, state: State) -> Tensor:
        assert isinstance(state, CachedState)
        x = self.tgt_embedding(tgt, state.length)  # (R, T, D)
        watched: list[Tensor] | None = [] if state.watch else None
        for i, layer in enumerate(self.decoder):
            x = layer(x, state.past[i], state.memory[i], state.mask, watched)
        state.attention = torch.stack(watched, dim=1) if watched else None
        state.length += tgt.size(1)
        features: Tensor = self.decoder_norm(x)
        return features
