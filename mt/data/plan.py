"""Which pairs go into which batch: a pure function of (lengths, seed, epoch), by numbers alone.

Pairs are shuffled, cut into pools, sorted by length within a pool so that a batch holds pairs of
about one length, cut into batches, and the batches shuffled.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt.data.ragged import Lengths

BATCHES_IN_POOL = 100


@dataclass(frozen=True)
class BatchSize:
    """How large a batch is: a number of pairs, or a budget of places, padding included.

    With a budget, pairs times the longest side of the longest of them stays within it.
    """

    pairs: int | None = None
    tokens: int | None = None

    def fits(self, longest: int) -> int:
        """Pairs in a batch whose longest side has `longest` tokens; at least one."""
        if self.pairs is not None:
            return self.pairs
        assert self.tokens is not None
        return max(1, self.tokens // max(1, longest))


@dataclass(frozen=True)
class BatchPlan:
    """The batches of an epoch, in order; batch i is an array of indices of pairs."""

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, batch: int) -> NDArray[np.int32]:
        return self.order[self.starts[batch] : self.ends[batch]]


def plan_batches(lengths: Lengths, size: BatchSize, seed: int, epoch: int) -> BatchPlan:
    """The plan for pairs of `lengths` (N, 2), every pair once."""
    rng = np.random.default_rng((seed, epoch))
    order = np.arange(len(lengths), dtype=np.int32)
    rng.shuffle(order)
    starts = array("q")
    pool = _pool_size(lengths, size)
    for first in range(0, len(order), pool):
        part = order[first : first + pool]
        src, tgt = lengths[part].T.astype(np.int32)
        # Longest first, so that the first pair of a batch tells how many fit.
        part[:] = part[np.lexsort((-src, -tgt, -np.maximum(src, tgt)))]
        starts.extend(first + at for at in _cut(lengths[part].max(axis=1), size))
    bounds = np.append(np.frombuffer(starts, dtype=np.int64), len(order))
    shuffled = rng.permutation(len(starts))
    return BatchPlan(order, bounds[:-1][shuffled], bounds[1:][shuffled])


def largest_batch(lengths: Lengths, plan: BatchPlan) -> int:
    """The batch with the most places, source and target, padding included."""
    return max(range(len(plan)), key=lambda batch: _places(lengths, plan[batch]))


def _places(lengths: Lengths, rows: NDArray[np.int32]) -> int:
    return len(rows) * (
        int(lengths[rows].max(axis=0).sum(dtype=np.int64)) - 1
    )  # the target is shifted by one


def padding_share(lengths: Lengths, plan: BatchPlan) -> float:
    """The share of places, source and target, that are padding."""
    places = sum(_places(lengths, plan[batch]) for batch in range(len(plan)))
    real = int(lengths.sum(dtype=np.int64)) - len(
        lengths
    )  # the target is one shorter: shifted by one
    return 1 - real / places if places else 0.0


def _pool_size(lengths: Lengths, size: BatchSize) -> int:
    if size.pairs is not None:
        return BATCHES_IN_POOL * size.pairs
    assert size.tokens is not None
    sample = lengths[:: max(1, len(lengths) // 100_000)]
    mean = float(sample.max(axis=1).mean()) if len(lengths) else 1.0
    return max(1, int(BATCHES_IN_POOL * size.tokens / mean))


def _cut(longest: Lengths, size: BatchSize) -> list[int]:
    """Where batches start among pairs sorted by falling length."""
    starts, at = [], 0
    while at < len(longest):
        starts.append(at)
        at += size.fits(int(longest[at]))
    return starts
