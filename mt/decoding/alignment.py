"""Which source token each token of a translation comes from, and which word each word.

A pair is of a place in the source and one in the translation, both from 0.
"""

from __future__ import annotations

from mt.decoding.alternative import Alternative
from mt.decoding.translator import Translation
from mt.text.cleaning import normalize
from mt.text.tokenizer import UNK_ID, Tokenizer

Pairs = list[tuple[int, int]]


def token_pairs(alternative: Alternative) -> Pairs:
    """For each token the source token that it looked at most, neither SOS nor EOS counted."""
    places = alternative.hypothesis.alignment
    return [(place - 1, i) for i, place in enumerate(places)]


def word_pairs(
    translation: Translation, alternative: Alternative, src: Tokenizer, tgt: Tokenizer
) -> Pairs:
    """The same by words, as spaces part those of source and translation; each pair once, sorted."""
    source, target = _source_words(translation, src), _target_words(alternative, tgt)
    return sorted({(source[i], target[j]) for i, j in token_pairs(alternative)})


def source_tokens(translation: Translation, src: Tokenizer) -> list[str]:
    """The tokens that the model read, those of all parts in a row."""
    return [token for part in translation.parts for token in src.tokens(part)]


def unknown_words(translation: Translation, src: Tokenizer) -> set[int]:
    """The places of words of the source that the model does not know, or not all of."""
    ids = (i for part in translation.parts for i in src.encode(part))
    places = _source_words(translation, src)
    return {place for i, place in zip(ids, places, strict=True) if i == UNK_ID}


def marked_words(alternative: Alternative, tgt: Tokenizer) -> list[int]:
    """The places of words of the translation that the model could not say, copied or marked."""
    places = zip(alternative.hypothesis.ids, _target_words(alternative, tgt), strict=True)
    return sorted({place for i, place in places if i == UNK_ID})


def _source_words(translation: Translation, src: Tokenizer) -> list[int]:
    """For each of `source_tokens` the place of its word in the whole source."""
    text, end = normalize(translation.source), 0
    places: list[int] = []
    for part in translation.parts:
        start = text.index(part, end)
        end = start + len(part)
        places += [_word_at(text, start) + place for place in src.words(part)]
    return places


def _target_words(alternative: Alternative, tgt: Tokenizer) -> list[int]:
    """For each id the place of its word in the whole translation."""
    text, end = alternative.text, 0
    places: list[int] = []
    for part in alternative.parts or [alternative]:
        start = text.index(part.text, end)
        end = start + len(part.text)
        said = tgt.words_said(part.hypothesis.ids, part.copied)
        places += [_word_at(text, start) + place for place in said]
    return places


def _word_at(text: str, start: int) -> int:
    """The place of the word that the character at `start` stands in, as spaces part words."""
    return max(0, len(text[: start + 1].split()) - 1)
