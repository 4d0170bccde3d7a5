"""Which tokens may come next in each hypothesis: output layer, rules, and the likeliest or a draw.

Letters: R hypotheses, C options of each, D model, V vocabulary, T tokens said so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mt.decoding.finished import tolerance
from mt.decoding.rules import Rules
from mt.decoding.sampling import Sampler
from mt.text.tokenizer import EOS_ID

# Numbers in the scores of some rows by the whole vocabulary, so that memory has a bound. On a CPU
# more at once gain nothing.
CPU_NUMBERS = 1 << 21
NUMBERS = 1 << 27
BLOCK = 64  # tokens


@dataclass
class Options:
    """The best first."""

    gains: Tensor  # (R, C) log-probabilities, by which the search goes
    tokens: Tensor  # (R, C)
    plain: Tensor  # (R, C) log-probabilities by the model alone
    close: Tensor  # (R,) whether another token was nearly drawn

    @property
    def close_end(self) -> Tensor:
        """(R,) whether it is a near thing that the likeliest token is EOS, or that it is not."""
        ends = (self.tokens[:, :2] == EOS_ID).any(dim=1)
        return ends & (self.gains[:, 0] - self.gains[:, 1] < tolerance(0))


class Chooser:
    """Makes the options of all hypotheses, some rows at a time."""

    def __init__(
        self, projection: nn.Linear, rules: Rules, count: int, sampler: Sampler | None
    ) -> None:
        self.projection = projection
        self.rules = rules
        self.count = count  # C
        self.sampler = sampler

    def options(self, features: Tensor, said: Tensor, forced: Tensor | None) -> Options:
        """For features (R, D) after the tokens `said` (R, T); `forced` (R,) as in `Rules`."""
        numbers = CPU_NUMBERS if features.device.type == "cpu" else NUMBERS
        rows = max(1, numbers // self.projection.out_features)
        parts = []
        for first in range(0, len(features), rows):
            part = slice(first, first + rows)
            logits = self.projection(features[part]).float()
            only = None if forced is None else forced[part]
            scores, plain = self.rules.log_probabilities(logits, said[part], only)
            if self.sampler:
                gains, tokens, close = self._drawn(scores, first)
            else:
                gains, tokens, close = self._likeliest(scores)
            own = gains if plain is scores else plain.gather(1, tokens)
            parts.append((gains, tokens, own, close))
        return Options(*(torch.cat(column) for column in zip(*parts, strict=True)))

    def _likeliest(self, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gains, tokens = largest(scores, min(self.count, scores.size(1)))
        return gains, tokens, torch.zeros_like(tokens[:, 0], dtype=torch.bool)

    def _drawn(self, scores: Tensor, first: int) -> tuple[Tensor, Tensor, Tensor]:
        assert self.sampler is not None
        values, tokens = self.sampler.perturbed(scores, first).topk(2)
        gains = scores.gather(1, tokens)
        gains[:, 1] = -torch.inf  # the second is there to tell how near it was
        return gains, tokens, values[:, 0] - values[:, 1] < self.sampler.tolerance


def largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `scores.topk(count)` of (R, V), in under half the time where V is large.

    The largest are in the `count` blocks whose own largest are, or in what is left after them.
    """
    rows, vocabulary = scores.shape
    blocks = vocabulary // BLOCK
    if blocks < 2 * count:
        return scores.topk(count)
    whole = blocks * BLOCK
    by_block = scores[:, :whole].unflatten(1, (blocks, BLOCK))  # type: ignore[no-untyped-call]
    best = by_block.amax(dim=2).topk(count).indices  # (R, C)
    tokens = (best[:, :, None] * BLOCK + torch.arange(BLOCK, device=scores.device)).flatten(1)
    rest = torch.arange(whole, vocabulary, device=scores.device).expand(rows, -1)
    tokens = torch.cat((tokens, rest), dim=1)  # (R, C * BLOCK + what is left)
    gains, places = scores.gather(1, tokens).topk(count)
    return gains, tokens.gather(1, places)
