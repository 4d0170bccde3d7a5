"""The optimizer: Adam or AdamW over a model's parameters, and its state as named tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mt.config import TrainingConfig

MOMENTS = ("exp_avg", "exp_avg_sq")


def build_optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.Adam:
    """Adam (Kingma and Ba 2015) or AdamW (Loshchilov and Hutter 2019).

    Weight decay is for matrices; it spares norms, biases and embeddings.
    """
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    parameters = list(model.parameters())
    decayed = [p for p in parameters if p.dim() > 1 and id(p) not in embeddings]
    others = [p for p in parameters if p.dim() <= 1 or id(p) in embeddings]
    groups = [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    beta1, beta2 = config.betas
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    return kind(groups, lr=config.lr, betas=(beta1, beta2), eps=config.eps, fused=fused)


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Adam) -> dict[str, Tensor]:
    """Both moments of each parameter, as "exp_avg/NAME" and "exp_avg_sq/NAME"."""
    return {
        f"{moment}/{name}": optimizer.state[parameter][moment]
        for name, parameter in model.named_parameters()
        for moment in MOMENTS
        if parameter in optimizer.state
    }


def load_optimizer(
    model: nn.Module, optimizer: torch.optim.Adam, tensors: dict[str, Tensor], step: int
) -> None:
    """Puts what `optimizer_tensors` gave after `step` updates back."""
    for name, parameter in model.named_parameters():
        if f"{MOMENTS[0]}/{name}" not in tensors:
            continue
        moments = {m: tensors[f"{m}/{name}"].to(parameter.device).clone() for m in MOMENTS}
        count = torch.tensor(float(step), device=parameter.device)
        optimizer.state[parameter] = {"step": count, **moments}
