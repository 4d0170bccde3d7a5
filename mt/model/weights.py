"""Weights by name into a model, refused when they are of another one."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from mt.errors import UserError
from mt.model.interface import TranslationModel


def load_weights(model: TranslationModel, weights: Mapping[str, Tensor]) -> None:
    """Copies `weights`, by parameter name, into the model; shared matrices have one name.

    Raises `UserError` when they are of another model.
    """
    parameters = dict(model.named_parameters())
    for name in sorted(parameters.keys() | weights.keys()):
        here, there = (_shape(tensors, name) for tensors in (parameters, weights))
        if here != there:
            raise UserError(
                f"the config does not describe the model of the checkpoint: {name} is {there} in "
                f"the checkpoint and {here} by config.yaml; put the right config.yaml back"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def _shape(tensors: Mapping[str, Tensor], name: str) -> str:
    return " x ".join(map(str, tensors[name].shape)) if name in tensors else "not there"
