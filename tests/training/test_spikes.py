"""Loss spikes: found where they are, and never in a run that is merely noisy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from mt.training.spikes import QUIET, Spikes


def noisy(seed: int, steps: int = 3000) -> list[float]:
    """Falls from 9 to 2 nats; small batches, some of short sentences: skewed noise of 15 %."""
    chance = np.random.default_rng(seed)
    usual = 2 + 7 * np.exp(-np.arange(steps) / 200)
    return list(usual * chance.gamma(40, 1 / 40, size=steps))


def found(losses: list[float]) -> list[int]:
    spikes = Spikes()
    return [step for step, loss in enumerate(losses, 1) if spikes.usual(loss) is not None]


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_spike(seed: int) -> None:
    assert found(noisy(seed)) == []


def test_a_plateau_that_ends_in_a_fall_and_a_loss_near_zero_are_no_spikes() -> None:
    chance = np.random.default_rng(0)
    assert found([6.0] * 300 + [6 - i / 50 for i in range(290)]) == []
    assert found(list(0.02 * chance.gamma(1, 1, size=2000))) == []


@pytest.mark.parametrize("step", [60, 500, 2900])
def test_a_spike_is_found_with_the_usual_loss_beside_it(step: int) -> None:
    losses = noisy(1)
    spikes = Spikes()
    usual = [spikes.usual(loss) for loss in losses[: step - 1]]
    assert usual == [None] * (step - 1)
    said = spikes.usual(3 * losses[step - 1] + 3)
    assert said == pytest.approx(np.mean(losses[step - 41 : step - 1]), rel=0.15)


def test_one_line_for_many_spikes_and_a_new_level_becomes_usual() -> None:
    losses = noisy(1, 400) + [20.0] * 2000
    steps = found(losses)
    assert steps[0] == 401
    assert all(b - a > QUIET for a, b in pairwise(steps))
    assert len(steps) <= 3


def test_single_spikes_do_not_hide_each_other() -> None:
    losses = noisy(2, 1500)
    for step in (600, 610, 900):
        losses[step - 1] = 30.0
    assert found(losses) == [600, 900]
    assert math.isfinite(sum(losses))
