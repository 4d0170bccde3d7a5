"""How a translation came about, word by word, as the page shows it.

A text is given in pieces that make it up again when put together; a piece that is a word says of
which sentence it is, and which word of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mt.decoding.alignment import (
    marked_words,
    source_tokens,
    token_pairs,
    unknown_words,
    word_pairs,
)
from mt.decoding.alternative import Alternative
from mt.decoding.translator import Translation
from mt.serving.document import Document, Passage
from mt.serving.models import ServedModel
from mt.text.cleaning import normalize

Piece = dict[str, Any]
_SPACES = re.compile(r"(\s+)")


def explain(
    document: Document, translations: Sequence[Translation], model: ServedModel
) -> dict[str, Any]:
    """Source in pieces, and the sentences; what stands before each of their translations."""
    rest = iter(enumerate(translations))
    source: list[Piece] = []
    sentences: list[dict[str, Any]] = []
    between = ""
    for piece in document.pieces:
        if isinstance(piece, str):
            source.append({"text": piece})
            between += piece
            continue
        own = [next(rest) for _ in piece.sentences]
        source += _source_pieces(piece, own, model)
        between += piece.before
        for _, translation in own:
            sentences.append({"before": between, **_sentence(translation, model)})
            between = model.space if translation.text else ""
        between = piece.after
    return {"source": source, "sentences": sentences, "after": between}


def _sentence(translation: Translation, model: ServedModel) -> dict[str, Any]:
    return {
        "source": translation.source,
        "tokens": source_tokens(translation, model.translator.src),
        "unknown": translation.unknown,
        "cut": translation.cut,
        "repeated": translation.repeated,
        "parts": len(translation.parts),
        "alternatives": [_alternative(translation, one, model) for one in translation.alternatives],
    }


def _alternative(
    translation: Translation, alternative: Alternative, model: ServedModel
) -> dict[str, Any]:
    src, tgt = model.translator.src, model.translator.tgt
    return {
        "text": alternative.text,
        "tokens": tgt.pieces(alternative.hypothesis.ids),
        "copied": alternative.copied,
        "marked": marked_words(alternative, tgt),
        "words": word_pairs(translation, alternative, src, tgt),
        "alignment": token_pairs(alternative),
        "score": round(alternative.hypothesis.score, 4),
    }


def _source_pieces(
    passage: Passage, translations: Sequence[tuple[int, Translation]], model: ServedModel
) -> Iterator[Piece]:
    """A passage as it was given, its words told apart."""
    places = _places(passage)
    unknown = {
        (number, word)
        for number, translation in translations
        for word in unknown_words(translation, model.translator.src)
    }
    seen = 0
    yield from [{"text": passage.before}] * bool(passage.before)
    for text in filter(None, _SPACES.split(passage.text)):
        words = len(normalize(text).split())
        if places and words:
            index, word = places[seen]
            seen += words
            place = translations[index][0], word
            mark = {"unknown": True} if place in unknown else {}
            yield {"text": text, "sentence": place[0], "word": word, **mark}
        else:
            yield {"text": text}
    yield from [{"text": passage.after}] * bool(passage.after)


def _places(passage: Passage) -> list[tuple[int, int]]:
    """For each word of the normalised passage its sentence, and its place in that.

    None at all if the words that were given cannot be told from those of the normalised text.
    Where no spaces are written a word may be of several sentences: it is of the first then.
    """
    given = [word for raw in passage.text.split() for word in normalize(raw).split()]
    if given != passage.normal.split():
        return []
    places: dict[int, tuple[int, int]] = {}
    end = 0
    for number, sentence in enumerate(passage.sentences):
        start = passage.normal.index(sentence, end)
        end = start + len(sentence)
        first = len(passage.normal[: start + 1].split()) - 1
        for word in range(len(sentence.split())):
            places.setdefault(first + word, (number, word))
    return [places[word] for word in range(len(given))]
