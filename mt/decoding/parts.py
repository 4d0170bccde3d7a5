"""Sources that the model reads in parts, and the translations of the parts made into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mt.data.frame import FRAME
from mt.decoding.alternative import Alternative
from mt.decoding.engine import Hypothesis, Search

if TYPE_CHECKING:
    from mt.data.ragged import Ids


@dataclass
class Part:
    """What the model reads at once: a sentence, or a piece of one that is too long."""

    sentence: int  # the number of the one that it is of
    text: str
    framed: Ids
    prefix: list[int]
    alternatives: list[Alternative] = field(default_factory=list)


def joined(parts: Sequence[Part], space: str, search: Search) -> list[Alternative]:
    """The alternatives of a sentence; of one in several parts the best of each together.

    There is no second one then: which parts it should differ in is not defined.
    """
    if len(parts) == 1:
        return parts[0].alternatives
    return [_join(parts, [part.alternatives[0] for part in parts], space, search)]


def _join(
    parts: Sequence[Part], best: list[Alternative], space: str, search: Search
) -> Alternative:
    found = [alternative.hypothesis for alternative in best]
    return Alternative(
        text=space.join(alternative.text for alternative in best if alternative.text),
        hypothesis=_join_hypotheses(found, [len(part.framed) - FRAME for part in parts], search),
        copied=[word for alternative in best for word in alternative.copied],
        marked=sum(alternative.marked for alternative in best),
        repeated=any(alternative.repeated for alternative in best),
        parts=best,
    )


def _join_hypotheses(
    found: Sequence[Hypothesis], source_tokens: Sequence[int], search: Search
) -> Hypothesis:
    """One hypothesis, as if the parts were one sentence; an EOS inside counts to what it ends.

    So the score is the sum of log-probabilities over the penalty for the length of all together.
    """
    ids = [i for hypothesis in found for i in hypothesis.ids]
    total = sum(hypothesis.log_probability for hypothesis in found)
    gains: list[float] = []
    alignment: list[int] = []
    cut = any(hypothesis.cut for hypothesis in found)
    place = 0
    for n, hypothesis in enumerate(found):
        gains += _gains(hypothesis, keep_end=not cut and n == len(found) - 1)
        alignment += [place + at for at in hypothesis.alignment]
        place += source_tokens[n]
    score = total / search.penalty(len(ids) + len(found))
    return Hypothesis(ids, total, cut, score, gains, alignment)


def _gains(hypothesis: Hypothesis, keep_end: bool) -> list[float]:
    """Log-probabilities of the ids, that of EOS at the end or added to the last one."""
    gains = list(hypothesis.token_log_probabilities)
    if not keep_end and len(gains) > len(hypothesis.ids) > 0:
        end = gains.pop()
        gains[-1] += end
    return gains
