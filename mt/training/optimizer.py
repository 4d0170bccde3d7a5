"""The optimizer: Adam, AdamW or Muon over a model's parameters, and its state as named tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mt.config import TrainingConfig
from mt.model.build import fused_parts
from mt.model.interface import TranslationModel
from mt.training.muon import Muon

MOMENTS = ("exp_avg", "exp_avg_sq", "momentum")  # two of Adam, one of Muon


def build_optimizer(model: TranslationModel, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019) or Muon (Jordan et al. 2024).

    Weight decay is for matrices; it spares norms, biases and embeddings. Muon is for the matrices
    between embeddings and output layer; AdamW does the rest.
    """
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    matrices = [p for p in model.parameters() if p.dim() > 1 and id(p) not in embeddings]
    others = [p for p in model.parameters() if p.dim() <= 1 or id(p) in embeddings]
    if config.optimizer != "muon":
        return _adam(matrices, others, config)
    hidden = [p for p in matrices if p is not model.projection.weight]
    output = [p for p in matrices if p is model.projection.weight]
    parts = fused_parts(model)
    return Muon(
        [(p, parts.get(id(p), 1)) for p in hidden],
        _adam(output, others, config),
        lr=config.matrix_lr,
        weight_decay=config.weight_decay,
        lr_scale=config.matrix_lr / config.lr,  # so both learning rates follow the schedule
    )


def _adam(
    decayed: Sequence[Tensor], others: Sequence[Tensor], config: TrainingConfig
) -> torch.optim.Adam:
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
    beta1, beta2 = config.betas
    fused = others[0].device.type in ("cpu", "cuda")
    return kind(groups, lr=config.lr, betas=(beta1, beta2), eps=config.eps, fused=fused)


def set_learning_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """The learning rate of the next update; that of Muon's matrices is in proportion to it."""
    for group in optimizer.param_groups:
        group["lr"] = lr * group.get("lr_scale", 1.0)


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The moments of each parameter, as "exp_avg/NAME", "exp_avg_sq/NAME" and "momentum/NAME"."""
    return {
        f"{moment}/{name}": optimizer.state[parameter][moment]
        for name, parameter in model.named_parameters()
        for moment in MOMENTS
        if parameter in optimizer.state and moment in optimizer.state[parameter]
    }


def load_optimizer(
    model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], step: int
) -> None:
    """Puts what `optimizer_tensors` gave after `step` updates back."""
    for name, parameter in model.named_parameters():
        state = {
            moment: tensors[f"{moment}/{name}"].to(parameter.device).clone()
            for moment in MOMENTS
            if f"{moment}/{name}" in tensors
        }
        if "exp_avg" in state:
            state["step"] = torch.tensor(float(step), device=parameter.device)
        if state:
            optimizer.state[parameter] = state
