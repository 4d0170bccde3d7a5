"""Which source token each token of a translation comes from, and which word each word.

A pair is of a place in the source and one in the translation, both from 0.
"""

from __future__ import annotations

from mt.decoding.translator import Alternative, Translation
from mt.text.cleaning import normalize
from mt.text.tokenizer import Tokenizer

Pairs = list[tuple[int, int]]


def token_pairs(alternative: Alternative) -> Pairs:
    """For each token the source token that it looked at most, neither SOS nor EOS counted."""
    places = alternative.hypothesis.alignment
    return [(place - 1, i) for i, place in enumerate(places)]


def word_pairs(
    translation: Translation, alternative: Alternative, src: Tokenizer, tgt: Tokenizer
) -> Pairs:
    """The same by words, as spaces part those of source and translation; each pair once, sorted."""
    source = src.words(normalize(translation.source))
    target = tgt.words_said(alternative.hypothesis.ids, alternative.copied)
    return sorted({(source[i], target[j]) for i, j in token_pairs(alternative)})
