"""Which device a model runs on, and in which precision."""

from __future__ import annotations

import os

import torch

from mt.errors import UserError


def resolve_device(name: str) -> torch.device:
    """The device for `auto`, `cpu`, `cuda`, `cuda:N` or `mps`. Raises UserError if not there."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("cpu")
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise UserError(
                f"device {name}: {_gpus(count)} that this torch can use; choose device: auto or cpu"
            )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise UserError("device mps: not available on this machine; choose device: auto or cpu")
    return device


def _gpus(count: int) -> str:
    if count > 1:
        return f"there are {count} (cuda:0 to cuda:{count - 1})"
    return "there is one (cuda:0)" if count else "there is none"


def memory_of(device: torch.device) -> int | None:
    """Bytes of memory that the device has in all; None where that is not told."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return None


def resolve_precision(name: str, device: torch.device) -> torch.dtype:
    """float32, or bfloat16 for autocast. Raises UserError where the device lacks bf16."""
    has_bf16 = device.type == "cuda" and torch.cuda.is_bf16_supported()
    if name == "bf16" and not has_bf16:
        raise UserError(f"training.precision bf16: {device} has no bf16; choose auto or fp32")
    return torch.bfloat16 if has_bf16 and name != "fp32" else torch.float32
