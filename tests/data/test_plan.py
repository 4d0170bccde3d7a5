"""The batch plan: every pair once, within the budget, little padding, a function of its inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.data.plan import BatchSize, largest_batch, padding_share, plan_batches


def lengths_like_books(count: int) -> np.ndarray:
    """Lengths spread like those of opus_books: mean about 27, longest about 309, sides alike."""
    rng = np.random.default_rng(0)
    src = np.clip(rng.lognormal(2.9, 0.85, count), 1, 309)
    tgt = np.clip(src * rng.normal(1.0, 0.15, count), 1, 309)
    return np.stack((src, tgt), axis=1).astype(np.int32) + np.int32(2)


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.tuples(st.integers(3, 60), st.integers(3, 60)), min_size=1, max_size=300),
    size=st.one_of(
        st.builds(BatchSize, pairs=st.integers(1, 20)),
        st.builds(BatchSize, tokens=st.integers(60, 500)),
    ),
    epoch=st.integers(0, 3),
)
def test_every_pair_once_and_within_the_budget(
    lengths: list[tuple[int, int]], size: BatchSize, epoch: int
) -> None:
    array = np.array(lengths, dtype=np.int32)
    plan = plan_batches(array, size, seed=5, epoch=epoch)
    batches = [plan[i] for i in range(len(plan))]
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for rows in batches:
        if size.pairs is not None:
            assert 1 <= len(rows) <= size.pairs
        else:
            assert len(rows) * array[rows].max() <= size.tokens


def test_a_pair_over_the_budget_is_a_batch_of_its_own() -> None:
    lengths = np.array([[5, 5], [40, 3], [5, 5]], dtype=np.int32)
    plan = plan_batches(lengths, BatchSize(tokens=20), seed=0, epoch=0)
    assert sorted(plan[i].tolist() for i in range(len(plan))) in ([[0, 2], [1]], [[1], [2, 0]])


def test_plan_is_a_function_of_seed_and_epoch() -> None:
    lengths = lengths_like_books(2000)

    def order(seed: int, epoch: int) -> list[list[int]]:
        plan = plan_batches(lengths, BatchSize(tokens=1000), seed, epoch)
        return [plan[i].tolist() for i in range(len(plan))]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


@pytest.mark.parametrize("size", [BatchSize(tokens=4096), BatchSize(pairs=8)], ids=str)
def test_under_a_tenth_of_padding_on_lengths_like_books(size: BatchSize) -> None:
    lengths = lengths_like_books(20_000)
    assert padding_share(lengths, plan_batches(lengths, size, seed=0, epoch=0)) < 0.10


def test_the_largest_batch_has_the_most_places() -> None:
    lengths = lengths_like_books(300)
    plan = plan_batches(lengths, BatchSize(tokens=1000), seed=0, epoch=0)
    rows = [plan[i] for i in range(len(plan))]
    places = [len(r) * (lengths[r, 0].max() + lengths[r, 1].max() - 1) for r in rows]
    assert places[largest_batch(lengths, plan)] == max(places)


def test_padding_share_counts_places() -> None:
    lengths = np.array([[4, 5], [2, 3]], dtype=np.int32)
    plan = plan_batches(lengths, BatchSize(pairs=2), seed=0, epoch=0)
    # Source 2 x 4 and target 2 x 4 places; of these 4 + 2 and 4 + 2 are real.
    assert padding_share(lengths, plan) == pytest.approx(1 - 12 / 16)


def test_batches_of_an_epoch_are_not_sorted_by_length() -> None:
    lengths = lengths_like_books(5000)
    plan = plan_batches(lengths, BatchSize(pairs=8), seed=0, epoch=0)
    longest = [int(lengths[plan[i]].max()) for i in range(len(plan))]
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.1
