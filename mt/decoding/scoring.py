"""How probable given translations are: the model reads each of them and is not asked to search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mt.data.frame import frame
from mt.data.ragged import Ids
from mt.decoding.translator import Translator, batches
from mt.text.cleaning import normalize


@dataclass
class Scored:
    """A pair of sentences, and what the model gives each token of the target, EOS included.

    Logarithms are natural. Where both sentences are blank there is no token, and nothing to say.
    """

    source: str
    target: str
    tokens: list[str] = field(default_factory=list)
    token_log_probabilities: list[float] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # target words that the model does not know
    source_cut: bool = False  # the source was too long, and only its beginning was read

    @property
    def log_probability(self) -> float:
        """Of the whole target, given the source."""
        return math.fsum(self.token_log_probabilities)

    @property
    def perplexity(self) -> float:
        """By token."""
        return perplexity(self.log_probability, len(self.tokens))


def perplexity(log_probability: float, tokens: int) -> float:
    """By token; 1 where there is none. None has a probability so small that it is infinite."""
    return math.exp(min(-log_probability / max(1, tokens), 700.0))


def score_pairs(
    translator: Translator, pairs: Sequence[tuple[str, str]], batch_size: int = 64
) -> list[Scored]:
    """The scores of (source, target) pairs, in their order; the same in any batch.

    Of a source that is too long the beginning is read; a target is read whole, however long.
    """
    scored = [Scored(source, target) for source, target in pairs]
    sources = [framed_source(translator, one.source) for one in scored]
    targets = [_framed_target(translator, one.target) for one in scored]
    for one, source in zip(scored, sources, strict=True):
        one.unknown = translator.tgt.unknown(normalize(one.target))
        one.source_cut = source.cut
    # Where both are blank there is nothing to score, which `batches` leaves out.
    lengths = [max(len(s.ids), len(t)) for s, t in zip(sources, targets, strict=True)]
    for chosen in batches(lengths, batch_size):
        gains = translator.engine.score(
            [sources[i].ids for i in chosen], [targets[i] for i in chosen]
        )
        for i, own in zip(chosen, gains, strict=True):
            scored[i].token_log_probabilities = own
            scored[i].tokens = translator.tgt.pieces(list(map(int, targets[i][1:])))
    return scored


class FramedSource(NamedTuple):
    """A source as the model reads it, and whether only its beginning."""

    ids: Ids
    cut: bool


def framed_source(translator: Translator, text: str) -> FramedSource:
    """The ids of `text` between SOS and EOS, as many as the model reads."""
    ids = translator.src.encode(normalize(text))
    return FramedSource(frame(ids[: translator.source_limit]), len(ids) > translator.source_limit)


def _framed_target(translator: Translator, text: str) -> Ids:
    return frame(translator.tgt.encode(normalize(text)))
