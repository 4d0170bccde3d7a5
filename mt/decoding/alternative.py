"""One translation of a sentence as text, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field

from mt.decoding.engine import Hypothesis


@dataclass
class Alternative:
    """A translation of several that a sentence may have."""

    text: str
    hypothesis: Hypothesis  # ids, log-probabilities, score, alignment
    # Source words that stand in the text as they were, for want of a word in the vocabulary.
    copied: list[str] = field(default_factory=list)
    marked: int = 0  # places in the text where a mark stands for a word
    repeated: bool = False  # it says the same again and again, and its source does not
    # Those of the parts, where the source was read in more than one.
    parts: list[Alternative] = field(default_factory=list)
