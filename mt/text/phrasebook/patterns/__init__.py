"""All sentence patterns with their weights; each is written in the file of its subject."""

import re
from collections.abc import Callable

from mt.text.phrasebook import words
from mt.text.phrasebook.nouns import NOUNS
from mt.text.phrasebook.patterns import doing, joining, living, people, places, talking, things
from mt.text.phrasebook.phrases import Text
from mt.text.phrasebook.pick import Pick

Pattern = Callable[[Pick], Text]

# A pattern's weight grows with how many sentences it can make.
PATTERNS: dict[Pattern, int] = {
    **things.PATTERNS, **people.PATTERNS, **places.PATTERNS, **doing.PATTERNS,
    **living.PATTERNS, **talking.PATTERNS, **joining.PATTERNS,
}  # fmt: skip


def sentence(pattern: Pattern, pick: Pick) -> tuple[str, str]:
    """One (English, Italian) pair, with its capital and its full stop."""
    text = pattern(pick)
    return _finish(text.en), _finish(text.it)


def echoes(english: str) -> bool:
    """Whether a sentence names somebody or something twice: `Anna is taller than Anna`."""
    words_ = re.findall(r"\w+", english)
    return any(word in _NAMED and words_.count(word) > 1 for word in words_)


_NAMED = frozenset(
    [word for noun in NOUNS for word in (noun.en, noun.en_plural)]
    + [name.en for name in words.NAMES]
    + [*words.SURNAMES, "Mr", "Mrs"]
)


def _finish(text: str) -> str:
    for mark in "?!":
        text = text.replace(f" {mark}", mark)
    end = "" if text[-1] in "?!" else "."
    return text[0].upper() + text[1:] + end
