"""Verb phrases in both languages at once, in each tense after a subject; no nouns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mt.text.phrasebook import conjugation, english
from mt.text.phrasebook.italian import is_vowel, join
from mt.text.phrasebook.phrases import HE, NOTHING, NounPhrase, Text, be
from mt.text.phrasebook.verbs import Verb, verb


def _do(who: NounPhrase) -> str:
    return "does" if who.third else "do"


def _before_verb(clitic: str, form: str) -> str:
    return join("l'" if clitic in ("lo", "la") and is_vowel(form) else clitic, form)


@dataclass(frozen=True)
class VerbPhrase:
    """A verb with its object and places; a method per tense puts it after a subject."""

    verb: Verb
    rest: Text = NOTHING
    clitic: str = ""  # an object pronoun: lo, la, li, le, mi, ti, ci, vi, gli
    clitic_of: NounPhrase | None = None  # what a participle after the pronoun agrees with

    def __add__(self, more: Text) -> VerbPhrase:
        return replace(self, rest=self.rest + more)

    def present(self, who: NounPhrase, adverb: Text = NOTHING) -> Text:
        base = self.verb.en
        en = join(adverb.en, english.third_person(base) if who.third else base, self.rest.en)
        return Text(en, self._italian(who, self._form(who), adverb.it))

    def present_not(self, who: NounPhrase) -> Text:
        en = join(_do(who), "not", self.verb.en, self.rest.en)
        return Text(en, self._italian(who, self._form(who), "", "non"))

    def past(self, who: NounPhrase, adverb: Text = NOTHING) -> Text:
        en = join(adverb.en, self.verb.en_past, self.rest.en)
        return Text(en, self._compound(who, adverb.it))

    def past_not(self, who: NounPhrase) -> Text:
        en = join("did not", self.verb.en, self.rest.en)
        return Text(en, self._compound(who, "", "non"))

    def perfect(self, who: NounPhrase, adverb: Text) -> Text:
        """`has already eaten`; never is `non … mai`."""
        have = "has" if who.third else "have"
        en = join(have, adverb.en, self.verb.en_participle, self.rest.en)
        return Text(en, self._compound(who, adverb.it, "non" * (adverb.it == "mai")))

    def imperfect(self, who: NounPhrase) -> Text:
        """`was eating`, `mangiava`."""
        en = join(be(who, "past").en, english.gerund(self.verb.en), self.rest.en)
        form = conjugation.imperfect(self.verb.infinitive, who.person, who.plural)
        return Text(en, self._italian(who, form))

    def progressive(self, who: NounPhrase) -> Text:
        en = join(be(who).en, english.gerund(self.verb.en), self.rest.en)
        return Text(en, self._staring(who))

    def future(self, who: NounPhrase, negative: bool = False) -> Text:
        en = join("will", "not" * negative, self.verb.en, self.rest.en)
        form = conjugation.future(self.verb.infinitive, who.person, who.plural)
        return Text(en, self._italian(who, form, "", "non" * negative))

    def modal(self, who: NounPhrase, modal: str, negative: bool = False) -> Text:
        """`wants to`, `can` or `must` and the infinitive."""
        want = {"potere": ("can", "cannot"), "dovere": ("must", "must not")}
        wish = ("wants to" if who.third else "want to", f"{_do(who)} not want to")
        form = conjugation.present(modal, who.person, who.plural)
        en = join(want.get(modal, wish)[negative], self.verb.en, self.rest.en)
        return Text(en, join("non" * negative, form, self.infinitive(who).it))

    def infinitive(self, who: NounPhrase) -> Text:
        """`get up`, `alzarmi`: a pronoun hangs on to the infinitive."""
        it, clitic = self.verb.infinitive, self._clitic(who)
        it = it[:-1] + clitic if clitic else it
        return Text(join(self.verb.en, self.rest.en), join(it, self.rest.it))

    def ask(self, who: NounPhrase) -> Text:
        """`does Anna eat bread`, `Anna mangia il pane`."""
        en = join(_do(who), who.en, self.verb.en, self.rest.en)
        return Text(en, join(who.it, self.present(who).it))

    def ask_past(self, who: NounPhrase) -> Text:
        en = join("did", who.en, self.verb.en, self.rest.en)
        return Text(en, join(who.it, self.past(who).it))

    def ask_progressive(self, who: NounPhrase) -> Text:
        en = join(be(who).en, who.en, english.gerund(self.verb.en), self.rest.en)
        return Text(en, join(who.it, self._staring(who)))

    def ask_modal(self, who: NounPhrase, modal: str) -> Text:
        word = {"potere": "can", "dovere": "must"}[modal]
        en = join(word, who.en, self.verb.en, self.rest.en)
        return Text(en, join(who.it, self.modal(who, modal).it))

    def order(self, plural: bool = False, negative: bool = False) -> Text:
        """To one friend or to several: `apri`, `non aprire`, `aprite`."""
        en = join("do not" * negative, self.verb.en, self.rest.en)
        form = conjugation.imperative(self.verb.infinitive, plural)
        if negative:
            form = join("non", form if plural else self.verb.infinitive)
        return Text(en, join(form, self.rest.it))

    def _form(self, who: NounPhrase) -> str:
        return conjugation.present(self.verb.infinitive, who.person, who.plural)

    def _clitic(self, who: NounPhrase) -> str:
        if self.verb.reflexive:
            return ("mi", "ti", "si", "ci", "vi", "si")[who.person - 1 + 3 * who.plural]
        return self.clitic

    def _italian(self, who: NounPhrase, form: str, after: str = "", negation: str = "") -> str:
        return join(negation, _before_verb(self._clitic(who), form), after, self.rest.it)

    def _compound(self, who: NounPhrase, adverb: str, negation: str = "") -> str:
        infinitive = self.verb.infinitive
        with_essere = self.verb.reflexive or conjugation.auxiliary(infinitive) == "essere"
        model = who if with_essere else self.clitic_of or HE
        participle = conjugation.participle(infinitive, model.feminine, model.plural)
        helper = "essere" if with_essere else "avere"
        form = conjugation.present(helper, who.person, who.plural)
        return self._italian(who, form, join(adverb, participle), negation)

    def _staring(self, who: NounPhrase) -> str:
        form = conjugation.present("stare", who.person, who.plural)
        return self._italian(who, form, conjugation.gerund(self.verb.infinitive))


def have(thing: Text) -> VerbPhrase:
    return VerbPhrase(verb("have"), thing)
