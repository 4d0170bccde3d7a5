"""A trained model as plain arrays, the same for both implementations; no file format is known here.

Letters: D model, F inner width, V vocabulary, N numbers out, M numbers in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from mt.config import Config
from mt.model.attention import CrossAttention, SelfAttention
from mt.model.embedding import sinusoids
from mt.model.interface import TranslationModel
from mt.model.layers import Activation
from mt.model.torch_backed import TorchTransformer
from mt.model.transformer import Transformer

Array = NDArray[np.float32]
LAYER_NORM_EPSILON = 1e-5  # torch's own, which no model of ours changes
POSITIONS = 512  # at least so many, so that a model trained on short sentences can read longer ones


class Linear(NamedTuple):
    """x Wᵀ + b."""

    weight: Array  # (N, M)
    bias: Array | None  # (N,)


class Norm(NamedTuple):
    """Layer norm: normalised, times gamma, plus beta."""

    gamma: Array  # (D,)
    beta: Array  # (D,)


class Attention(NamedTuple):
    """Attention of one kind; for the one over the memory the fused matrix is in two parts."""

    projections: tuple[Linear, ...]  # (query, key and value: 3D,) or (query: D, key and value: 2D)
    output: Linear


class Layer(NamedTuple):
    """One layer; its norms stand in the order of its sublayers."""

    attention: Attention
    cross_attention: Attention | None  # decoder only
    inner: Linear  # D -> F
    outer: Linear  # F -> D
    norms: tuple[Norm, ...]


class Stack(NamedTuple):
    """An encoder or a decoder."""

    embedding: Array  # (V, D)
    layers: tuple[Layer, ...]
    norm: Norm | None  # after the last layer, with pre-norm only


@dataclass(frozen=True)
class Parts:
    """All that a Transformer is; embeddings are to be multiplied by √D."""

    encoder: Stack
    decoder: Stack
    projection: Linear  # D -> V
    positions: Array  # (longest, D), added to the embeddings
    num_heads: int
    pre_norm: bool
    activation: Activation

    @property
    def d_model(self) -> int:
        """D."""
        return int(self.positions.shape[1])

    @property
    def tied(self) -> tuple[bool, bool]:
        """Whether the target embedding is the output layer's matrix; and the source's the target's.

        Two matrices are one when they share memory.
        """
        target = self.decoder.embedding
        return (
            np.shares_memory(target, self.projection.weight),
            np.shares_memory(target, self.encoder.embedding),
        )


def parts_of(model: TranslationModel, config: Config) -> Parts:
    """The arrays of a model on the CPU; they share its memory."""
    stacks = _native(model) if isinstance(model, Transformer) else _backed(model)
    longest = max(POSITIONS, config.data.max_length)
    return Parts(
        *stacks,
        projection=_linear(model.projection),
        positions=_array(sinusoids(longest, config.model.d_model)),
        num_heads=config.model.num_heads,
        pre_norm=config.model.norm == "pre",
        activation=config.model.activation,
    )


def _native(model: Transformer) -> tuple[Stack, Stack]:
    def layers(stack: nn.Module) -> tuple[Layer, ...]:
        return tuple(_native_layer(layer) for layer in cast(nn.ModuleList, stack))

    return (
        Stack(_array(model.src_embedding.weight), layers(model.encoder), _norm(model.encoder_norm)),
        Stack(_array(model.tgt_embedding.weight), layers(model.decoder), _norm(model.decoder_norm)),
    )


def _native_layer(layer: Any) -> Layer:
    def attention(found: SelfAttention | CrossAttention) -> Attention:
        fused = (
            (found.query_key_value,)
            if isinstance(found, SelfAttention)
            else (found.query, found.key_value)
        )
        return Attention(tuple(map(_linear, fused)), _linear(found.output))

    cross = getattr(layer, "cross_attention", None)
    return Layer(
        attention(layer.attention),
        attention(cross) if cross is not None else None,
        _linear(layer.feed_forward[0]),
        _linear(layer.feed_forward[-1]),
        tuple(_some_norm(residual.norm) for residual in layer.residuals),
    )


def _backed(model: TranslationModel) -> tuple[Stack, Stack]:
    assert isinstance(model, TorchTransformer)

    def layers(stack: nn.TransformerEncoder | nn.TransformerDecoder) -> tuple[Layer, ...]:
        return tuple(_backed_layer(layer) for layer in stack.layers)

    encoder, decoder = model.encoder, model.decoder
    return (
        Stack(_array(model.src_embedding.weight), layers(encoder), _norm(encoder.norm)),
        Stack(_array(model.tgt_embedding.weight), layers(decoder), _norm(decoder.norm)),
    )


def _backed_layer(layer: Any) -> Layer:
    norms = [layer.norm1, layer.norm2]
    cross = None
    if isinstance(layer, nn.TransformerDecoderLayer):
        norms.append(layer.norm3)
        fused, width = _fused(layer.multihead_attn), layer.norm1.normalized_shape[0]
        assert fused.bias is not None
        query = Linear(fused.weight[:width], fused.bias[:width])
        key_value = Linear(fused.weight[width:], fused.bias[width:])
        cross = Attention((query, key_value), _linear(layer.multihead_attn.out_proj))
    return Layer(
        Attention((_fused(layer.self_attn),), _linear(layer.self_attn.out_proj)),
        cross,
        _linear(layer.linear1),
        _linear(layer.linear2),
        tuple(map(_some_norm, norms)),
    )


def _fused(attention: nn.MultiheadAttention) -> Linear:
    return Linear(_array(attention.in_proj_weight), _array(attention.in_proj_bias))


def _linear(linear: nn.Linear) -> Linear:
    bias = cast(Tensor | None, linear.bias)
    return Linear(_array(linear.weight), None if bias is None else _array(bias))


def _norm(norm: nn.Module | None) -> Norm | None:
    return _some_norm(norm) if isinstance(norm, nn.LayerNorm) else None


def _some_norm(norm: nn.LayerNorm) -> Norm:
    assert norm.eps == LAYER_NORM_EPSILON
    return Norm(_array(norm.weight), _array(norm.bias))


def _array(tensor: Tensor) -> Array:
    return cast(Array, tensor.detach().cpu().numpy())
