"""Sentences that say what a thing is like, whose it is and what it costs; people are elsewhere."""

from functools import cache

from mt.text.phrasebook import adjectives, english, nouns, phrases, words
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.nouns import Noun
from mt.text.phrasebook.phrases import NounPhrase, Text, be, quality
from mt.text.phrasebook.pick import Pick
from mt.text.phrasebook.predicates import VerbPhrase
from mt.text.phrasebook.verbs import verb

_KINDS = "fruit food drinks clothes pairs reading things containers furniture buildings vehicles"
_DESCRIBED = tuple(
    n
    for n in nouns.select(
        f"{_KINDS} openings rooms outdoors towns transport {'events stories ' * 2}"
    )
    if adjectives.fitting(n, before=False)
)
_OPPOSITES = (
    "clean dirty", "expensive cheap", "long short", "modern ancient", "quiet noisy crowded",
    "hot cold", "interesting boring", "difficult easy", "fast slow", "open closed", "empty full",
    "fresh salty ripe", "full broken", "empty broken", "ready cold", "crowded closed",
    "full closed", "Italian French Spanish German English",
    "red white black green blue yellow grey brown pink",
)  # fmt: skip
# What may have changed since yesterday.
_PASSING = (
    "clean", "dirty", "quiet", "noisy", "crowded", "hot", "cold", "ready", "open", "closed",
    "empty", "full", "boring", "interesting", "difficult", "easy", "long", "short",
)  # fmt: skip
_FAULTS = ("small", "big", "expensive", "heavy", "long", "slow", "noisy", "crowded")
_SMALL_OR_BIG = ("small", "big", "expensive")


def thing_is(p: Pick) -> Text:
    """The small house is white."""
    noun = p.one(_DESCRIBED)
    word = p.adjective(noun, False)
    thing = phrases.the(noun, p.number(noun), *p.adjectives(noun, True, word))
    return thing + be(thing) + quality(word, thing)


def thing_is_not(p: Pick) -> Text:
    """My new car is not fast."""
    noun = p.one([n for n in _DESCRIBED if n.kind in ("clothes", "pairs", "things", "vehicles")])
    word = p.adjective(noun, False)
    thing = phrases.my(p.owner(), noun, p.number(noun), *p.adjectives(noun, True, word))
    return thing + be(thing, negative=True) + quality(word, thing)


def thing_is_both(p: Pick) -> Text:
    """The letter is long and important."""
    noun = p.one([n for n in _DESCRIBED if len(_both(n)) > 1])
    thing = phrases.the(noun, p.number(noun))
    first, second = p.one(_both(noun))
    return thing + be(thing) + quality(first, thing) + Text("and", "e") + quality(second, thing)


@cache
def _both(noun: Noun) -> list[tuple[Adjective, Adjective]]:
    fitting = adjectives.fitting(noun, before=False)
    return [(a, b) for a in fitting for b in fitting if _agree(a, b)]


def _agree(first: Adjective, second: Adjective) -> bool:
    """Whether one thing can be both: two states, or two lasting qualities."""
    opposite = any({first.en, second.en} <= set(group.split()) for group in _OPPOSITES)
    states = adjectives.STATES
    return first != second and not opposite and (first.en in states) == (second.en in states)


def thing_was(p: Pick) -> Text:
    """Yesterday the beach was crowded."""
    noun = p.one([n for n in _DESCRIBED if _passing(n)])
    thing = phrases.the(noun)
    return (
        p.one(words.YESTERDAY) + thing + be(thing, "past") + quality(p.one(_passing(noun)), thing)
    )


@cache
def _passing(noun: Noun) -> list[Adjective]:
    if noun.kind in ("clothes", "pairs", "reading", "things", "vehicles", "containers"):
        return []
    return [word for word in adjectives.fitting(noun, before=False) if word.en in _PASSING]


def faster_than(p: Pick) -> Text:
    """The train is faster than the car."""
    word, alike = p.one(_COMPARABLE)
    first = p.one(alike)
    second = p.one([noun for noun in alike if noun != first])
    thing, other = (phrases.the(noun, noun.kind == "pairs") for noun in (first, second))
    than = Text(f"than {other.en}", other.after("di"))
    return (
        thing
        + be(thing)
        + Text(english.comparative(word.en), f"più {quality(word, thing).it}")
        + than
    )


def _comparable() -> list[tuple[Adjective, tuple[Noun, ...]]]:
    """The adjectives, each with things of one kind that it compares."""
    return [
        (word, alike)
        for word in adjectives.ADJECTIVES
        for kind in nouns.TABLE
        if word.gradable
        and word.en not in ("beautiful", "ill", "tired")
        and kind not in ("people", "kin", "events", "stories", "food")
        if len(alike := tuple(n for n in word.nouns if n.kind == kind and n.en != "sea")) > 1
    ]


_COMPARABLE = _comparable()


def the_oldest(p: Pick) -> Text:
    """This is the most interesting museum in Rome."""
    noun = p.noun("museum church castle hotel restaurant square park bridge library theatre market")
    word = p.one([w for w in adjectives.fitting(noun, graded=True) if w.en not in ("good", "new")])
    thing = phrases.the(noun)
    city = p.one(words.CITIES)
    en = f"the {english.superlative(word.en)} {noun.en} in {city.en}"
    return _this_is(noun) + Text(en, f"{thing.it} più {quality(word, thing).it} di {city.it}")


def _this_is(noun: Noun) -> Text:
    return Text("this is", "questa è" if noun.feminine else "questo è")


def this_is_a(p: Pick) -> Text:
    """This is an English newspaper."""
    noun = p.noun("fruit clothes reading things instruments containers furniture buildings "
                  "outdoors vehicles transport animals trees events stories")  # fmt: skip
    return _this_is(noun) + phrases.a(noun, *p.adjectives(noun))


def this_thing_is(p: Pick) -> Text:
    """Those shoes are too expensive."""
    noun = p.one([n for n in _DESCRIBED if adjectives.fitting(n, False, True)])
    thing = (phrases.that if p.either() else phrases.this)(noun, p.number(noun))
    degree = p.one((phrases.NOTHING, Text("very", "molto"), Text("too", "troppo")))
    return thing + be(thing) + degree + quality(p.adjective(noun, False, graded=True), thing)


def is_mine(p: Pick) -> Text:
    """This umbrella is mine."""
    noun = p.noun("clothes pairs reading things containers vehicles instruments")
    thing = (phrases.that if p.either() else phrases.this)(noun, p.number(noun))
    return thing + be(thing) + phrases.mine(p.one(phrases.PRONOUNS[:5]), thing)


def annas_bag(p: Pick) -> Text:
    """Anna's bag is heavy."""
    noun = p.one(
        [n for n in _DESCRIBED if n.kind in ("clothes", "pairs", "containers", "vehicles")]
    )
    thing = phrases.of(phrases.the(noun, p.number(noun)), p.someone(alone=True))
    return thing + be(thing) + quality(p.adjective(noun, False), thing)


def what_a(p: Pick) -> Text:
    """What a beautiful dress!"""
    noun = p.noun("clothes pets animals buildings outdoors nature towns trees song flower ring")
    word = p.one([w for w in adjectives.fitting(noun, True) if w.en not in ("old", "new")])
    plural = p.number(noun)
    text = phrases.described(noun, plural, (word,))
    en = text.en if plural else f"{english.indefinite(text.en)} {text.en}"
    return Text(f"what {en}!", f"che {text.it}!")


def costs(p: Pick) -> Text:
    """The red shoes cost ninety euros."""
    noun = p.noun("clothes pairs things instruments containers furniture bicycle")
    thing, price = p.thing(noun), p.one(words.PRICES)
    cost = VerbPhrase(verb("cost"), Text(f"{price.en} euros", f"{price.it} euro"))
    return thing + cost.present(thing)


def beautiful_but(p: Pick) -> Text:
    """The hotel is beautiful, but it is too expensive."""
    noun = p.noun("clothes pairs furniture instruments vehicles buildings outdoors")
    faults = [w for w in adjectives.fitting(noun, graded=True) if w.en in _FAULTS]
    faults = faults or [adjectives.named(en) for en in _SMALL_OR_BIG]
    thing = phrases.the(noun, p.number(noun))
    it = NounPhrase("they" if thing.plural else "it", "", thing.feminine, thing.plural)
    first = thing + be(thing) + quality(adjectives.named("beautiful"), thing)
    second = it + be(it) + Text("too", "troppo") + quality(p.one(faults), it)
    return first.comma() + Text("but", "ma") + second


PATTERNS = {
    thing_is: 12, thing_is_not: 4, thing_is_both: 4, thing_was: 4, faster_than: 4, the_oldest: 2,
    this_is_a: 4, this_thing_is: 8, is_mine: 3, annas_bag: 3, what_a: 1, costs: 4,
    beautiful_but: 3,
}  # fmt: skip
