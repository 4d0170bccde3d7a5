"""Encoder and decoder layers: attention and feed-forward, each in a residual connection.

Letters: B pairs, T target length, S source length, D model, F inner width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, cast

from torch import Tensor, nn

from mt.model.attention import CrossAttention, SelfAttention
from mt.model.dropout import Dropout, relu_dropout
from mt.model.past import KeysValues, Past

Norm = Literal["pre", "post"]
Activation = Literal["relu", "gelu"]


class Shape(NamedTuple):
    """What a layer is made of, in plain numbers and words; all layers of a model are alike."""

    d_model: int
    num_heads: int
    d_ff: int
    dropout: float
    norm: Norm
    activation: Activation
    attention_bias: bool


class Residual(nn.Module):
    """x + sublayer(x), with dropout and layer norm; the one place that knows pre from post.

    Post-norm is Vaswani et al. 2017, 3.1; pre-norm is Xiong et al. 2020, figure 1b.
    """

    def __init__(self, d_model: int, dropout: float, norm: Norm) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.pre = norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x (B, T, D) to (B, T, D)."""
        if self.pre:
            return x + self.dropout(sublayer(self.norm(x)))  # type: ignore[no-any-return]
        return self.norm(x + self.dropout(sublayer(x)))  # type: ignore[no-any-return]


class FeedForward(nn.Sequential):
    """(B, T, D) -> (B, T, F) -> (B, T, D), each position by itself (Vaswani et al. 2017, 3.3)."""

    def __init__(self, d_model: int, d_ff: int, dropout: float, activation: Activation) -> None:
        super().__init__(
            nn.Linear(d_model, d_ff),
            nn.ReLU(inplace=True) if activation == "relu" else nn.GELU(),
            Dropout(dropout),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) to (B, T, D); in training ReLU and dropout are one operation."""
        inner, activation, drop, outer = self
        if self.training and isinstance(activation, nn.ReLU):
            y: Tensor = outer(relu_dropout(inner(x), cast(Dropout, drop).share))
        else:
            y = outer(drop(activation(inner(x))))
        return y


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d_model, dropout = shape.d_model, shape.dropout
        self.attention = SelfAttention(d_model, shape.num_heads, dropout, shape.attention_bias)
        self.feed_forward = FeedForward(d_model, shape.d_ff, dropout, shape.activation)
        self.residuals = nn.ModuleList(Residual(d_model, dropout, shape.norm) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x (B, S, D), attention mask (B, 1, 1, S) or None, to (B, S, D)."""
        x = self.residuals[0](x, lambda y: self.attention(y, mask))
        y: Tensor = self.residuals[1](x, self.feed_forward)
        return y


class DecoderLayer(nn.Module):
    """Self-attention over the tokens so far, attention over the memory, then feed-forward."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d_model, dropout = shape.d_model, shape.dropout
        self.attention = SelfAttention(d_model, shape.num_heads, dropout, shape.attention_bias)
        self.cross_attention = CrossAttention(
            d_model, shape.num_heads, dropout, shape.attention_bias
        )
        self.feed_forward = FeedForward(d_model, shape.d_ff, dropout, shape.activation)
        self.residuals = nn.ModuleList(Residual(d_model, dropout, shape.norm) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        past: Past,
        memory: KeysValues,
        mask: Tensor | None,
        watched: list[Tensor] | None = None,
    ) -> Tensor:
        """x (R, T, D) after `past`, which takes it in, looking at the memory (B, H, S, C).

        The rows are B sentences with as many hypotheses each as R holds. The weights of that look,
        (R, H, T, S), are added to `watched`.
        """

        def look(y: Tensor) -> Tensor:
            if watched is not None:
                watched.append(self.cross_attention.weights(y, memory, mask))
            looked: Tensor = self.cross_attention(y, memory, mask)
            return looked

        x = self.residuals[0](x, lambda y: self.attention.continued(y, past))
        x = self.residuals[1](x, look)
        y: Tensor = self.residuals[2](x, self.feed_forward)
        return y
