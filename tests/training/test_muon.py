"""Muon: against a singular value decomposition, against torch's, and what it is given."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig, TrainingConfig
from mt.model.build import build_model
from mt.training.muon import Muon, orthogonal
from mt.training.optimizer import build_optimizer, set_learning_rate


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 16, 56), (2, 56, 16)])
def test_the_singular_vectors_stay_and_the_singular_values_come_near_one(
    shape: tuple[int, int, int],
) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1)) * 0.01
    u, values, v = torch.linalg.svd(matrices.double(), full_matrices=False)
    found = u.mT @ orthogonal(matrices).double() @ v.mT  # diagonal, if u and v are its vectors
    diagonal = found.diagonal(dim1=1, dim2=2)
    assert (found - torch.diag_embed(diagonal)).abs().max() < 1e-3
    large = values > 0.01 * matrices.norm(dim=(1, 2), keepdim=True).flatten(1)
    assert large.float().mean() > 0.9
    assert diagonal[large].min() > 0.65
    assert diagonal[large].max() < 1.25
    assert values[large].max() / values[large].min() > 2  # there was something to do


def test_a_matrix_of_zeros_stays_one() -> None:
    assert orthogonal(torch.zeros(1, 4, 6)).equal(torch.zeros(1, 4, 6))


def steps(optimizer: torch.optim.Optimizer, matrices: list[Tensor]) -> list[Tensor]:
    """The matrices after three updates from gradients that are the same each time it is called."""
    generator = torch.Generator().manual_seed(2)
    for _ in range(3):
        for matrix in matrices:
            matrix.grad = torch.randn(matrix.shape, generator=generator)
        optimizer.step()
    return [matrix.detach() for matrix in matrices]


def start() -> list[Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = [(12, 12), (8, 20), (20, 8), (12, 12)]
    return [torch.nn.Parameter(torch.randn(s, generator=generator)) for s in shapes]


def nothing_else() -> torch.optim.Optimizer:
    return torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])


@pytest.mark.parametrize(("arithmetic", "tolerance"), [("fp32", 2e-5), ("bf16", 4e-3)])
def test_updates_are_those_of_torch(
    arithmetic: str, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours in fp32 against torch's in fp32, which it is made to use here, and in its own bf16."""
    ours, theirs = start(), start()
    muon = Muon([(m, 1) for m in ours], nothing_else(), lr=0.02, weight_decay=0.1)
    found = steps(muon, ours)
    if arithmetic == "fp32":
        monkeypatch.setattr(Tensor, "bfloat16", Tensor.clone)
    expected = steps(torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1), theirs)
    for a, b, before in zip(found, expected, start(), strict=True):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=0)
        assert (a - before).abs().max() > 5 * tolerance


def test_matrices_that_lie_one_below_the_other_are_each_made_orthogonal() -> None:
    parts = [torch.nn.Parameter(matrix.detach()) for matrix in torch.randn(3, 10, 10)]
    whole = torch.nn.Parameter(torch.cat([part.detach() for part in parts]))
    found = steps(Muon([(whole, 3)], nothing_else(), lr=0.02), [whole])[0]
    generator = torch.Generator().manual_seed(2)
    separate = Muon([(part, 1) for part in parts], nothing_else(), lr=0.02)
    for _ in range(3):
        for part, gradient in zip(
            parts, torch.randn(30, 10, generator=generator).chunk(3), strict=True
        ):
            part.grad = gradient
        separate.step()
    torch.testing.assert_close(found, torch.cat([part.detach() for part in parts]))


@pytest.mark.parametrize("implementation", ["native", "torch"])
@pytest.mark.parametrize("tie", ["none", "decoder"])
def test_hidden_matrices_are_for_muon_and_all_else_for_adamw(implementation: str, tie: str) -> None:
    config = ModelConfig.model_validate(
        {"num_layers": 1, "d_model": 8, "num_heads": 2, "d_ff": 12, "attention_bias": True,
         "implementation": implementation, "tie_embeddings": tie}
    )  # fmt: skip
    model = build_model(config, 9, 11)
    settings = TrainingConfig(optimizer="muon", lr=1e-3, muon_lr=5e-3, weight_decay=0.1)
    optimizer = build_optimizer(model, settings)
    names = {id(p): name for name, p in model.named_parameters()}
    hidden, *others = ({names[id(p)] for p in group["params"]} for group in optimizer.param_groups)
    ends = {n for n in names.values() if "embedding" in n or n == "projection.weight"}
    matrices = {n for n, p in model.named_parameters() if p.dim() == 2}
    assert hidden == matrices - ends
    assert set.union(*others) == set(names.values()) - hidden
    # (8 x 8): four of each self-attention, four of cross-attention; (8 x 12) and (12 x 8).
    sizes = zip(*(optimizer.param_groups[0][key] for key in ("params", "parts")), strict=True)
    found = sorted(part.shape for p, parts in sizes for part in p.chunk(parts))
    assert found == [(8, 8)] * 12 + [(8, 12)] * 2 + [(12, 8)] * 2
    set_learning_rate(optimizer, 5e-4)  # half way down the schedule
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([2.5e-3, 5e-4, 5e-4])
