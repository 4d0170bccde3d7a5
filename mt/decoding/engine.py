"""What an engine is asked for and what it gives: plain values, no tensors and no text.

Letters: N sentences, K beams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from mt.errors import UserError

if TYPE_CHECKING:  # numpy and the config take longer to import than a sentence to translate
    import numpy as np
    from numpy.typing import NDArray

    from mt.config import DecodingConfig
    from mt.data.ragged import Ids

Attention: TypeAlias = "NDArray[np.float32]"
Normalization = Literal["gnmt", "length", "none"]
EXTRA_LENGTH = 10  # tokens that a translation may have beyond the ratio, so that short ones fit


@dataclass(frozen=True)
class Search:
    """How to search for translations; the defaults are greedy search and nothing else.

    Lengths are of tokens without SOS and EOS, those of a forced prefix among them.
    """

    beam_size: int = 1
    n_best: int = 1  # hypotheses of a sentence that are wanted, at most `beam_size`
    # Hypotheses compete by log-probability over ((5 + |Y|) / 6)^alpha ("gnmt"; Wu et al. 2016,
    # equation 14), over |Y|^alpha ("length"), or by itself; EOS is counted in |Y|.
    length_penalty: float = 0.6  # alpha
    length_normalization: Normalization = "gnmt"
    patience: float = 2.0  # a beam ends with this times K finished (Kasai et al. 2022)
    # The best hypothesis for each of the `n_best` likeliest first tokens, instead of the best ones
    # of all, which often differ in a comma.
    distinct_first: bool = False
    sample: bool = False  # draws each token instead of searching
    temperature: float = 1.0
    top_k: int = 0  # draws among the likeliest so many; 0 for all
    top_p: float = 1.0  # and among the likeliest that together have this (Holtzman et al. 2020)
    seed: int = 0  # a sentence's sample is a function of this and of its ids
    min_length: int = 1  # EOS is not allowed before; never less than 1
    max_length_ratio: float = 2.0
    no_repeat_ngram: int = 0  # no n-gram of this many tokens comes twice; 0 for no such rule
    # What was said already has its logit divided by this, or multiplied where it is negative
    # (Keskar et al. 2019, section 4.1); 1 for no such rule.
    repetition_penalty: float = 1.0
    banned: tuple[int, ...] = ()  # ids that are never said, unless a prefix has them
    align: bool = False
    # Whether log-probabilities are wanted. Without, an engine to which they are more work may leave
    # out those of single tokens, and give those of a translation as its search saw them.
    scored: bool = True

    @classmethod
    def of(cls, decoding: DecodingConfig) -> Search:
        """The search that a config describes."""
        return cls(**vars(decoding))

    @property
    def ruled(self) -> bool:
        """Whether it makes likelier or less likely what the model says."""
        return bool(
            self.no_repeat_ngram
            or self.banned
            or self.min_length > 1
            or self.repetition_penalty != 1.0
        )

    @property
    def enough(self) -> int:
        """Hypotheses of a sentence that must have ended for its search to be over."""
        return 1 if self.beam_size == 1 else math.floor(self.beam_size * self.patience + 0.5)

    def check(self, vocabulary: int) -> None:
        """Raises UserError unless the settings fit each other and so many target tokens."""
        if self.sample and self.beam_size > 1:
            raise UserError(
                f"--sample with --beam-size {self.beam_size}: a draw has no beam; leave out one of "
                "them (--n-best draws several)"
            )
        if self.beam_size > vocabulary:
            raise UserError(
                f"a beam of {self.beam_size} (--beam-size, decoding.beam_size) is wider than the "
                f"target vocabulary of {vocabulary} tokens; choose a narrower one, as 4"
            )
        if self.distinct_first and self.n_best > vocabulary:
            raise UserError(
                f"--alternatives {self.n_best} is more than the {vocabulary} tokens that one may "
                "begin with; ask for fewer, as 4"
            )
        if self.n_best > self.beam_size and not self.sample and not self.distinct_first:
            raise UserError(
                f"--n-best {self.n_best} is more than there are hypotheses ({self.beam_size}); "
                f"add --beam-size {self.n_best}"
            )
        if self.patience < 1:
            raise UserError(f"patience {self.patience:g} is too little; expected 1 or more, as 2")
        if self.length_penalty < 0:
            raise UserError(
                f"length_penalty {self.length_penalty:g} is negative; expected 0 or more, as 0.6"
            )

    def penalty(self, length: int) -> float:
        """What the log-probability of a hypothesis of `length`, EOS counted, is divided by."""
        if self.length_normalization == "none":
            return 1.0
        base = (5 + length) / 6 if self.length_normalization == "gnmt" else float(length)
        return float(base**self.length_penalty)

    def max_length(self, source_tokens: int, limit: int) -> int:
        """The most tokens for a source of `source_tokens`, for a model that has at most `limit`."""
        return min(int(source_tokens * self.max_length_ratio) + EXTRA_LENGTH, limit)


@dataclass
class Hypothesis:
    """A translation as ids, without SOS and EOS.

    Logarithms are natural. The score is of the search: what its rules forbid has no probability,
    and the rest has more. Log-probabilities are of the model as it is.
    """

    ids: list[int]
    log_probability: float  # of the ids and, unless it is cut, of the EOS after them
    cut: bool  # it reached the longest allowed length before EOS
    score: float = 0.0  # the search's log-probability by its length penalty, which ranks it
    # Of each id, and of EOS unless it is cut: they sum to `log_probability`.
    token_log_probabilities: list[float] = field(default_factory=list)
    # For each id the source place, SOS being 0, that it looked at most; if that was asked for.
    alignment: list[int] = field(default_factory=list)


class Engine(Protocol):
    """A model that searches, on whatever library it runs."""

    def search(
        self,
        framed: Sequence[Ids],
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> list[list[Hypothesis]]:
        """For each of N sources `[SOS] … [EOS]`, in one batch, up to `n_best`, the best first.

        `max_lengths` (N) is the most tokens of each, EOS not counted; each translation begins with
        the ids of its prefix, which may be empty and is no longer than the most tokens.
        """

    def score(self, framed: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """For each pair of N sources and targets, both `[SOS] … [EOS]`, in one batch, what the
        model gives the target's tokens after SOS: natural logarithms of probabilities.

        Raises UserError if the engine cannot.
        """

    def attention(self, framed: Ids, target: Ids) -> Attention:
        """Where the decoder looks in the source as it says the target, both `[SOS] … [EOS]`.

        (L, H, T, S): layers, heads, what is said after SOS, the source. Raises UserError if the
        engine cannot tell.
        """
