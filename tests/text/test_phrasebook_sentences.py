"""The grammar, searched through for a given English sentence, has just the Italian checked by hand.

All the grammar's choices go through `Pick.one`. `Search` replays a pattern once for every way of
choosing, but passes over the words that the English sentence does not contain.
"""

import random
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

import pytest

from mt.text.phrasebook import SHOWCASE
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.english import comparative, gerund, superlative, third_person
from mt.text.phrasebook.nouns import Noun
from mt.text.phrasebook.patterns import PATTERNS, Pattern, sentence
from mt.text.phrasebook.phrases import PRONOUNS, Text
from mt.text.phrasebook.pick import Pick
from mt.text.phrasebook.verbs import Verb
from tests.text.test_phrasebook_table import checked

T = TypeVar("T")
BY_NAME = {pattern.__name__: pattern for pattern in PATTERNS}
OWN_WORDS = (
    "i my me mine", "you your yours", "he his him", "she her hers", "we our us ours", "you your",
    "they their them",
)  # fmt: skip
OWN = {pronoun: words.split() for pronoun, words in zip(PRONOUNS, OWN_WORDS, strict=True)}


class DeadEndError(Exception):
    """Nothing that can be chosen here is in the sentence."""


class Search(Pick):
    """Walks through the choices of a pattern that can lead to one English sentence."""

    def __init__(self, english: str) -> None:
        super().__init__(random.Random(0))
        self._words = f" {_plain(english)} "
        self._path: list[tuple[int, int]] = []  # the choice made at each point, and of how many
        self._at = 0

    def outcomes(self, pattern: Pattern) -> set[tuple[str, str]]:
        found, more = set(), True
        while more:
            self._at = 0
            with suppress(DeadEndError):
                found.add(sentence(pattern, self))
            while self._path and self._path[-1][0] + 1 == self._path[-1][1]:
                self._path.pop()
            more = bool(self._path)
            if more:
                choice, of = self._path.pop()
                self._path.append((choice + 1, of))
        return found

    def one(self, options: Sequence[T]) -> T:
        options = list(dict.fromkeys(options))
        options = [option for option in options if self._occurs(option)]
        if not options:
            raise DeadEndError
        if self._at == len(self._path):
            self._path.append((0, len(options)))
        choice = self._path[self._at][0]
        self._at += 1
        return options[choice]

    def _occurs(self, option: object) -> bool:
        forms: tuple[str, ...]
        if option in OWN:
            return any(f" {word} " in self._words for word in OWN[option])
        match option:
            case Noun():
                forms = (option.en, option.en_plural)
            case Verb(en=base):
                past, participle = option.en_past, option.en_participle
                forms = (base, third_person(base), gerund(base), past, participle)
            case Adjective(en=en):
                forms = (en, comparative(en), superlative(en))
            case Text(en=en):
                forms = (en,)
            case _:
                return True
        return any(f" {_plain(form)} " in self._words for form in forms)


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def translations(pattern: Pattern, english: str) -> set[str]:
    return {it for en, it in Search(english).outcomes(pattern) if en == english}


@pytest.mark.parametrize(("pattern", "english", "italian"), checked())
def test_a_checked_sentence_has_just_its_italian(pattern: str, english: str, italian: str) -> None:
    assert translations(BY_NAME[pattern], english) == {italian}


@pytest.mark.parametrize(
    ("pattern", "pair"), list(zip(("near", "yesterday", "there_are"), SHOWCASE, strict=True))
)
def test_the_grammar_makes_the_showcase(pattern: str, pair: tuple[str, str]) -> None:
    english, italian = pair
    assert translations(BY_NAME[pattern], english) == {italian}
