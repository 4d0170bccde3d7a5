"""Model folders of the shape of each preset, tiny and untrained, whose weights are all random."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mt.config import Config
from mt.config_file import load_config
from mt.data.frame import frame
from mt.data.ragged import Ids
from mt.model.build import build_model
from mt.storage.checkpoint import write_checkpoint
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID, Tokenizer
from tests.conftest import ROOT, toy_pairs

SIZE = {"num_layers": 2, "encoder_layers": None, "decoder_layers": None, "d_model": 16,
        "num_heads": 4, "d_ff": 24, "dropout": 0.0}  # fmt: skip
END = 2.0  # how much likelier the end is made, so that some sentences end by themselves
PRESETS = {path.stem: path for path in sorted((ROOT / "configs").rglob("*.yaml"))}
# Every preset, and the reference recipe with what no preset has.
SHAPES: dict[str, dict[str, Any]] = {
    **{name: {} for name in PRESETS},
    "deep encoder, output tied": {
        "encoder_layers": 3,
        "decoder_layers": 1,
        "tie_embeddings": "decoder",
    },
    "all tied": {"tie_embeddings": "all", "activation": "gelu"},
    "all tied, post-norm, without attention biases": {"tie_embeddings": "all", "norm": "post"},
    "torch, pre-norm": {"implementation": "torch", "attention_bias": True, "activation": "gelu"},
}


def config_of(shape: str) -> Config:
    """The config of a shape, made tiny."""
    data = load_config(PRESETS.get(shape, PRESETS["opus_books_en_it"])).model_dump()
    data["data"]["max_length"] = 30
    data["model"] |= SIZE | SHAPES[shape]
    data["tokenizer"] = {"min_frequency": 1}
    if data["model"]["tie_embeddings"] == "all":
        data["tokenizer"] = {"kind": "bpe", "vocab_size": 300, "shared": True}
    return Config.model_validate(data)


def random_model(path: Path, shape: str, step: int = 1) -> ModelFolder:
    """A model folder with one checkpoint, in which no parameter is neutral."""
    config, folder = config_of(shape), ModelFolder(path)
    path.mkdir(parents=True, exist_ok=True)
    src, tgt = _tokenizers(config)
    for tokenizer in (src, tgt):
        tokenizer.save(folder.tokenizer_file(tokenizer.language))
    model = build_model(config.model, src.vocab_size, tgt.vocab_size)
    generator = torch.Generator().manual_seed(step)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
        model.projection.bias[EOS_ID] += END
        model.projection.bias[[PAD_ID, SOS_ID]] -= 20.0  # no trained model says them
    parts = {"model": {name: p.detach() for name, p in model.named_parameters()}}
    state = {"tokenizers": folder.tokenizer_state(src, tgt)}
    folder.checkpoints.mkdir(exist_ok=True)
    write_checkpoint(folder.checkpoints, step, parts, state)
    folder.data_file.write_text(json.dumps({"splits": {}}), "utf-8")
    folder.write_config(config)
    return folder


def _tokenizers(config: Config) -> tuple[Tokenizer, Tokenizer]:
    src, tgt = zip(*toy_pairs(60), strict=True)
    languages = config.data.src, config.data.tgt
    if config.tokenizer.shared:
        return Tokenizer.train_shared(src, tgt, languages, config.tokenizer)
    return (
        Tokenizer.train(src, languages[0], config.tokenizer, "src"),
        Tokenizer.train(tgt, languages[1], config.tokenizer, "tgt"),
    )


def sources(tokenizer: Tokenizer, lengths: tuple[int, ...] = (6, 3, 1, 9)) -> list[Ids]:
    """Random sentences of so many tokens, framed."""
    chance = np.random.default_rng(5)
    return [frame(chance.integers(4, tokenizer.vocab_size, length)) for length in lengths]
