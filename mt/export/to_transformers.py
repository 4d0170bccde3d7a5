"""A post-norm model as a MarianMT folder of Hugging Face transformers; ids in, ids out.

Marian's layers are ours with post-norm, but its position vectors hold all sines first and then all
cosines, where ours take turns. The D channels of a model may stand in any order as long as all of
its matrices agree, so they are put in Marian's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from mt.errors import UserError
from mt.export.parts import Array, Attention, Layer, Linear, Norm, Parts, Stack
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID

QUANTIZATIONS = ("float32",)


def write_transformers(parts: Parts, folder: Path, languages: tuple[str, str]) -> None:
    """Writes config.json, generation_config.json, model.safetensors and README.txt into `folder`.

    Raises UserError for pre-norm, which Marian has not.
    """
    if parts.pre_norm:
        raise UserError(
            "--format transformers: the model has model.norm pre, and the Marian type of "
            "transformers has post-norm layers alone; export with --format ctranslate2 or onnx"
        )
    target_tied, _ = parts.tied
    for name, content in (
        ("config.json", _config(parts)),
        ("generation_config.json", _generation(parts)),
    ):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    tensors = _tensors(parts)
    if target_tied:
        del tensors["lm_head.weight"]
    save_file(
        {name: np.ascontiguousarray(array) for name, array in tensors.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    text = _README.format(src=languages[0], tgt=languages[1], sos=SOS_ID, eos=EOS_ID)
    (folder / "README.txt").write_text(text, encoding="utf-8")


def _config(parts: Parts) -> Mapping[str, Any]:
    target_tied, all_tied = parts.tied
    shape: dict[str, Any] = {}
    for side, stack in (("encoder", parts.encoder), ("decoder", parts.decoder)):
        shape[f"{side}_layers"] = len(stack.layers)
        shape[f"{side}_attention_heads"] = parts.num_heads
        shape[f"{side}_ffn_dim"] = len(stack.layers[0].inner.weight)
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "d_model": parts.d_model,
        **shape,
        "activation_function": parts.activation,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "normalize_before": False,
        "max_position_embeddings": len(parts.positions),
        "vocab_size": len(parts.encoder.embedding),
        "decoder_vocab_size": len(parts.decoder.embedding),
        "share_encoder_decoder_embeddings": all_tied,
        "tie_word_embeddings": target_tied,
        "dropout": 0.0,
        "dtype": "float32",
        **_ids(),
    }


def _generation(parts: Parts) -> Mapping[str, Any]:
    """Greedy search as `mt translate` does it."""
    return {
        **_ids(),
        "num_beams": 1,
        "do_sample": False,
        "max_length": len(parts.positions),
        "min_new_tokens": 1,  # a sentence never becomes nothing
        "suppress_tokens": [PAD_ID, SOS_ID],
    }


def _ids() -> dict[str, Any]:
    return {
        "pad_token_id": PAD_ID,
        "bos_token_id": SOS_ID,
        "eos_token_id": EOS_ID,
        "decoder_start_token_id": SOS_ID,
        "forced_eos_token_id": None,
    }


def _tensors(parts: Parts) -> dict[str, Array]:
    order = np.concatenate((np.arange(0, parts.d_model, 2), np.arange(1, parts.d_model, 2)))
    bias = parts.projection.bias
    assert bias is not None
    tensors = {
        "final_logits_bias": bias[None],
        "lm_head.weight": parts.projection.weight[:, order],
    }
    _, all_tied = parts.tied
    if all_tied:
        tensors["model.shared.weight"] = parts.encoder.embedding[:, order]
    for side, stack in (("encoder", parts.encoder), ("decoder", parts.decoder)):
        if not all_tied:
            tensors[f"model.{side}.embed_tokens.weight"] = stack.embedding[:, order]
        for i, layer in enumerate(stack.layers):
            for name, array in _layer(layer, stack, order).items():
                tensors[f"model.{side}.layers.{i}.{name}"] = array
    return tensors


def _layer(layer: Layer, stack: Stack, order: Any) -> dict[str, Array]:
    tensors: dict[str, Array] = {}
    sublayers = [("self_attn", layer.attention)]
    if layer.cross_attention is not None:
        sublayers.append(("encoder_attn", layer.cross_attention))
    for name, attention in sublayers:
        tensors |= _attention(attention, name, order)
    tensors |= _linear(_reading(layer.inner, order), "fc1")
    tensors |= _linear(_writing(layer.outer, order), "fc2")
    names = [f"{name}_layer_norm" for name, _ in sublayers] + ["final_layer_norm"]
    for name, norm in zip(names, layer.norms, strict=True):
        tensors |= _norm(norm, name, order)
    return tensors


def _attention(attention: Attention, name: str, order: Any) -> dict[str, Array]:
    """Channels inside of heads stay where they are; only what is read and written is reordered."""
    weights = np.concatenate([linear.weight for linear in attention.projections])
    tensors = _linear(_writing(attention.output, order), f"{name}.out_proj")
    biases: list[Array | None] = [None, None, None]
    if attention.projections[0].bias is not None:
        joined = [linear.bias for linear in attention.projections if linear.bias is not None]
        biases = list(np.split(np.concatenate(joined), 3))
    for kind, weight, bias in zip("qkv", np.split(weights, 3), biases, strict=True):
        tensors |= _linear(_reading(Linear(weight, bias), order), f"{name}.{kind}_proj")
    return tensors


def _reading(linear: Linear, order: Any) -> Linear:
    """A matrix that reads D channels, for channels in another order."""
    return Linear(linear.weight[:, order], linear.bias)


def _writing(linear: Linear, order: Any) -> Linear:
    """A matrix that writes D channels, for channels in another order."""
    return Linear(linear.weight[order], None if linear.bias is None else linear.bias[order])


def _linear(linear: Linear, name: str) -> dict[str, Array]:
    """A matrix and its bias, which Marian always has: 0 where ours has none."""
    zeros = np.zeros(len(linear.weight), np.float32)
    return {
        f"{name}.weight": linear.weight,
        f"{name}.bias": zeros if linear.bias is None else linear.bias,
    }


def _norm(norm: Norm, name: str, order: Any) -> dict[str, Array]:
    return {f"{name}.weight": norm.gamma[order], f"{name}.bias": norm.beta[order]}


_README = """\
A translation model, {src} to {tgt}, for Hugging Face transformers:

  from transformers import MarianMTModel
  model = MarianMTModel.from_pretrained(FOLDER)
  output = model.generate(input_ids)        # each row: {sos} ids {eos}, see tokenizer_{src}.json

It takes and gives ids. Text becomes ids and ids become text by tokenizer_{src}.json and
tokenizer_{tgt}.json, with class Tokenizer of mt. MarianTokenizer reads SentencePiece files alone.
"""
