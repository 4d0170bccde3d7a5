"""Devices and precision: what is there is found, what is not there is said."""

from __future__ import annotations

import pytest
import torch

from mt.errors import UserError
from mt.model.device import resolve_device, resolve_precision


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with two GPUs that have bf16, as far as torch says."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: True)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu() -> None:
    assert resolve_device("auto") == torch.device("cpu")
    assert resolve_device("cpu") == torch.device("cpu")
    for name in ("cuda", "cuda:0", "cuda:3"):
        with pytest.raises(UserError) as refused:
            resolve_device(name)
        assert str(refused.value) == (
            f"device {name}: there is none that this torch can use; choose device: auto or cpu"
        )
    with pytest.raises(UserError, match=r"^device mps: not available on this machine"):
        resolve_device("mps")


@pytest.mark.usefixtures("gpus")
def test_with_gpus() -> None:
    assert resolve_device("auto").type == "cuda"
    assert resolve_device("cuda:1") == torch.device("cuda", 1)
    assert resolve_device("cpu") == torch.device("cpu")
    with pytest.raises(UserError) as refused:
        resolve_device("cuda:2")
    assert "there are 2 (cuda:0 to cuda:1)" in str(refused.value)


@pytest.mark.usefixtures("gpus")
def test_precision_on_a_gpu_that_has_bf16() -> None:
    gpu = torch.device("cuda")
    assert resolve_precision("auto", gpu) == torch.bfloat16
    assert resolve_precision("bf16", gpu) == torch.bfloat16
    assert resolve_precision("fp32", gpu) == torch.float32
    assert resolve_precision("auto", torch.device("cpu")) == torch.float32


def test_bf16_is_refused_where_it_is_not_there() -> None:
    with pytest.raises(UserError) as refused:
        resolve_precision("bf16", torch.device("cpu"))
    assert str(refused.value) == ("training.precision bf16: cpu has no bf16; choose auto or fp32")
