"""The learning rate at chosen steps, worked out by hand."""

from __future__ import annotations

import math

import pytest

from mt.config import TrainingConfig
from mt.training.schedule import learning_rate


def settings(**changes: object) -> TrainingConfig:
    return TrainingConfig.model_validate({"lr": 0.8, **changes})


def test_warm_up_is_a_line_from_zero() -> None:
    for schedule in ("constant", "inverse_sqrt", "cosine", "linear"):
        config = settings(schedule=schedule, warmup_steps=4)
        assert [learning_rate(s, config, 100) for s in (1, 2, 4)] == pytest.approx([0.2, 0.4, 0.8])


@pytest.mark.parametrize(
    ("schedule", "step", "expected"),
    [
        ("constant", 77, 0.8),
        ("inverse_sqrt", 16, 0.4),  # 0.8 * sqrt(4 / 16)
        ("inverse_sqrt", 64, 0.2),
        ("linear", 52, 0.8 * 49 / 97),
        ("linear", 100, 0.8 * 1 / 97),
        ("cosine", 52, 0.4 * (1 + math.cos(math.pi * 48 / 97))),
        ("cosine", 100, 0.4 * (1 + math.cos(math.pi * 96 / 97))),
    ],
)
def test_after_the_warm_up(schedule: str, step: int, expected: float) -> None:
    config = settings(schedule=schedule, warmup_steps=4)
    assert learning_rate(step, config, 100) == pytest.approx(expected)


def test_never_below_zero_when_a_run_is_longer_than_planned() -> None:
    for schedule in ("cosine", "linear"):
        assert learning_rate(150, settings(schedule=schedule), 100) == pytest.approx(0)
