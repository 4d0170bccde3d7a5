"""What a hypothesis may say next: rules over the scores of all tokens, on the model's device.

Letters: R hypotheses, T tokens said so far, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mt.decoding.engine import Search
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID

FREE = -1  # stands for a token that no prefix forces


class Rules:
    """The rules of a search; what they forbid has the score minus infinity."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.never = [PAD_ID, SOS_ID, *search.banned]

    def log_probabilities(
        self, logits: Tensor, said: Tensor, forced: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Of logits (R, V), which are not kept, after the tokens `said` (R, T).

        Two tensors (R, V), or one twice: what the search goes by, which is of what the rules leave,
        and what the model says. `forced` (R,) is the one token that a row may say, or FREE.
        """
        plain = logits.log_softmax(dim=-1)
        prefixed = None if forced is None else _forced(plain, forced)
        if self.search.ruled:
            _penalise(logits, said, self.search.repetition_penalty)
            scores = self._forbid(logits, said).log_softmax(dim=-1)
        else:
            scores = self._forbid(plain, said)
        if prefixed is not None:
            rows, only = prefixed
            scores[rows] = only
        return scores, plain

    def _forbid(self, scores: Tensor, said: Tensor) -> Tensor:
        # When nothing else is left to say, the sentence ends.
        end = scores[:, EOS_ID].clone() if self.search.no_repeat_ngram else None
        scores[:, self.never] = -torch.inf
        if said.size(1) < max(1, self.search.min_length):  # a sentence never becomes nothing
            scores[:, EOS_ID] = -torch.inf
        if self.search.no_repeat_ngram:
            _forbid_repeats(scores, said, self.search.no_repeat_ngram)
        if end is not None and said.size(1):
            nothing = scores.amax(dim=-1) == -torch.inf
            scores[:, EOS_ID] = torch.where(nothing, end, scores[:, EOS_ID])
        return scores


def _forced(plain: Tensor, forced: Tensor) -> tuple[Tensor, Tensor]:
    """The rows that have one token to say, and their scores: its own, and none for the others."""
    rows = torch.nonzero(forced != FREE).squeeze(1)
    token = forced[rows, None]
    only = torch.full_like(plain[rows], -torch.inf)
    return rows, only.scatter_(1, token, plain[rows].gather(1, token))


def _penalise(logits: Tensor, said: Tensor, penalty: float) -> None:
    """Makes what was said less likely, in place (Keskar et al. 2019, section 4.1).

    The paper divides all logits, which makes negative ones more likely; those are multiplied.
    """
    seen = logits.gather(1, said)
    logits.scatter_(1, said, torch.where(seen > 0, seen / penalty, seen * penalty))


def _forbid_repeats(scores: Tensor, said: Tensor, n: int) -> None:
    """Forbids, in place, each token that would complete an n-gram that was said already."""
    if said.size(1) < n:
        return
    grams = said.unfold(1, n, 1)  # (R, T - n + 1, n)
    begun = said[:, None, said.size(1) - n + 1 :]  # (R, 1, n - 1)
    again = (grams[..., :-1] == begun).all(dim=-1)
    # What is not to be forbidden points at padding, which is forbidden anyway.
    scores.scatter_(1, torch.where(again, grams[..., -1], PAD_ID), -torch.inf)
