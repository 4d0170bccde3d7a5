"""Questions, orders, requests and other turns of a conversation."""

from mt.text.phrasebook import english, phrases, verbs, words
from mt.text.phrasebook.adjectives import Adjective
from mt.text.phrasebook.nouns import Noun
from mt.text.phrasebook.phrases import POLITE_YOU, YOU, NounPhrase, Text, be
from mt.text.phrasebook.pick import SNACKS, Pick
from mt.text.phrasebook.predicates import VerbPhrase, have
from mt.text.phrasebook.verbs import verb

MARK, BANG = Text("?", "?"), Text("!", "!")
PLEASE = Text("please", "per favore")
_ORDERS = (
    "eat", "buy", "read", "write", "look at", "look for", "open", "close", "clean", "wash", "bring",
    "take", "sing", "listen to", "help", "call", "wait for", "repair", "cut", "use", "prepare",
    "hide",
)  # fmt: skip


def _order(p: Pick) -> VerbPhrase:
    """Something that one may be told to do."""
    word = p.one([v for v in verbs.DEEDS if v.en in _ORDERS])
    noun = p.one([n for n in word.objects if n.kind != "kin"])
    return VerbPhrase(word, phrases.the(noun, p.number(noun), *_plain(p, noun)))


def _plain(p: Pick, noun: Noun) -> tuple[Adjective, ...]:
    return tuple(word for word in p.adjectives(noun, True) if word.en != "beautiful")


def do_you_have(p: Pick) -> Text:
    """Do you have a pen?"""
    who = p.you_or_someone()
    noun = p.noun("clothes reading things containers instruments vehicles pets")
    return have(phrases.a(noun, *p.adjectives(noun))).ask(who) + MARK


def does_she(p: Pick) -> Text:
    """Does your brother often read the newspaper?"""
    who = p.you_or_someone()
    noun = p.noun("fruit food drinks")
    word = p.one([v for v in verbs.DEEDS if noun in v.objects and v.en in ("eat", "drink", "buy")])
    day = p.one(words.EVERY[:3])
    thing = p.serving(noun) if noun.kind in words.MASS else p.object(noun, who)
    return (VerbPhrase(word, thing) + day).ask(who) + MARK


def did_she(p: Pick) -> Text:
    """Did Anna close the window?"""
    who = p.you_or_someone()
    return p.deed(who).ask_past(who) + MARK


def is_she(p: Pick) -> Text:
    """Is Marco working in the garden?"""
    who = p.you_or_someone()
    return p.activity().ask_progressive(who) + MARK


def can_you(p: Pick) -> Text:
    """Can you open the window, please?"""
    return _order(p).ask_modal(YOU, "potere").comma() + PLEASE + MARK


def what_reading(p: Pick) -> Text:
    """What is Anna reading?"""
    who = p.you_or_someone()
    word = p.one([v for v in verbs.DEEDS if v.en in _WHAT])
    deed = VerbPhrase(word)
    en = f"what {be(who).en} {who.en} {english.gerund(word.en)}"
    return Text(en, _after(f"che cosa {deed.progressive(who).it}", who)) + MARK


_WHAT = (
    "eat", "drink", "cook", "buy", "sell", "read", "write", "look at", "look for", "sing", "paint",
    "draw", "choose", "prepare", "repair",
)  # fmt: skip


def _after(it: str, who: NounPhrase) -> str:
    return f"{it} {who.it}".strip()


def what_did(p: Pick) -> Text:
    """What did the tourists buy?"""
    who = p.you_or_someone()
    word = p.one(
        [v for v in verbs.DEEDS if v.en in (*_WHAT, "find", "lose", "forget", "break", "see")]
    )
    it = f"che cosa {VerbPhrase(word).past(who).it}"
    return Text(f"what did {who.en} {word.en}", _after(it, who)) + MARK


def who_did(p: Pick) -> Text:
    """Who broke the window?"""
    he = phrases.HE
    word = p.one([v for v in verbs.DEEDS if v.en not in ("wait for", "understand")])
    noun = p.one([n for n in word.objects if n.kind != "kin"])
    deed = VerbPhrase(word, p.thing(noun))
    return Text("who", "chi") + deed.past(he) + MARK


def who_wants(p: Pick) -> Text:
    """Who wants to eat a peach?"""
    word = p.one(
        [v for v in verbs.DEEDS if v.en in ("eat", "drink", "buy", "see", "visit", "help")]
    )
    noun = p.one([n for n in word.objects if n.kind != "kin"])
    return (
        Text("who", "chi")
        + VerbPhrase(word, p.object(noun, phrases.HE)).modal(phrases.HE, "volere")
        + MARK
    )


def when_does(p: Pick) -> Text:
    """When does the train leave?"""
    who = phrases.the(p.noun("train bus plane ship")) if p.either() else p.someone()
    word = verb(p.one(("arrive", "leave", "return")))
    ask = p.one((Text("when", "quando"), Text("what time", "a che ora")))
    en = f"{ask.en} {'does' if who.third else 'do'} {who.en} {word.en}"
    return Text(en, f"{ask.it} {VerbPhrase(word).present(who).it} {who.it}") + MARK


def where_does(p: Pick) -> Text:
    """Where does your uncle live?"""
    who = p.someone()
    word = verb(p.one(("live", "work", "study", "eat", "go")))
    en = f"where {'does' if who.third else 'do'} {who.en} {word.en}"
    return Text(en, f"dove {VerbPhrase(word).present(who).it} {who.it}") + MARK


def how_much(p: Pick) -> Text:
    """How much do those shoes cost?"""
    noun = p.noun("clothes pairs reading things instruments containers furniture vehicles")
    plural = p.number(noun)
    thing = p.one((phrases.the, phrases.this, phrases.that))(noun, plural)
    en = f"how much {'do' if plural else 'does'} {thing.en} cost"
    return Text(en, f"quanto {'costano' if plural else 'costa'} {thing.it}") + MARK


def how_many(p: Pick) -> Text:
    """How many apples did you buy?"""
    word = p.one(
        [v for v in verbs.DEEDS if v.en in ("eat", "buy", "sell", "read", "see", "find", "write")]
    )
    noun = p.one([n for n in word.objects if n.kind not in ("kin", "food", "drinks")])
    who = p.you_or_someone()
    it = f"{'quante' if noun.feminine_plural else 'quanti'} {noun.it_plural}"
    it = f"{it} {VerbPhrase(word).past(who).it}"
    return Text(f"how many {noun.en_plural} did {who.en} {word.en}", _after(it, who)) + MARK


def whose(p: Pick) -> Text:
    """Whose keys are these?"""
    noun = p.noun("clothes pairs reading things containers instruments vehicles pets")
    plural = p.number(noun)
    thing = phrases.this(noun, plural)
    en = f"whose {noun.english(plural)} {'are these' if plural else 'is this'}"
    return Text(en, f"di chi {be(thing).it} {thing.it}") + MARK


def colour(p: Pick) -> Text:
    """What colour is the new car?"""
    noun = p.noun("clothes pairs car bicycle bag suitcase house door umbrella sofa flower")
    thing = phrases.the(noun, p.number(noun), *_plain(p, noun))
    if p.either():
        thing = phrases.my(YOU, noun, thing.plural, *_plain(p, noun))
    elif p.either():
        thing = phrases.of(phrases.the(noun, thing.plural), p.one(words.NAMES))
    return Text(f"what colour {be(thing).en}", f"di che colore {be(thing).it}") + thing + MARK


def order(p: Pick) -> Text:
    """Marco, close the door!"""
    name: Text = p.one(words.NAMES)
    return name.comma() + _order(p).order(negative=p.seldom()) + BANG


def order_children(p: Pick) -> Text:
    """Children, wash the apples!"""
    who = p.noun("child boy girl student")
    call = Text(who.en_plural, who.it_plural).comma()
    return call + _order(p).order(True, p.seldom()) + BANG


def lets(p: Pick) -> Text:
    """Let's prepare the soup!"""
    unwanted = (*verbs.NOT_PLANNED, "see")
    word = p.doing(phrases.WE, unwanted) if p.either() else p.activity(unwanted)
    en = f"let's {word.infinitive(phrases.WE).en}"
    return Text(en, word.present(phrases.WE).it) + BANG


def sir(p: Pick) -> Text:
    """Do you want a coffee, sir?"""
    noun = p.noun(f"drinks {SNACKS}")
    madam = p.one((Text("sir", "signore"), Text("madam", "signora")))
    thing = p.serving(noun) if noun.kind in words.MASS else phrases.a(noun)
    return Text(f"do you want {thing.en}", f"vuole {thing.it}").comma() + madam + MARK


def polite_can(p: Pick) -> Text:
    """Can you close the window, Mrs. Bianchi?"""
    deed = _order(p).ask_modal(POLITE_YOU, "potere")
    return deed.comma() + _mister(p) + MARK


def _mister(p: Pick) -> Text:
    who = p.titled()
    return Text(who.en, who.it.split(maxsplit=1)[1])


def polite_have(p: Pick) -> Text:
    """Mr. Rossi, do you have the tickets?"""
    noun = p.noun("clothes reading things containers")
    thing = p.one((phrases.the(noun, p.either()), phrases.my(POLITE_YOU, noun)))
    return _mister(p).comma() + have(thing).ask(POLITE_YOU) + MARK


def all_of_you(p: Pick) -> Text:
    """Girls, did you see the castle?"""
    who = p.noun("child boy girl")
    you = phrases.NounPhrase("you", "", who.feminine, True, 2)
    call = Text(who.en_plural, who.it_plural).comma()
    return call + p.doing(you).ask_past(you) + MARK


def would_like(p: Pick) -> Text:
    """I would like a glass of wine, please."""
    noun = p.noun("drinks fruit food")
    if noun.kind in words.MASS:
        thing = p.serving(noun)
    elif p.either():
        thing = phrases.a(noun, *p.adjectives(noun))
    else:
        thing = phrases.counted(p.one(words.NUMBERS[:5]), noun)
    who, it = p.one((("I", "vorrei"), ("we", "vorremmo")))
    return Text(f"{who} would like {thing.en}", f"{it} {thing.it}").comma() + PLEASE


def shopping(p: Pick) -> Text:
    """I would like a kilo of apples, please."""
    noun = p.noun("apple orange pear lemon carrot potato tomato onion mushroom strawberry peach "
                  "meat rice sugar fish bread pasta cheese")  # fmt: skip
    what = Text(noun.en, noun.it) if noun.kind == "food" else Text(noun.en_plural, noun.it_plural)
    of = Text(f"a kilo of {what.en}", f"un chilo di {what.it}")
    who, it = p.one((("I", "vorrei"), ("we", "vorremmo"), ("my mother", "mia madre vorrebbe")))
    return Text(f"{who} would like {of.en}", f"{it} {of.it}").comma() + PLEASE


PATTERNS = {
    do_you_have: 4, does_she: 4, did_she: 6, is_she: 4, can_you: 5, what_reading: 3, what_did: 3,
    who_did: 4, who_wants: 3, when_does: 3, where_does: 3, how_much: 4, how_many: 4,
    whose: 2, colour: 2, order: 5, order_children: 5, lets: 4, sir: 2, polite_can: 4,
    polite_have: 3, all_of_you: 4, would_like: 3, shopping: 1,
}  # fmt: skip
