"""From a config to a model with its first weights; the one place where the config meets layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.attention import FusedLinear
from mt.model.interface import TranslationModel
from mt.model.layers import Shape
from mt.model.torch_backed import TorchTransformer
from mt.model.transformer import Transformer


def build_model(
    config: ModelConfig, src_vocab: int, tgt_vocab: int, seed: int = 0, init: bool = True
) -> TranslationModel:
    """A model on the CPU; its weights are a function of (config, vocabulary sizes, seed).

    Without `init` they are whatever torch leaves there, for weights that are read from a file.
    """
    shape = Shape(
        config.d_model,
        config.num_heads,
        config.d_ff,
        config.dropout,
        config.norm,
        config.activation,
        config.attention_bias,
    )
    kind = Transformer if config.implementation == "native" else TorchTransformer
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(src_vocab, tgt_vocab, shape, config.depth, config.tie_embeddings)
        if init:
            initialise(model, config.init)
            if config.embedding_init != "matrix":  # training brings in the lexicon, if any
                _unit_embeddings(model)
    return model


def bytes_to_train(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> int:
    """Memory for weights, gradients and both moments in fp32, without building the model."""
    with torch.device("meta"):
        return 16 * count_parameters(build_model(config, src_vocab, tgt_vocab, init=False))


def initialise(model: nn.Module, init: str) -> None:
    """Draws every matrix by Glorot and Bengio 2010; matrices that are fused, each by itself."""
    draw = {"xavier_normal": nn.init.xavier_normal_, "xavier_uniform": nn.init.xavier_uniform_}[
        init
    ]
    fused = fused_parts(model)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            part: Tensor
            for part in parameter.detach().chunk(fused.get(id(parameter), 1)):
                draw(part)


def _unit_embeddings(model: nn.Module) -> None:
    """Draws embeddings with variance 1 / D, so that what leaves them, times √D, has variance 1.

    Glorot's rule makes them small where the vocabulary is large: beside the positions, whose mean
    square is 1/2, words are hardly there.
    """
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)


def fused_parts(model: nn.Module) -> dict[int, int]:
    """How many matrices lie one below the other in a parameter, by its `id`; else it is one."""
    fused: dict[int, int] = {}
    for module in model.modules():
        if isinstance(module, FusedLinear):
            fused[id(module.weight)] = module.parts
        elif isinstance(module, nn.MultiheadAttention):
            fused[id(module.in_proj_weight)] = 3
    return fused


def count_parameters(model: nn.Module) -> int:
    """How many numbers training changes; shared matrices count once."""
    return sum(parameter.numel() for parameter in model.parameters())
