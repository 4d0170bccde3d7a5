"""Which of the loaded languages a text is in, by how well each vocabulary fits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mt.text.cleaning import normalize
from mt.text.tokenizer import UNK_ID, Tokenizer

ENOUGH = 1_000  # characters that are looked at


def fit(tokenizer: Tokenizer, text: str) -> float:
    """How well a vocabulary fits a text, from 0 to 1.

    The share of the text's letters that stand in words which the vocabulary has; a word in k
    subwords counts 1/k.
    """
    text = normalize(text[:ENOUGH])
    pieces: Counter[int] = Counter()
    lacking = set()
    for i, place in zip(tokenizer.encode(text), tokenizer.words(text), strict=True):
        pieces[place] += 1
        if i == UNK_ID:
            lacking.add(place)
    known = total = 0.0
    for place, word in enumerate(text.split()):
        letters = sum(map(str.isalpha, word))
        total += letters
        if pieces[place] and place not in lacking:
            known += letters / (1 if tokenizer.kind == "word" else pieces[place])
    return known / total if total else 0.0


def detect(tokenizers: Mapping[str, Tokenizer], text: str) -> list[tuple[str, float]]:
    """The languages, the likeliest first, each with its fit; of equal ones the first given."""
    fits = [(language, fit(tokenizer, text)) for language, tokenizer in tokenizers.items()]
    return sorted(fits, key=lambda found: -found[1])
