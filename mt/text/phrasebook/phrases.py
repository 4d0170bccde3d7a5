"""Noun phrases in both languages at once, and what agrees with them; no verb but `be`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mt.text.phrasebook import conjugation, english
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.italian import (
    adjective,
    before_noun,
    contract,
    definite,
    indefinite,
    join,
    with_preposition,
)
from mt.text.phrasebook.nouns import Noun


@dataclass(frozen=True)
class Text:
    """A piece of a sentence in English and in Italian; `+` puts a space where one belongs."""

    en: str = ""
    it: str = ""

    def __add__(self, other: Text) -> Text:
        return Text(join(self.en, other.en), join(self.it, other.it))

    def comma(self) -> Text:
        return Text(self.en + ",", self.it + ",")


NOTHING = Text()


@dataclass(frozen=True)
class NounPhrase(Text):
    """A text with what others must agree with, and the article that a preposition can absorb."""

    feminine: bool = False
    plural: bool = False
    person: int = 3
    article: str = ""
    polite: bool = False  # `you` in English, the third person in Italian

    @property
    def third(self) -> bool:
        """Whether an English verb takes its -s."""
        return self.person == 3 and not self.plural and not self.polite

    def after(self, preposition: str) -> str:
        """The Italian after a preposition: `sul tavolo`, `ad Anna`."""
        if not preposition:
            return self.it
        if not self.article:
            return with_preposition(preposition, self.it)
        return join(contract(preposition, self.article), self.it[len(self.article) :].strip())

    def pronoun(self) -> NounPhrase:
        """He, she or they, which Italian leaves unsaid."""
        word = self.en if self.person < 3 or self.polite else _HE[2 * self.plural + self.feminine]
        return replace(self, en=word, it="", article="")


_HE = ("he", "she", "they", "they")
ME, YOU, HE, SHE, WE, YOU_ALL, THEY = PRONOUNS = (
    NounPhrase("I", person=1),
    NounPhrase("you", person=2),
    NounPhrase("he"),
    NounPhrase("she", feminine=True),
    NounPhrase("we", person=1, plural=True),
    NounPhrase("you", person=2, plural=True),
    NounPhrase("they", plural=True),
)
POLITE_YOU = NounPhrase("you", polite=True)
_MY = {
    ME: ("my", "mio"), YOU: ("your", "tuo"), HE: ("his", "suo"), SHE: ("her", "suo"),
    WE: ("our", "nostro"), YOU_ALL: ("your", "vostro"), THEY: ("their", "loro"),
    POLITE_YOU: ("your", "suo"),
}  # fmt: skip
_MY_FORMS = {"mio": "miei", "tuo": "tuoi", "suo": "suoi"}


def described(noun: Noun, plural: bool, adjectives: tuple[Adjective, ...]) -> Text:
    """The noun between its adjectives, without article: `small house`, `piccola casa`."""
    feminine, it = noun.is_feminine(plural), noun.italian(plural)
    for word in adjectives:
        if not word.before:
            it = join(it, adjective(word.it, feminine, plural, word.it_plural))
    for word in adjectives:
        if word.before:
            it = join(before_noun(word.it, it, feminine, plural), it)
    return Text(join(*(word.en for word in adjectives), noun.english(plural)), it)


def the(noun: Noun, plural: bool = False, *adjectives: Adjective) -> NounPhrase:
    bare = described(noun, plural, adjectives)
    feminine = noun.is_feminine(plural)
    article = definite(bare.it, feminine, plural)
    return NounPhrase(f"the {bare.en}", join(article, bare.it), feminine, plural, 3, article)


def a(noun: Noun, *adjectives: Adjective) -> NounPhrase:
    bare = described(noun, False, adjectives)
    en = f"{english.indefinite(bare.en)} {bare.en}"
    return NounPhrase(en, join(indefinite(bare.it, noun.feminine), bare.it), noun.feminine)


def bare(noun: Noun, plural: bool, *adjectives: Adjective) -> NounPhrase:
    """Without any determiner: `there is no bread`, `non c'è pane`."""
    text = described(noun, plural, adjectives)
    return NounPhrase(text.en, text.it, noun.is_feminine(plural), plural)


def generic(noun: Noun, plural: bool) -> NounPhrase:
    """What English says without and Italian with the article: `apples`, `le mele`."""
    return replace(the(noun, plural), en=noun.english(plural))


def some(noun: Noun) -> NounPhrase:
    """A part of a mass: `some bread`, `del pane`."""
    return NounPhrase(f"some {noun.en}", the(noun).after("di"), noun.feminine)


def counted(number: Text, noun: Noun, *adjectives: Adjective) -> NounPhrase:
    """`three red apples`; molti and alcuni agree in gender."""
    text = described(noun, True, adjectives)
    feminine = noun.feminine_plural
    many = number.it[:-1] + "e" if feminine and number.it in ("molti", "alcuni") else number.it
    return NounPhrase(join(number.en, text.en), join(many, text.it), feminine, True)


def my(owner: NounPhrase, noun: Noun, plural: bool = False, *adjectives: Adjective) -> NounPhrase:
    """What belongs to `owner`; a single relation goes without article, except with `loro`."""
    text, feminine = described(noun, plural, adjectives), noun.is_feminine(plural)
    en, it = _MY[_owner(owner)]
    if it != "loro":
        masculine_plural = _MY_FORMS.get(it, "")
        it = adjective(it, feminine, plural, masculine_plural)
    bare_kin = noun.kind == "kin" and not plural and not adjectives and it != "loro"
    article = "" if bare_kin else definite(it, feminine, plural)
    whole = join(article, it, text.it)
    return NounPhrase(f"{en} {text.en}", whole, feminine, plural, 3, article)


def mine(owner: NounPhrase, thing: NounPhrase) -> Text:
    """`this book is mine`, `questo libro è mio`."""
    it = _MY[_owner(owner)][1]
    own = {"my": "mine", "his": "his"}.get(_MY[_owner(owner)][0], _MY[_owner(owner)][0] + "s")
    plural = _MY_FORMS.get(it, "")
    return Text(own, it if it == "loro" else adjective(it, thing.feminine, thing.plural, plural))


def _owner(who: NounPhrase) -> NounPhrase:
    if who.polite:
        return POLITE_YOU
    return next(
        pronoun
        for pronoun in PRONOUNS
        if (pronoun.person, pronoun.plural) == (who.person, who.plural)
        and (who.person < 3 or who.plural or pronoun.feminine == who.feminine)
    )


def this(noun: Noun, plural: bool = False) -> NounPhrase:
    feminine, it = noun.is_feminine(plural), noun.italian(plural)
    word = adjective("questo", feminine, plural)
    en = f"{'these' if plural else 'this'} {noun.english(plural)}"
    return NounPhrase(en, join(word, it), feminine, plural)


def that(noun: Noun, plural: bool = False) -> NounPhrase:
    feminine, it = noun.is_feminine(plural), noun.italian(plural)
    word = before_noun("quello", it, feminine, plural)
    en = f"{'those' if plural else 'that'} {noun.english(plural)}"
    return NounPhrase(en, join(word, it), feminine, plural)


def of(thing: NounPhrase, owner: NounPhrase) -> NounPhrase:
    """`the teacher's bag`, `la borsa del maestro`; the thing comes with `the`."""
    en = f"{owner.en}'s {thing.en.removeprefix('the ')}"
    return replace(thing, en=en, it=join(thing.it, owner.after("di")))


def quality(word: Adjective, who: NounPhrase) -> Text:
    """The adjective as it agrees with what it is said of."""
    return Text(word.en, adjective(word.it, who.feminine, who.plural, word.it_plural))


def be(who: NounPhrase, tense: str = "present", negative: bool = False) -> Text:
    """`is`, `è`; `was`, `era`; `is not`, `non è`."""
    singular = who.person == 1 and not who.plural
    if tense == "present":
        en = "am" if singular else "is" if who.third else "are"
        it = conjugation.present("essere", who.person, who.plural)
    else:
        en = "was" if singular or who.third else "were"
        it = conjugation.imperfect("essere", who.person, who.plural)
    return Text(join(en, "not" * negative), join("non" * negative, it))
