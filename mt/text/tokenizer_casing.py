"""Capital letters on their way in and out: which to drop before a lookup, which to put back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

_WORD = re.compile(r"[^\W\d_]+")
# The first letter of a sentence, whatever quotation mark, dash or bracket comes before it.
_START = re.compile(r"(?:^|[.!?…][\"'”’»)\]]*\s)[^\w]*([^\W\d_]+)")
_MOST = 0.5


class Casing:
    """What `tokenizer.casing` asks for, with the words that keep their capitals."""

    def __init__(self, mode: str, forms: dict[str, str], capital: bool) -> None:
        self.mode = mode
        self.forms = forms
        self.capital = capital

    def fold(self, text: str) -> str:
        """`text` as the vocabulary spells it; no letter is added or lost."""
        if self.mode == "keep":
            return text
        if self.mode == "lower":
            return _lower(text)
        if _shouted(text):
            return self._with_forms(_lower(text))
        return _START.sub(self._fold_start, text)

    def restore(self, text: str) -> str:
        """Output as it is written: names and, if the corpus has them, sentences with a capital."""
        if self.mode == "lower":
            text = self._with_forms(text)
        if self.mode != "keep" and self.capital:
            text = _START.sub(_capitalise, text)
        return text

    def as_dict(self) -> dict[str, Any]:
        """What `from_dict` needs to make an equal one."""
        return {"mode": self.mode, "capital": self.capital, "forms": self.forms}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Casing:
        """The casing that `as_dict` described; `keep` where there is nothing."""
        return cls(data.get("mode", "keep"), data.get("forms", {}), data.get("capital", False))

    def _with_forms(self, text: str) -> str:
        return _WORD.sub(lambda found: self.forms.get(found[0], found[0]), text)

    def _fold_start(self, found: re.Match[str]) -> str:
        word = found[1]
        ahead = found[0][: -len(word)]
        if len(word) > 1 and word[1:] != _lower(word[1:]):
            return found[0]  # NATO, McDonald: not the capital of a sentence
        return ahead + self.forms.get(_lower(word), _lower(word))


class CasingCounter:
    """Learns from sentences, as they pass by, how each word is usually written."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._starts = self._capitals = 0

    def watch(self, sentences: Iterable[str]) -> Iterator[str]:
        """Yields `sentences` unchanged and counts their words."""
        for sentence in sentences:
            self._count(sentence)
            yield sentence

    def casing(self, mode: str, min_frequency: int) -> Casing:
        """What was learnt; only words that are not usually in lower case are kept.

        A form to look up must be in the vocabulary; to write one it is enough to have seen it.
        """
        least = min_frequency if mode == "true" else 1
        forms = {}
        for lower, counts in sorted(self._counts.items()):
            form = min(counts, key=lambda word: (-counts[word], word))
            if form != lower and counts[form] >= least:
                forms[lower] = form
        return Casing(mode, forms, self._capitals > _MOST * self._starts)

    def _count(self, sentence: str) -> None:
        starts = {found.start(1) for found in _START.finditer(sentence)}
        shouted = _shouted(sentence)
        for found in _WORD.finditer(sentence):
            word = found[0]
            if found.start() in starts:
                self._starts += 1
                self._capitals += word[0].isupper()
            elif not shouted:
                self._counts.setdefault(_lower(word), Counter())[word] += 1


def _lower(text: str) -> str:
    """Lower case, character for character (only İ would become two)."""
    return text.replace("İ", "I").lower()


def _shouted(text: str) -> bool:
    """Whether a text of more than one word is all in capitals."""
    return text.isupper() and len(_WORD.findall(text)) > 1


def _capitalise(found: re.Match[str]) -> str:
    word = found[1]
    ahead = found[0][: -len(word)]
    return ahead + (word[0].upper() if len(word[0].upper()) == 1 else word[0]) + word[1:]
