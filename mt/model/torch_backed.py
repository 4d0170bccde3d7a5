"""The same model on torch.nn.TransformerEncoder and Decoder, behind the model interface.

It has no cache: its state keeps the target tokens and reads them again at every step.
Letters: B pairs, S source length, T target length, D model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mt.data.masks import causal_mask
from mt.model.interface import State, TranslationModel
from mt.model.layers import Activation, Norm


@dataclass
class PrefixState:
    """The memory, and the target tokens so far."""

    memory: Tensor  # (B, S, D)
    src_padding: Tensor | None  # (B, S)
    prefix: Tensor  # (B, T) ids

    def reorder(self, rows: Tensor) -> None:
        self.memory = self.memory.index_select(0, rows)
        self.prefix = self.prefix.index_select(0, rows)
        if self.src_padding is not None:
            self.src_padding = self.src_padding.index_select(0, rows)


class TorchTransformer(TranslationModel):
    """torch's own stacks; attention always with biases, final norms with pre-norm only."""

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        *,
        encoder_layers: int,
        decoder_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        norm: Norm,
        activation: Activation,
        tie_embeddings: str,
    ) -> None:
        super().__init__(src_vocab, tgt_vocab, d_model, dropout, tie_embeddings)
        pre = norm == "pre"

        def final_norm() -> nn.LayerNorm | None:
            return nn.LayerNorm(d_model) if pre else None

        shape = (d_model, num_heads, d_ff, dropout, activation)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*shape, batch_first=True, norm_first=pre),
            encoder_layers,
            norm=final_norm(),
            enable_nested_tensor=False,  # it would drop columns that are padding in every row
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*shape, batch_first=True, norm_first=pre),
            decoder_layers,
            norm=final_norm(),
        )

    def encode(self, src: Tensor, src_padding: Tensor | None) -> Tensor:
        embedded = self.src_embedding(src)  # (B, S, D)
        memory: Tensor = self.encoder(embedded, src_key_padding_mask=src_padding)
        return memory

    def start(self, memory: Tensor, src_padding: Tensor | None) -> PrefixState:
        nothing = torch.empty(memory.size(0), 0, dtype=torch.long, device=memory.device)
        return PrefixState(memory, src_padding, nothing)

    def advance(self, tgt: Tensor, state: State) -> Tensor:
        assert isinstance(state, PrefixState)
        state.prefix = torch.cat((state.prefix, tgt), dim=1)
        length = state.prefix.size(1)
        features: Tensor = self.decoder(
            self.tgt_embedding(state.prefix),
            state.memory,
            tgt_mask=~causal_mask(
                length, length, tgt.device
            ),  # torch's masks say where not to look
            tgt_is_causal=True,
            memory_key_padding_mask=state.src_padding,
        )
        return features[:, -tgt.size(1) :]
