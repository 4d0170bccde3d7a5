"""Sentences that say what people are like, feel, have and enjoy; what they do is elsewhere."""

from mt.text.phrasebook import adjectives, english, nouns, phrases, words
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.italian import join, with_preposition
from mt.text.phrasebook.phrases import NounPhrase, Text, be, quality
from mt.text.phrasebook.pick import KIN, PEOPLE, Pick
from mt.text.phrasebook.predicates import VerbPhrase, have
from mt.text.phrasebook.verbs import verb

_MOODS = ("tired", "happy", "sad", "worried", "ill")
_QUALITIES = [w for w in adjectives.fitting(PEOPLE[0], False, True) if w.en not in _MOODS]
_MOOD_WORDS = [adjectives.named(en) for en in _MOODS]
_JOBS = (
    "engineer lawyer chef baker farmer postman policeman actor journalist dentist painter "
    "psychologist architect doctor writer"
)
_MEN = words.NAMES[:8]
_YOUNG_KIN = nouns.select("brother son cousin")


def person_is(p: Pick) -> Text:
    """Anna is very tired."""
    who, word = p.anyone(), p.one((*_MOOD_WORDS[:4], *_QUALITIES))
    degree, negative = p.one(_DEGREES)
    return who + be(who, negative=negative) + degree + quality(word, who)


_VERY, _TOO = Text("very", "molto"), Text("too", "troppo")
_DEGREES = ((phrases.NOTHING, False), (_VERY, False), (_TOO, False), (_VERY, True))


def person_was(p: Pick) -> Text:
    """Yesterday evening the waiter was tired."""
    who = p.anyone()
    return p.one(words.YESTERDAY) + who + be(who, "past") + quality(p.one(_MOOD_WORDS), who)


def person_seems(p: Pick) -> Text:
    """The teacher seems worried."""
    who = p.someone()
    word = p.one([w for w in (*_MOOD_WORDS, *_QUALITIES) if w.en not in ("tall", "famous", "poor")])
    return who + VerbPhrase(verb("seem")).present(who) + quality(word, who)


def taller_than(p: Pick) -> Text:
    """Marco is taller than my brother."""
    who, word = p.someone(alone=True), p.one(_QUALITIES)
    other = p.someone(alone=True)
    more = Text(english.comparative(word.en), f"più {quality(word, who).it}")
    return who + be(who) + more + Text(f"than {other.en}", other.after("di"))


def as_tall_as(p: Pick) -> Text:
    """My sister is as tall as Paolo."""
    who, word = p.someone(alone=True), p.one(_QUALITIES)
    other = p.someone(alone=True)
    return who + be(who) + Text(f"as {word.en} as", f"{quality(word, who).it} come") + other


def the_tallest(p: Pick) -> Text:
    """Luca is the tallest boy in the class."""
    who = p.one(words.NAMES)
    noun = p.noun("girl woman actress nurse" if who.feminine else "boy man actor student lawyer")
    where = Text("in the city", "della città")
    if noun.en in ("boy", "girl", "student"):
        where = Text("in the class", "della classe")
    return who + be(who) + _most(p.one(_QUALITIES), phrases.the(noun)) + where


def _most(word: Adjective, one: NounPhrase) -> Text:
    en = f"the {english.superlative(word.en)} {one.en.removeprefix('the ')}"
    return Text(en, f"{one.it} più {quality(word, one).it}")


def profession(p: Pick) -> Text:
    """Her brother is an engineer."""
    who, job = _man(p, KIN), p.noun(_JOBS)
    return who + be(who) + Text(phrases.a(job).en, job.it)


def becomes(p: Pick) -> Text:
    """My son wants to become a doctor."""
    who, job = _man(p, _YOUNG_KIN), p.noun(_JOBS)
    return who + VerbPhrase(verb("become"), Text(phrases.a(job).en, job.it)).modal(who, "volere")


def _man(p: Pick, kin: tuple[nouns.Noun, ...]) -> NounPhrase:
    """Only men: most of these nouns would change for a woman."""
    if p.either():
        return p.one(_MEN)
    return phrases.my(p.owner(), p.one([noun for noun in kin if not noun.feminine]))


def aged(p: Pick) -> Text:
    """My grandmother is eighty years old."""
    who, ages = p.one(_AGES)
    age = p.one(ages)
    someone = p.one(words.NAMES) if who == "name" else phrases.my(p.owner(), p.noun(who))
    it = have(Text("", age.it)).present(someone).it
    return someone + Text(f"{be(someone).en} {age.en} years old", it)


_AGES = (
    ("name", words.AGES), ("brother sister cousin friend", words.AGES[:7]),
    ("son daughter", words.AGES[:5]), ("mother father uncle aunt neighbour", words.AGES[4:9]),
    ("grandmother grandfather", words.AGES[7:]),
)  # fmt: skip


def feels(p: Pick) -> Text:
    """The children are very hungry."""
    who, what = p.anyone(), p.one(words.FEELINGS)
    negative, very = p.one(((False, False), (False, True), (True, False)))
    very = very and what.en not in ("right", "in a hurry")
    much = "molto" if what.it in ("freddo", "caldo", "sonno") else "molta"
    has = have(Text("", f"{f'{much} ' * very}{what.it}"))
    it = (has.present_not(who) if negative else has.present(who)).it
    return who + Text(f"{be(who, negative=negative).en} {'very ' * very}{what.en}", it)


def looks(p: Pick) -> Text:
    """The girl has long hair."""
    who = p.someone(alone=True)
    return who + have(p.one(words.HAIR)).present(who)


def likes(p: Pick) -> Text:
    """Anna likes apples."""
    who, noun = p.anyone(), p.noun("fruit food drinks animals pets flower book")
    thing = phrases.generic(noun, noun.kind not in words.MASS and noun.en not in words.AS_MASS)
    pleases = "piacciono" if thing.plural else "piace"
    return _pleasing(who, p.seldom(), thing.en, f"{pleases} {thing.it}")


def likes_to(p: Pick) -> Text:
    """My brother likes to dance in the square."""
    who = p.anyone()
    what = p.activity(("cry", "laugh")).infinitive(who)
    return _pleasing(who, False, f"to {what.en}", f"piace {what.it}")


def _pleasing(who: NounPhrase, negative: bool, what: str, pleases: str) -> Text:
    """In Italian the thing is the subject: to Anna please the apples."""
    verb_, no = ("likes" if who.third else "like"), ""
    if negative:
        verb_, no = ("does not like" if who.third else "do not like"), "non "
    en = f"{who.en} {verb_} {what}"
    if who.it:
        return Text(en, f"{who.after('a')} {no}{pleases}")
    clitics = ("mi", "ti", "le" if who.feminine else "gli", "ci", "vi", "gli")
    return Text(en, f"{no}{clitics[who.person - 1 + 3 * who.plural]} {pleases}")


def why_is(p: Pick) -> Text:
    """Why is Anna sad?"""
    who, word = p.you_or_someone(), p.one(_MOOD_WORDS)
    return Text(f"why {be(who).en} {who.en}", f"perché {join(who.it, be(who).it)}") + quality(
        word, who
    ) + Text("?", "?")  # fmt: skip


def birthday(p: Pick) -> Text:
    """My sister's birthday is in July."""
    who, month = p.someone(alone=True), p.one(words.MONTHS)
    it = f"il compleanno {who.after('di')} è {with_preposition('a', month.it)}"
    return Text(f"{who.en}'s birthday is in {month.en}", it)


PATTERNS = {
    person_is: 5, person_was: 3, person_seems: 3, taller_than: 4, as_tall_as: 2, the_tallest: 2,
    profession: 2, becomes: 2, aged: 2, feels: 3, looks: 2, likes: 5, likes_to: 3, why_is: 2,
    birthday: 5,
}  # fmt: skip
