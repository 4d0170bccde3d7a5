"""The finished hypotheses of one sentence, and how they are ranked."""

from __future__ import annotations

from itertools import pairwise

from mt.decoding.engine import Hypothesis


def tolerance(length: int) -> float:
    """Scores of hypotheses of `length` that are nearer may change places in another batch.

    Over three times the most that was seen: 5e-6 in a token, 3.5e-5 in a sentence of up to 98.
    """
    return 2e-5 + 1e-6 * length


class Finished:
    """Those that ended go before those that were cut; then the score decides."""

    def __init__(self, n_best: int) -> None:
        self.n_best = n_best
        self.hypotheses: list[Hypothesis] = []
        self.unsure = False  # a decision of the search was within `tolerance`

    @property
    def to_beat(self) -> float:
        """The score above which another hypothesis that ends would be among the best."""
        scores = sorted((h.score for h in self.hypotheses if not h.cut), reverse=True)
        return scores[self.n_best - 1] if len(scores) >= self.n_best else -float("inf")

    def best(self) -> list[Hypothesis]:
        """Up to `n_best`, the best first; notes whether they are surely these, in this order."""
        ranked = sorted(self.hypotheses, key=lambda h: (h.cut, -h.score))
        for a, b in pairwise(ranked[: self.n_best + 1]):
            if a.cut == b.cut and abs(a.score - b.score) < tolerance(len(a.ids)):
                self.unsure = True
        return ranked[: self.n_best]
