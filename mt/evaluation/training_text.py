"""What training saw of a test set: sentences that are in both, and how frequent its words are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import datasets

from mt.evaluation.buckets import words
from mt.evaluation.evaluate import TestSet
from mt.progress import track
from mt.text.cleaning import normalize
from mt.text.hashing import near_keys
from mt.text.stream import ROWS_AT_ONCE, batches

MOST_COUNTED = 10**6  # training sentences whose words are counted, evenly spread
EXAMPLES = 3


@dataclass(frozen=True)
class Seen:
    """Of a test set with N sentences, what is in the training pairs."""

    # Places of the sentences whose source is in training, up to case, digits, punctuation, spacing.
    sources: list[int]
    pairs: list[int]  # those of them that have there the translation of a reference, up to the same
    # How often each word of the sources is among the training sources, or a million of them.
    frequency: dict[str, int]

    def complaint(self, test_set: TestSet) -> str | None:
        """The overlap in words, with the first examples; None if there is none."""
        if not self.sources:
            return None
        shown = [
            f'line {place + 1} "{test_set.sources[place]}"' for place in self.sources[:EXAMPLES]
        ]
        more = len(self.sources) - len(shown)
        return (
            f"{len(self.sources):,} of {len(test_set.sources):,} source sentences are in the "
            "training data too, up to case, digits, punctuation and spacing, "
            f"{len(self.pairs):,} of them with the same translation; the scores tell less of text "
            f"that is new: {', '.join(shown)}{f', and {more:,} more' if more else ''}"
        )


def look_up(train: datasets.Dataset, test_set: TestSet, language: str) -> Seen:
    """Reads the training pairs once, a few thousand at a time.

    `train` has the columns "src" and "tgt"; `language` is that of the source.
    """
    sources = [normalize(text) for text in test_set.sources]
    places: dict[str, list[int]] = {}
    for place, key in enumerate(near_keys(sources)):
        if key:
            places.setdefault(key, []).append(place)
    references = [near_keys([normalize(text) for text in side]) for side in test_set.streams]
    frequency = Counter(dict.fromkeys((w for text in sources for w in words(text, language)), 0))
    found: set[int] = set()
    pairs: set[int] = set()
    step = max(1, -(-len(train) // MOST_COUNTED))
    for first, src, tgt in _texts(train):
        for row, key in enumerate(near_keys(src)):
            if key in places:
                found.update(places[key])
                (target,) = near_keys([tgt[row]])
                pairs.update(p for p in places[key] if target in [side[p] for side in references])
        for text in src[-first % step :: step]:
            for word in words(text, language):
                if word in frequency:
                    frequency[word] += 1
    return Seen(sorted(found), sorted(pairs), dict(frequency))


def _texts(train: datasets.Dataset) -> Iterator[tuple[int, list[str], list[str]]]:
    """The place of a first row, and source and target texts from it on."""
    first = 0
    what = "looking for the test set in the training data"
    for batch in track(batches(train), what, len(train), " pairs", ROWS_AT_ONCE):
        yield first, batch.column("src").to_pylist(), batch.column("tgt").to_pylist()
        first += len(batch)
