"""What search and training know of a model, whichever layers it is made of; no layers here.

Letters: B pairs, K hypotheses of each, R = B K rows, S source length, T target length, D model,
V target vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, Protocol

from torch import Tensor, nn

from mt.model.embedding import TokenEmbedding

Tie = Literal["none", "decoder", "all"]  # which embeddings the output layer is one with


class State(Protocol):
    """What the decoder remembers of a batch: the memory, and the target tokens so far.

    `attention` has the cross-attention weights of the last `advance` if the state is watched:
    (R, L, H, T, S) for L layers and H heads, rows summing to 1; else None.
    """

    attention: Tensor | None

    def reorder(self, rows: Tensor) -> None:
        """Keeps these rows, in this order; a row may be named more than once.

        Each K of them must be of one pair.
        """

    def follow(self, rows: Tensor) -> None:
        """Row i goes on after the tokens of row `rows[i]`, which must be of the same pair."""


class TranslationModel(nn.Module, ABC):
    """Embeddings and output layer around an encoder and a decoder (Vaswani et al. 2017, fig. 1)."""

    def __init__(
        self, src_vocab: int, tgt_vocab: int, d_model: int, dropout: float, tie: Tie
    ) -> None:
        super().__init__()
        self.src_embedding = TokenEmbedding(src_vocab, d_model, dropout)
        self.tgt_embedding = TokenEmbedding(tgt_vocab, d_model, dropout)
        self.projection = nn.Linear(d_model, tgt_vocab)
        if tie in ("decoder", "all"):  # section 3.4
            self.projection.weight = self.tgt_embedding.weight
        if tie == "all":
            assert src_vocab == tgt_vocab, "one vocabulary is needed to share all embeddings"
            self.src_embedding.weight = self.tgt_embedding.weight

    @abstractmethod
    def encode(self, src: Tensor, src_padding: Tensor | None) -> Tensor:
        """src (B, S) ids, padding mask (B, S) or None for no padding, to memory (B, S, D)."""

    @abstractmethod
    def start(
        self, memory: Tensor, src_padding: Tensor | None, watch: bool = False, beams: int = 1
    ) -> State:
        """The state before the first target token, of `beams` hypotheses for each pair.

        Row i is of pair i // beams. `watch` keeps the attention at each step.
        """

    @abstractmethod
    def advance(self, tgt: Tensor, state: State) -> Tensor:
        """Reads the next tokens tgt (R, T) into `state`; features (R, T, D) for the ones after."""

    def decode(self, tgt: Tensor, state: State) -> Tensor:
        """`advance`, then logits (R, T, V)."""
        logits: Tensor = self.projection(self.advance(tgt, state))
        return logits

    def features(self, src: Tensor, src_padding: Tensor | None, tgt_in: Tensor) -> Tensor:
        """(B, T, D) for whole target sentences, each position seeing only those before it."""
        memory = self.encode(src, src_padding)
        return self.advance(tgt_in, self.start(memory, src_padding))

    def forward(self, src: Tensor, src_padding: Tensor | None, tgt_in: Tensor) -> Tensor:
        """Logits (B, T, V) for whole target sentences."""
        logits: Tensor = self.projection(self.features(src, src_padding, tgt_in))
        return logits
