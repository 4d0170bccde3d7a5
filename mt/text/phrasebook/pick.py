"""Chooses words that make sense together; every choice of the grammar goes through `Pick.one`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from mt.text.phrasebook import adjectives, italian, nouns, phrases, verbs, words
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.nouns import Noun
from mt.text.phrasebook.phrases import NounPhrase, Text
from mt.text.phrasebook.predicates import VerbPhrase

T = TypeVar("T")
_UNIQUE = ("sea", "mountain", "garden")  # for these, only `the`
_OWNED = ("clothes", "pairs", "reading", "things", "instruments", "containers", "vehicles", "pets")
_PARTLY = ("eat", "drink", "buy", "bring", "order", "cook", "prepare")
_COUNTED = ("fruit", "reading", "things", "animals")
_SITES = "buildings lake river park market bridge square zoo garden beach"
SNACKS = """
    apple orange pear sandwich cake biscuit pizza strawberry peach ice_cream bread cheese soup pasta
    chocolate salad rice"""
PEOPLE = nouns.select("people")
KIN = nouns.select("kin")
FRIENDS = nouns.select("friends")


class Pick:
    """Draws words and phrases from the lexicon."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def one(self, options: Sequence[T]) -> T:
        return options[int(self._rng.random() * len(options))]

    def either(self) -> bool:
        return self.one((False, True))

    def seldom(self) -> bool:
        """True once in three times."""
        return self.one((False, False, True))

    def noun(self, names: str) -> Noun:
        return self.one(nouns.select(names))

    def adjective(self, noun: Noun, before: bool | None = None, graded: bool = False) -> Adjective:
        """One that fits the noun."""
        return self.one(adjectives.fitting(noun, before, graded))

    def adjectives(
        self, noun: Noun, before: bool | None = None, besides: Adjective | None = None
    ) -> tuple[Adjective, ...]:
        """None or one that tells the noun from others, and does not clash with what is said."""
        if not self.seldom():
            return ()
        fitting = adjectives.attributes(noun, before)
        fitting = tuple(w for w in fitting if not (besides and adjectives.clash(w, besides)))
        return (self.one(fitting),) if fitting else ()

    # People

    def someone(self, alone: bool = False) -> NounPhrase:
        """A third person, or several unless `alone`, who is named or described."""
        several = () if alone else ("couple", "many")
        kind = self.one(("name", "name", "the", "the", "kin", "kin", "title", *several))
        if kind == "name":
            return self.one(words.NAMES)
        if kind == "title":
            return self.titled()
        if kind == "couple":
            return self.couple()
        if kind == "kin":
            return phrases.my(self.owner(), self.one(KIN + FRIENDS))
        return phrases.the(self.one(PEOPLE), kind == "many")

    def anyone(self) -> NounPhrase:
        """Someone, or a pronoun."""
        if self.seldom():
            return self.one(phrases.PRONOUNS[:5] + phrases.PRONOUNS[6:])  # all but the plural you
        return self.someone()

    def subject(self) -> NounPhrase:
        """Anyone but we, you and they: for the tenses with forms of their own."""
        if self.seldom():
            return self.one((phrases.ME, phrases.ME, phrases.HE, phrases.SHE))
        return self.someone()

    def you_or_someone(self) -> NounPhrase:
        """Whom a question is about."""
        return phrases.YOU if self.either() else self.someone()

    def owner(self) -> NounPhrase:
        return self.one((phrases.ME, phrases.ME, phrases.YOU, *phrases.PRONOUNS[2:5], phrases.THEY))

    def titled(self) -> NounPhrase:
        surname = self.one(words.SURNAMES)
        if self.either():
            return NounPhrase(f"Mrs. {surname}", f"la signora {surname}", True, article="la")
        return NounPhrase(f"Mr. {surname}", f"il signor {surname}", article="il")

    def couple(self) -> NounPhrase:
        men, women = words.NAMES[:8], words.NAMES[8:]
        first, second = self.one(women), self.one(men)
        return NounPhrase(f"{first.en} and {second.en}", f"{first.it} e {second.it}", plural=True)

    # Things

    def thing(self, noun: Noun, plural: bool | None = None) -> NounPhrase:
        """A definite thing, with or without adjective; a relation is somebody's."""
        if noun.kind == "kin":
            return phrases.my(self.owner(), noun)
        if plural is None:
            plural = self.number(noun)
        return phrases.the(noun, plural, *self.adjectives(noun))

    def number(self, noun: Noun) -> bool:
        """Whether to use the plural."""
        if noun.kind in words.MASS or noun.en in _UNIQUE:
            return False
        return noun.kind == "pairs" or self.seldom()

    def object(self, noun: Noun, owner: NounPhrase) -> NounPhrase:
        """What a verb acts upon; a possessive points back to the subject."""
        if noun.kind == "people":
            return phrases.the(noun, self.seldom())
        if noun.kind == "kin":
            return phrases.my(owner, noun)
        if noun.kind in words.MASS:
            return self.mass(noun)
        if noun.en in _UNIQUE:
            return phrases.the(noun)
        kinds = ["a", "a", "the", "the", "new", "new"]
        kinds += ["my"] * (noun.kind in _OWNED) + ["three"] * (noun.kind in _COUNTED)
        kind = self.one(("the", "the", "my") if noun.kind == "pairs" else kinds)
        if kind == "a":
            return phrases.a(noun)
        if kind == "my":
            plural = owner.plural or noun.kind == "pairs"
            return phrases.my(owner, noun, plural, *self.adjectives(noun, True))
        if kind == "three":
            return phrases.counted(self.one(words.NUMBERS[:6] + words.MANY), noun)
        fitting = [w for w in adjectives.fitting(noun) if w.en not in adjectives.STATES]
        if kind == "new" and fitting:
            return phrases.a(noun, self.one(fitting))
        return phrases.the(noun, self.number(noun), *self.adjectives(noun))

    def mass(self, noun: Noun) -> NounPhrase:
        """The one or some of it."""
        if self.seldom():
            return phrases.the(noun, False, *self.adjectives(noun, False))
        return self.serving(noun)

    def serving(self, noun: Noun) -> NounPhrase:
        """`some bread`, `a cup of tea`."""
        if noun.kind != "drinks" or self.either():
            return phrases.some(noun)
        measure = self.one(
            words.MEASURES[-1:] if noun.en in ("coffee", "tea") else words.MEASURES[:2]
        )
        return NounPhrase(f"{measure.en} {noun.en}", self._of(measure.it, noun.it))

    @staticmethod
    def _of(measure: str, it: str) -> str:
        return f"{measure[:-1]}'{it}" if it == "acqua" else f"{measure} {it}"

    # Doings

    def deed(self, owner: NounPhrase, but: tuple[str, ...] = ()) -> VerbPhrase:
        """A verb, other than some, with its object."""
        verb = self.one([word for word in verbs.DEEDS if word.en not in but])
        noun = self.one(verb.objects)
        if noun.kind in words.MASS and verb.en not in _PARTLY:
            return VerbPhrase(verb, phrases.the(noun))
        return VerbPhrase(verb, self.object(noun, owner))

    def activity(self, but: tuple[str, ...] = ()) -> VerbPhrase:
        """A verb that needs no object, in a place where one does it."""
        verb = self.one([word for word in verbs.ACTIVITIES if word.en not in but])
        return VerbPhrase(verb, self.one(words.SPOTS_OF[verb.en]))

    def doing(self, owner: NounPhrase, but: tuple[str, ...] = ()) -> VerbPhrase:
        return self.deed(owner, but) if self.one((True, True, True, False)) else self.activity(but)

    # Places

    def site(self, besides: tuple[Noun, ...] = ()) -> Noun:
        return self.one([n for n in nouns.select(_SITES) if n not in besides])

    def position(self, thing: NounPhrase, site: NounPhrase) -> Text:
        """Where a thing lies: `near the station`, `vicino alla stazione`."""
        en, it, link = self.one(words.POSITIONS)
        it = italian.adjective(it, thing.feminine, thing.plural) if it == "lontano" else it
        return Text(f"{en} {site.en}", f"{it} {site.after(link)}")
