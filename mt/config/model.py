"""Tokenizers and the Transformer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from mt.config.kinds import Casing, Fraction, Mistake, Positive, Section


class TokenizerConfig(Section):
    """How sentences become tokens."""

    kind: Literal["word", "bpe", "unigram"] = Field(
        default="word",
        description="what a token is: a word, or a piece of one (learnt from at most a million "
        "lines a side, evenly spread)",
    )
    min_frequency: Positive = Field(
        default=2,
        description="words (bpe: pairs of pieces) seen less often than this are not learnt",
    )
    vocab_size: int = Field(
        default=30000, ge=5, description="at most so many tokens, the four special ones included"
    )
    shared: bool = Field(
        default=False, description="one vocabulary for both languages; bpe and unigram only"
    )
    bpe_dropout: Fraction = Field(
        default=0.0, description="share of merges left out at random in training; bpe only"
    )
    casing: Casing = Field(
        default="keep",
        description="capitals as written, none (put back in the output), or only those of names",
    )

    def mistakes(self) -> Iterator[Mistake]:
        if self.kind != "bpe" and self.bpe_dropout:
            yield ("bpe_dropout", "kind"), f"needs tokenizer.kind: bpe (it is {self.kind})"
        if self.kind == "word" and self.shared:
            yield (
                ("shared", "kind"),
                "needs tokenizer.kind bpe or unigram (it is word), or be false",
            )
        if self.kind != "word" and self.vocab_size < 300:
            yield (
                ("vocab_size", "kind"),
                f"({self.vocab_size}): must be 300 or more for {self.kind}, of which 260 are the "
                "special tokens and the bytes",
            )


class ModelConfig(Section):
    """The Transformer (Vaswani et al. 2017, section 3)."""

    implementation: Literal["native", "torch"] = Field(
        default="native",
        description="this project's layers, or torch.nn.TransformerEncoder/Decoder",
    )
    num_layers: Positive = Field(default=6, description="layers of encoder and decoder each")
    encoder_layers: Positive | None = Field(default=None, description="instead of num_layers")
    decoder_layers: Positive | None = Field(default=None, description="instead of num_layers")
    d_model: Positive = Field(default=512, description="width of the model")
    num_heads: Positive = Field(default=8, description="attention heads; divides d_model")
    d_ff: Positive = Field(default=2048, description="inner width of the feed-forward layers")
    dropout: Fraction = Field(default=0.1, description="on embeddings, sublayers and attention")
    norm: Literal["pre", "post"] = Field(
        default="pre", description="layer norm before each sublayer, or after its residual sum"
    )
    activation: Literal["relu", "gelu"] = Field(default="relu", description="in the feed-forward")
    attention_bias: bool = Field(default=False, description="biases in the attention projections")
    tie_embeddings: Literal["none", "decoder", "all"] = Field(
        default="none",
        description="share the output layer with the target embedding, or with both embeddings",
    )
    init: Literal["xavier_normal", "xavier_uniform"] = Field(
        default="xavier_normal", description="how matrices start (Glorot and Bengio 2010)"
    )
    embedding_init: Literal["matrix", "unit", "lexicon"] = Field(
        default="matrix",
        description="how embeddings start: as other matrices do; with values of variance "
        "1 / d_model, so that a token weighs as much as its position; or of that length, alike for "
        "tokens that translate each other in the training text",
    )

    @property
    def depth(self) -> tuple[int, int]:
        """Layers of the encoder and of the decoder."""
        return self.encoder_layers or self.num_layers, self.decoder_layers or self.num_layers

    def mistakes(self) -> Iterator[Mistake]:
        d, h = self.d_model, self.num_heads
        if d % h:
            low, high = d // h * h, (d // h + 1) * h
            near = f"{low} or {high}" if low else str(high)
            yield (
                ("d_model", "num_heads"),
                f"({d}) must be divisible by model.num_heads ({h}); nearest: {near}",
            )
        if d % 2:
            yield ("d_model",), f"({d}) must be even: positions are pairs of sine and cosine"
        if self.implementation == "torch" and not self.attention_bias:
            yield (
                ("attention_bias", "implementation"),
                "must be true with model.implementation torch: its attention has biases",
            )
