"""A model for CTranslate2: our parts in the places that its Transformer specification has.

Nothing of ours is beyond it: pre- and post-norm, ReLU and exact GELU, attention with and without
biases, shared matrices. Position vectors are given to it, since those that it makes by itself are
in another order and begin at 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctranslate2.specs import common_spec, transformer_spec
from ctranslate2.specs.model_spec import ACCEPTED_MODEL_TYPES

from mt.errors import UserError
from mt.export.parts import LAYER_NORM_EPSILON, Attention, Layer, Linear, Norm, Parts, Stack
from mt.text.tokenizer import EOS, SOS, UNK, Tokenizer

QUANTIZATIONS: tuple[str, ...] = tuple(sorted(ACCEPTED_MODEL_TYPES))
_ACTIVATIONS = {"relu": common_spec.Activation.RELU, "gelu": common_spec.Activation.GELU}


def write_ctranslate2(
    parts: Parts, src: Tokenizer, tgt: Tokenizer, folder: Path, quantization: str
) -> None:
    """Writes model.bin, config.json and the vocabularies into `folder`.

    Raises UserError when the vocabularies cannot be told by their tokens, which is how CTranslate2
    is spoken to.
    """
    spec = transformer_spec.TransformerSpec.from_config(
        (len(parts.encoder.layers), len(parts.decoder.layers)),
        parts.num_heads,
        pre_norm=parts.pre_norm,
        activation=_ACTIVATIONS[parts.activation],
        # Of the last layer all heads; the engine takes their mean.
        alignment_heads=parts.num_heads,
    )
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = UNK, SOS, EOS
    spec.config.decoder_start_token = SOS
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    spec.register_source_vocabulary(_tokens(src))
    spec.register_target_vocabulary(_tokens(tgt))
    _fill_stack(spec.encoder, parts.encoder, parts)
    _fill_stack(spec.decoder, parts.decoder, parts)
    _fill_linear(spec.decoder.projection, parts.projection)
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


def _tokens(tokenizer: Tokenizer) -> list[str]:
    tokens = list(tokenizer.vocabulary)
    if len(tokens) != tokenizer.vocab_size:
        raise UserError(
            f"the {tokenizer.language} vocabulary has {tokenizer.vocab_size} ids and "
            f"{len(tokens)} different tokens; CTranslate2 tells ids by their tokens; train again "
            "with a tokenizer that `mt train` makes, or export with --format onnx"
        )
    return tokens


def _fill_stack(spec: Any, stack: Stack, parts: Parts) -> None:
    embeddings = spec.embeddings
    (embeddings[0] if isinstance(embeddings, list) else embeddings).weight = stack.embedding
    spec.position_encodings.encodings = parts.positions
    if stack.norm is not None:
        _fill_norm(spec.layer_norm, stack.norm)
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        _fill_layer(layer_spec, layer)


def _fill_layer(spec: Any, layer: Layer) -> None:
    _fill_attention(spec.self_attention, layer.attention)
    sublayers = [spec.self_attention]
    if layer.cross_attention is not None:
        _fill_attention(spec.attention, layer.cross_attention)
        sublayers.append(spec.attention)
    _fill_linear(spec.ffn.linear_0, layer.inner)
    _fill_linear(spec.ffn.linear_1, layer.outer)
    for sublayer, norm in zip([*sublayers, spec.ffn], layer.norms, strict=True):
        _fill_norm(sublayer.layer_norm, norm)


def _fill_attention(spec: Any, attention: Attention) -> None:
    linears: Sequence[Linear] = (*attention.projections, attention.output)
    for linear_spec, linear in zip(spec.linear, linears, strict=True):
        _fill_linear(linear_spec, linear)


def _fill_linear(spec: Any, linear: Linear) -> None:
    spec.weight = linear.weight
    if linear.bias is not None:
        spec.bias = linear.bias


def _fill_norm(spec: Any, norm: Norm) -> None:
    spec.gamma, spec.beta = norm.gamma, norm.beta
