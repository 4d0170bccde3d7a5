"""Starting from the weights of another model: what fits is taken, what does not is said."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from mt.errors import UserError
from mt.model.interface import TranslationModel
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import Tokenizer

# Parameters with a row for each token, and whose vocabulary that is.
ROWS_OF = {
    "src_embedding.weight": 0,
    "tgt_embedding.weight": 1,
    "projection.weight": 1,
    "projection.bias": 1,
}


def init_from(
    model: TranslationModel, tokenizers: tuple[Tokenizer, Tokenizer], source: ModelFolder
) -> Iterator[str]:
    """Copies what it can from the model in `source`, and tells what it did, line by line.

    Rows of embeddings and of the output layer go by token, not by number; tokens that the other
    model lacks keep their random start. Raises `UserError` when the widths of the models differ.
    """
    config = source.read_config()
    if config.model.d_model != model.projection.in_features:
        raise UserError(
            f"{source.path.absolute()} has model.d_model "
            f"{config.model.d_model}, this model {model.projection.in_features}: they must agree"
        )
    others = source.tokenizers(config)
    weights, checkpoint = source.weights(*others)
    taken, left = 0, []
    for name, parameter in model.named_parameters():
        if name in ROWS_OF and name in weights and parameter.shape[1:] == weights[name].shape[1:]:
            side = ROWS_OF[name]
            copy_rows(parameter, weights[name], tokenizers[side], others[side])
            taken += 1
        elif name in weights and parameter.shape == weights[name].shape:
            with torch.no_grad():
                parameter.copy_(weights[name])
            taken += 1
        else:
            left.append(name)
    yield f"init from    {checkpoint}: {taken} of {taken + len(left)} parameters taken"
    for here, there in zip(tokenizers, others, strict=True):
        shared = len(here.vocabulary.keys() & there.vocabulary.keys())
        yield (
            f"init from    {here.language}: {shared:,} of {here.vocab_size:,} tokens known there; "
            "the others start at random"
        )
    if left:
        yield f"init from    not taken, as it does not fit: {', '.join(left)}"


def copy_rows(parameter: Tensor, weights: Tensor, here: Tokenizer, there: Tokenizer) -> None:
    """Copies the rows of `weights` (V', …) to those of `parameter` (V, …) for the same tokens."""
    known = there.vocabulary
    pairs = [(i, known[token]) for token, i in here.vocabulary.items() if token in known]
    rows, others = torch.tensor(pairs).T
    with torch.no_grad():
        parameter[rows] = weights[others].to(parameter)
