"""Drawing tokens: each sentence has a stream of random numbers of its own.

Letters: R hypotheses, V vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from mt.data.ragged import Ids
from mt.decoding.engine import Search
from mt.decoding.finished import tolerance
from mt.model.quick_torch import complete_torch


class Sampler:
    """One generator a hypothesis, seeded by (seed, ids of the source, which of its samples)."""

    def __init__(self, search: Search, sources: Sequence[Ids]) -> None:
        complete_torch()
        self.search = search
        self.tolerance = tolerance(0) / search.temperature  # of what is compared to draw
        self.generators = [
            _generator(search.seed, source, sample)
            for source in sources
            for sample in range(search.n_best)
        ]

    def keep(self, rows: Sequence[int]) -> None:
        """Goes on with these hypotheses."""
        self.generators = [self.generators[row] for row in rows]

    def perturbed(self, scores: Tensor, first: int) -> Tensor:
        """Scores (R, V) of the rows from `first` on; the largest of what comes out is a draw.

        That is log p / temperature plus Gumbel noise, over what top-k and top-p leave (the Gumbel
        trick; Maddison et al. 2014, section 2).
        """
        noise = torch.empty(scores.shape)
        for row, values in enumerate(noise):
            values.exponential_(generator=self.generators[first + row])
        scores = kept(scores / self.search.temperature, self.search.top_k, self.search.top_p)
        return scores - noise.to(scores.device).log()


def _generator(seed: int, source: Ids, sample: int) -> torch.Generator:
    words = f"{seed} {sample} {list(map(int, source))}"
    digest = hashlib.sha256(words.encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def kept(scores: Tensor, top_k: int, top_p: float) -> Tensor:
    """scores (R, V), with minus infinity for what is not among the likeliest.

    That is the `top_k` likeliest, 0 for all; and of them the fewest that together have the share
    `top_p` (Holtzman et al. 2020, section 3.1), one at least.
    """
    if 0 < top_k < scores.size(1):
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if top_p < 1:
        ordered, places = scores.sort(dim=-1, descending=True)
        share = ordered.softmax(dim=-1)
        before = share.cumsum(dim=-1) - share  # what the likelier ones have
        before[:, 0] = 0
        scores = scores.scatter(1, places, ordered.masked_fill(before >= top_p, -torch.inf))
    return scores
