"""Sentences that have something in common, and the scores of each such bucket."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mt.evaluation.scores import Scorer
from mt.text.sentences import space_between

LENGTHS = (10, 20, 30, 40, 60)  # upper ends; the last bucket has none
FREQUENCIES = (0, 9, 99, 999)
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Bucket:
    """The places of some sentences of a test set, in rising order; a sentence is in one bucket."""

    name: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class BucketScores:
    """How the sentences of a bucket score, as if there were no others: by metric."""

    name: str
    sentences: int
    scores: dict[str, float]


def by_length(lines: Sequence[str], language: str = "") -> list[Bucket]:
    """Sentences by their length in words, as spaces part them: "1-10 words", "over 60 words".

    In characters where the language is written without spaces. Buckets without a sentence are
    left out; blank lines count to the first.
    """
    spaced = bool(space_between(language))
    unit = "words" if spaced else "characters"
    lengths = [len(line.split()) if spaced else len("".join(line.split())) for line in lines]
    return _in_ranges(lengths, LENGTHS, 1, lambda low, high: f"{_range(low, high)} {unit}")


def by_frequency(
    lines: Sequence[str], frequency: Mapping[str, int], language: str = ""
) -> list[Bucket]:
    """Sentences by how often the rarest of their `words` is in the training data, as `frequency`
    has it: "never", "1-9 times", "1,000 times and more".

    The rarest word is the one that a model is likeliest to get wrong, and a long sentence has rarer
    ones than a short sentence. Sentences without a word are left out, and empty buckets.
    """
    found = [[frequency.get(w, 0) for w in words(line, language)] for line in lines]
    chosen = [place for place, counts in enumerate(found) if counts]
    rarest = [min(found[place]) for place in chosen]
    ranges = _in_ranges(rarest, FREQUENCIES, 0, _times)
    return [Bucket(b.name, tuple(chosen[place] for place in b.places)) for b in ranges]


def by_document(ids: Sequence[str]) -> list[Bucket]:
    """Sentences by their document, documents in the order in which they begin."""
    found: dict[str, list[int]] = {}
    for place, document in enumerate(ids):
        found.setdefault(document, []).append(place)
    return [Bucket(name, tuple(places)) for name, places in found.items()]


def score_buckets(buckets: Sequence[Bucket], scorers: Mapping[str, Scorer]) -> list[BucketScores]:
    """The scores of each bucket, by the keys of `scorers`, in the order of `buckets`."""
    return [
        BucketScores(
            bucket.name,
            len(bucket.places),
            {name: scorer.of(bucket.places) for name, scorer in scorers.items()},
        )
        for bucket in buckets
    ]


def words(text: str, language: str = "") -> list[str]:
    """The words of a text as their frequency is counted: runs of letters, in small letters.

    Single letters where the language is written without spaces.
    """
    pattern = _WORD if space_between(language) else _LETTER
    return pattern.findall(text.casefold())


def _in_ranges(
    values: Sequence[int], ends: Sequence[int], least: int, name: Callable[[int, int | None], str]
) -> list[Bucket]:
    """Places of `values` by the range they are in: up to each of `ends`, and beyond the last."""
    lows = [least, *(end + 1 for end in ends)]
    buckets = []
    for low, high in zip(lows, [*ends, None], strict=True):
        inside = [
            place
            for place, value in enumerate(values)
            if (low <= value or low == least) and (high is None or value <= high)
        ]
        if inside:
            buckets.append(Bucket(name(low, high), tuple(inside)))
    return buckets


def _range(low: int, high: int | None) -> str:
    return f"over {low - 1:,}" if high is None else f"{low:,}-{high:,}"


def _times(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} times and more"
    return "never" if high == 0 else f"{low:,}-{high:,} times"
