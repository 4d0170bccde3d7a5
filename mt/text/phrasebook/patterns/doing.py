"""Statements of what people do to things and to each other; what needs no object is elsewhere."""

from mt.text.phrasebook import phrases, verbs, words
from mt.text.phrasebook.phrases import NounPhrase, Text
from mt.text.phrasebook.pick import Pick
from mt.text.phrasebook.predicates import VerbPhrase, have
from mt.text.phrasebook.verbs import verb


def habit(p: Pick) -> Text:
    """The farmer always eats bread and cheese."""
    who = p.subject()
    return who + p.doing(who, verbs.NOT_DAILY).present(who, p.one(words.OFTEN))


def every_day(p: Pick) -> Text:
    """Every morning my father reads the newspaper."""
    who = p.subject()
    return p.one(words.EVERY) + who + p.doing(who, verbs.NOT_DAILY).present(who)


def now(p: Pick) -> Text:
    """The children are eating the cake."""
    who = p.anyone()
    return who + p.doing(who, verbs.SUDDEN).progressive(who)


def yesterday(p: Pick) -> Text:
    """Yesterday my sister bought a red dress."""
    who = p.anyone()
    return p.one(words.LAST) + who + p.doing(who).past(who)


def did_not(p: Pick) -> Text:
    """The tourists did not see the castle."""
    who = p.anyone()
    verb_ = p.one(verbs.DEEDS)
    noun = p.one(verb_.objects)
    thing = phrases.my(who, noun) if noun.kind == "kin" else phrases.the(noun, p.number(noun))
    return who + VerbPhrase(verb_, thing).past_not(who)


def already(p: Pick) -> Text:
    """We have already seen the museum."""
    who = p.anyone()
    verb_ = p.one([v for v in verbs.DEEDS if v.en not in _LASTING])
    thing = p.thing(p.one([n for n in verb_.objects if n.kind != "kin"]))
    return who + VerbPhrase(verb_, thing).perfect(who, p.one(words.PERFECT[::2]))


_LASTING = ("wear", "use", "look for", "wait for")
_NOT_NEVER = (
    "wait for", "order", "prepare", "begin", "finish", "bring", "wash", "take", "choose",
    "look for", "use", "listen to", "close", "open",
)  # fmt: skip


def never(p: Pick) -> Text:
    """Luca has never driven a bus."""
    who = p.anyone()
    verb_ = p.one([v for v in verbs.DEEDS if v.en not in _NOT_NEVER])
    noun = p.one([n for n in verb_.objects if n.kind not in ("kin", "food", "drinks", "pairs")]
                 or verb_.objects)  # fmt: skip
    mass = noun.kind in ("food", "drinks")
    thing = phrases.bare(noun, False) if mass else phrases.a(noun, *p.adjectives(noun))
    return who + VerbPhrase(verb_, thing).perfect(who, words.PERFECT[1])


def tomorrow(p: Pick) -> Text:
    """Tomorrow the baker will open the shop."""
    who = p.subject()
    return p.one(words.TOMORROW) + who + p.doing(who, verbs.NOT_PLANNED).future(who)


def does_not(p: Pick) -> Text:
    """My sister does not drink coffee."""
    who = p.subject()
    word = p.one([v for v in verbs.DEEDS if v.en in ("eat", "drink", "buy", "sell", "cook")])
    noun = p.one(word.objects)
    plural = noun.kind not in words.MASS and noun.en not in words.AS_MASS
    return who + VerbPhrase(word, phrases.bare(noun, plural)).present_not(who)


def modal(p: Pick) -> Text:
    """Marco wants to buy a new car."""
    who = p.anyone()
    return who + p.doing(who, (*verbs.UNWANTED, "cry", "laugh")).modal(
        who, p.one(("volere", "potere", "dovere"))
    )


def modal_not(p: Pick) -> Text:
    """The children cannot open the door."""
    who = p.anyone()
    verb_ = p.one([v for v in verbs.DEEDS if v.en not in verbs.UNWANTED])
    noun = p.one(verb_.objects)
    thing = phrases.my(who, noun) if noun.kind == "kin" else p.thing(noun)
    return who + VerbPhrase(verb_, thing).modal(who, p.one(("volere", "potere")), True)


def gives(p: Pick) -> Text:
    """Yesterday Marco gave a ring to Anna."""
    who, to = p.anyone(), p.someone()
    gift = p.one(verbs.GIFTS)
    thing = p.object(p.one(gift.objects), who)
    deed = VerbPhrase(gift, thing + Text(f"to {to.en}", to.after("a")))
    return p.one(words.LAST) + who + deed.past(who)


def gave_me(p: Pick) -> Text:
    """My aunt gave me a book."""
    who = p.someone()
    to, clitic = p.one((("me", "mi"), ("you", "ti"), ("him", "gli"), ("her", "le"), ("us", "ci")))
    gift = p.one(verbs.GIFTS[:4])
    deed = VerbPhrase(gift, Text(to) + p.object(p.one(gift.objects), who), clitic)
    return who + deed.past(who)


_THEM = (
    (Text("me", "mi"), phrases.HE), (Text("you", "ti"), phrases.HE),
    (Text("him", "lo"), phrases.HE), (Text("her", "la"), phrases.SHE),
    (Text("us", "ci"), phrases.WE), (Text("them", "li"), phrases.THEY),
)  # fmt: skip
_HELPED = ("help", "see", "call", "invite", "wait for")
_MET = ("see", "meet", "look for", "help", "greet", "wait for")
_TO_PEOPLE = ("see", "look for", "help", "meet", "invite", "call", "thank", "greet", "wait for")


def _acting_on(p: Pick, who: NounPhrase, doing: tuple[str, ...] = _TO_PEOPLE) -> VerbPhrase:
    """A verb with a pronoun for its object, not the subject itself."""
    others = [them for them in _THEM if not _same(them[0].en, who)]
    word, of = p.one(others)
    verb_ = p.one([v for v in verbs.DEEDS if v.en in doing])
    return VerbPhrase(verb_, Text(word.en), word.it, of)


def _same(word: str, who: NounPhrase) -> bool:
    return (who.person == 1 and word in ("me", "us")) or (who.person == 2 and word == "you")


def knows_her(p: Pick) -> Text:
    """Marco always helps us."""
    who = p.subject()
    return who + _acting_on(p, who).present(who, p.one(words.OFTEN))


def saw_them(p: Pick) -> Text:
    """I saw them at the station."""
    who = p.anyone()
    return p.one(words.YESTERDAY) + who + (_acting_on(p, who, _MET) + p.one(words.SPOTS)).past(who)


def wants_to_help(p: Pick) -> Text:
    """The doctor wants to help us."""
    who = p.anyone()
    return who + _acting_on(p, who, _HELPED).modal(
        who, p.one(("volere", "potere", "dovere")), p.either()
    )


def has(p: Pick) -> Text:
    """The farmer has twelve cows."""
    who = p.anyone()
    noun = p.noun("horse cow hen donkey pig pets clothes things vehicles reading")
    numbers = words.NUMBERS if noun.kind in ("animals", "pets") else words.NUMBERS[:4]
    thing = phrases.a(noun, *p.adjectives(noun))
    if p.either():
        thing = phrases.counted(p.one(numbers + words.MANY), noun)
    return who + have(thing).present(who)


def has_no(p: Pick) -> Text:
    """The students do not have a dictionary."""
    who = p.anyone()
    thing = phrases.a(p.noun("pets clothes reading things containers instruments vehicles"))
    return who + have(thing).present_not(who)


def times(p: Pick) -> Text:
    """I have read this novel many times."""
    who = p.anyone()
    word = p.one(
        [v for v in verbs.DEEDS if v.en in ("read", "see", "visit", "sing", "repair", "use")]
    )
    thing = phrases.this(p.one(word.objects))
    deed = VerbPhrase(word, thing) + p.one(words.COUNTED_TIMES)
    return who + deed.perfect(who, phrases.NOTHING)


def puts(p: Pick) -> Text:
    """My mother put the plates on the table."""
    who = p.anyone()
    noun = p.one(verbs.PUT.objects)
    place = phrases.the(p.noun(words.LYING[noun.kind][0]))
    deed = VerbPhrase(verbs.PUT, phrases.the(noun, p.number(noun), *p.adjectives(noun)))
    return (
        p.one(words.YESTERDAY) + who + (deed + Text(f"on {place.en}", place.after("su"))).past(who)
    )


def saw_animal(p: Pick) -> Text:
    """Yesterday the children saw a monkey at the zoo."""
    who, where, animals = p.anyone(), *p.one(words.ANIMALS)
    noun = p.noun(animals)
    animal = phrases.counted(p.one(words.NUMBERS[:4]), noun) if p.either() else phrases.a(noun)
    return p.one(words.LAST) + who + VerbPhrase(verb("see"), animal + where).past(who)


PATTERNS = {
    habit: 11, every_day: 11, now: 8, yesterday: 10, did_not: 6, already: 6, never: 5,
    tomorrow: 9, does_not: 3, modal: 8, modal_not: 5, gives: 8, gave_me: 5, knows_her: 3,
    saw_them: 5, wants_to_help: 5, has: 6, has_no: 3, times: 3, puts: 4, saw_animal: 8,
}  # fmt: skip
