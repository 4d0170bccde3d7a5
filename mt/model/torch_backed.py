"""The same model on torch.nn.TransformerEncoder and Decoder, behind the model interface.

It has no cache: its state keeps the target tokens and reads them again at every step.
Letters: B pairs, S source length, T target length, D model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from mt.data.masks import causal_mask
from mt.model.interface import State, Tie, TranslationModel
from mt.model.layers import Shape


@dataclass
class PrefixState:
    """The memory, and the target tokens so far."""

    memory: Tensor  # (B, S, D)
    src_padding: Tensor | None  # (B, S)
    prefix: Tensor  # (B, T) ids
    watch: bool = False
    attention: Tensor | None = None  # of the last `advance`, if watched: (B, L, H, T, S)

    def reorder(self, rows: Tensor) -> None:
        self.follow(rows)
        self.memory = self.memory.index_select(0, rows)
        if self.src_padding is not None:
            self.src_padding = self.src_padding.index_select(0, rows)

    def follow(self, rows: Tensor) -> None:
        self.prefix = self.prefix.index_select(0, rows)


class TorchTransformer(TranslationModel):
    """torch's own stacks; attention always with biases, final norms with pre-norm only."""

    def __init__(
        self, src_vocab: int, tgt_vocab: int, shape: Shape, depth: tuple[int, int], tie: Tie
    ) -> None:
        super().__init__(src_vocab, tgt_vocab, shape.d_model, shape.dropout, tie)
        pre = shape.norm == "pre"
        layer = (shape.d_model, shape.num_heads, shape.d_ff, shape.dropout, shape.activation)

        def final_norm() -> nn.LayerNorm | None:
            return nn.LayerNorm(shape.d_model) if pre else None

        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*layer, batch_first=True, norm_first=pre),
            depth[0],
            norm=final_norm(),
            enable_nested_tensor=False,  # it would drop columns that are padding in every row
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*layer, batch_first=True, norm_first=pre),
            depth[1],
            norm=final_norm(),
        )

    def encode(self, src: Tensor, src_padding: Tensor | None) -> Tensor:
        embedded = self.src_embedding(src)  # (B, S, D)
        memory: Tensor = self.encoder(embedded, src_key_padding_mask=src_padding)
        return memory

    def start(
        self, memory: Tensor, src_padding: Tensor | None, watch: bool = False, beams: int = 1
    ) -> PrefixState:
        memory = memory.repeat_interleave(beams, dim=0)
        if src_padding is not None:
            src_padding = src_padding.repeat_interleave(beams, dim=0)
        nothing = torch.empty(memory.size(0), 0, dtype=torch.long, device=memory.device)
        return PrefixState(memory, src_padding, nothing, watch)

    def advance(self, tgt: Tensor, state: State) -> Tensor:
        assert isinstance(state, PrefixState)
        state.prefix = torch.cat((state.prefix, tgt), dim=1)
        length = state.prefix.size(1)
        hidden = ~causal_mask(length, length, tgt.device)  # torch's masks say where not to look
        with self._watching(state.watch) as watched:
            features: Tensor = self.decoder(
                self.tgt_embedding(state.prefix),
                state.memory,
                tgt_mask=hidden,
                tgt_is_causal=True,
                memory_key_padding_mask=state.src_padding,
            )
        if watched:
            state.attention = torch.stack(watched, dim=1)[..., -tgt.size(1) :, :]
        return features[:, -tgt.size(1) :]

    @contextmanager
    def _watching(self, watch: bool) -> Iterator[list[Tensor]]:
        """Collects the weights (B, H, T, S) of each layer, which torch's layers do not ask for."""
        watched: list[Tensor] = []
        hooks = []

        def ask(_: nn.Module, inputs: Any, options: dict[str, Any]) -> Any:
            return inputs, {**options, "need_weights": True, "average_attn_weights": False}

        def take(_: nn.Module, __: Any, output: tuple[Tensor, Tensor]) -> None:
            watched.append(output[1])

        for layer in cast(list[nn.TransformerDecoderLayer], self.decoder.layers) if watch else ():
            hooks.append(layer.multihead_attn.register_forward_pre_hook(ask, with_kwargs=True))
            hooks.append(layer.multihead_attn.register_forward_hook(take))
        try:
            yield watched
        finally:
            for hook in hooks:
                hook.remove()
