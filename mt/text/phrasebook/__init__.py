"""The built-in English-Italian corpus: a grammar's sentences, split; the grammar is beside it."""

import random
import re

from mt.text.phrasebook.patterns import PATTERNS, echoes, sentence
from mt.text.phrasebook.pick import Pick

SIZES = {"train": 20_000, "valid": 500, "test": 500}
# For documentation and demonstrations: never in a split.
SHOWCASE: tuple[tuple[str, str], ...] = (
    ("The small house is near the station.", "La piccola casa è vicino alla stazione."),
    ("Yesterday my sister bought a red dress.", "Ieri mia sorella ha comprato un vestito rosso."),
    ("There are three books on the table.", "Ci sono tre libri sul tavolo."),
)

__all__ = ["PATTERNS", "SHOWCASE", "SIZES", "phrasebook"]


def phrasebook(seed: int = 0) -> dict[str, list[tuple[str, str]]]:
    """The `train`, `valid` and `test` pairs of (English, Italian), the same for a seed anywhere.

    No sentence of either language stands twice in the whole, whatever its case and punctuation.
    """
    rng = random.Random(seed)
    pick = Pick(rng)
    weighted = [pattern for pattern, weight in PATTERNS.items() for _ in range(weight)]
    seen = {_key(text) for pair in SHOWCASE for text in pair}
    pairs: list[tuple[str, str]] = []
    while len(pairs) < sum(SIZES.values()):
        pair = sentence(pick.one(weighted), pick)
        keys = {_key(text) for text in pair}
        if seen.isdisjoint(keys) and not echoes(pair[0]):
            seen |= keys
            pairs.append(pair)
    splits = iter(pairs)
    return {name: [next(splits) for _ in range(size)] for name, size in reversed(SIZES.items())}


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()
