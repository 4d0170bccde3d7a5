"""Sentences of two clauses, and those about the weather and the calendar."""

from mt.text.phrasebook import adjectives, nouns, phrases, verbs, words
from mt.text.phrasebook.phrases import NounPhrase, Text, be, quality
from mt.text.phrasebook.pick import SNACKS, Pick
from mt.text.phrasebook.predicates import VerbPhrase, have
from mt.text.phrasebook.verbs import verb

BECAUSE, AND, BUT, SO = (
    Text("because", "perché"), Text("and", "e"), Text("but", "ma"), Text("so", "quindi"),
)  # fmt: skip
_GLAD = ("buy", "find", "see", "receive", "finish", "win", "meet", "sell", "repair")
_SORRY = ("lose", "break", "forget")


def glad_because(p: Pick) -> Text:
    """Anna is happy because she found the keys."""
    who = p.anyone()
    glad = p.either()
    word = p.one([v for v in verbs.DEEDS if v.en in (_GLAD if glad else _SORRY)])
    deed = VerbPhrase(word, p.object(p.one(word.objects), who))
    mood = adjectives.named("happy" if glad else "sad")
    he = who.pronoun()
    return who + be(who) + quality(mood, who) + BECAUSE + he + deed.past(he)


def tired_because(p: Pick) -> Text:
    """The nurse is tired because she worked all night."""
    who = p.anyone()
    he = who.pronoun()
    tired = adjectives.named("tired")
    word = p.one(
        [
            v
            for v in verbs.ACTIVITIES
            if v.en in ("work", "walk", "run", "dance", "swim", "study", "travel")
        ]
    )
    time = p.one(words.TOO_LONG)
    return who + be(who) + quality(tired, who) + BECAUSE + he + (VerbPhrase(word) + time).past(he)


def _snack(p: Pick, who: NounPhrase, hungry: bool) -> NounPhrase:
    return p.object(p.noun(SNACKS if hungry else "water milk tea juice beer"), who)


def needs_because(p: Pick) -> Text:
    """The boy is eating a sandwich because he is hungry."""
    who = p.anyone()
    he = who.pronoun()
    hungry = p.either()
    word = verb("eat" if hungry else "drink")
    deed = VerbPhrase(word, _snack(p, who, hungry))
    feeling = words.FEELINGS[0 if hungry else 1]
    has = Text(f"{be(he).en} {feeling.en}", have(Text("", feeling.it)).present(he).it)
    return who + deed.progressive(who) + BECAUSE + he + has


def two_do(p: Pick) -> Text:
    """Marco is reading a book and Anna is writing a letter."""
    first, second = p.someone(), p.someone()
    one, two = (p.doing(w, verbs.SUDDEN).progressive(w) for w in (first, second))
    return first + one + AND + second + two


def while_doing(p: Pick) -> Text:
    """While the children were sleeping, my mother was reading a book."""
    first, second = p.someone(alone=True), p.someone(alone=True)
    start = first + p.activity().imperfect(first)
    return (
        Text("while", "mentre")
        + start.comma()
        + second
        + p.deed(second, verbs.NOT_DAILY).imperfect(second)
    )


def when_came(p: Pick) -> Text:
    """When I arrived at the station, it was raining."""
    who = p.anyone()
    spot = p.one([s for s in words.SPOTS if s.en.startswith("at ") and s.en != "at home"])
    return Text("when", "quando") + who + (
        VerbPhrase(verb("arrive")) + spot
    ).past(who).comma() + p.one(words.WEATHER_BEFORE)  # fmt: skip


def _staying_or_going(p: Pick) -> VerbPhrase:
    if p.either():
        return VerbPhrase(verb("stay"), p.one(words.SPOTS))
    return VerbPhrase(verb("go"), p.one(words.AIMS))


def if_rains(p: Pick) -> Text:
    """If it rains tomorrow, we will stay at home."""
    weather, who = p.one(words.WEATHER_TO_COME), p.subject()
    what = _staying_or_going(p) if p.either() else p.deed(who, verbs.NOT_PLANNED)
    start = Text(f"if {weather.en} tomorrow", f"se domani {weather.it}")
    return start.comma() + who + what.future(who)


def if_tired(p: Pick) -> Text:
    """If you are hungry, you can eat a sandwich."""
    hungry = p.either()
    word = verb("eat" if hungry else "drink")
    deed = VerbPhrase(word, _snack(p, phrases.YOU, hungry))
    feeling = words.FEELINGS[0 if hungry else 1]
    start = Text(f"if you are {feeling.en}", f"se hai {feeling.it}")
    return start.comma() + Text("you") + deed.modal(phrases.YOU, "potere")


def before_doing(p: Pick) -> Text:
    """Before leaving, Marco closed the windows."""
    who = p.someone()
    start = p.one(
        words.pairs("leaving = partire, going out = uscire, eating = mangiare, sleeping = dormire")
    )
    first = Text(f"before {start.en}", f"prima di {start.it}")
    return (
        first.comma()
        + who
        + p.deed(who, (*verbs.SAME_PAST, *verbs.UNWANTED, "begin", "win")).past(who)
    )


def who_is(p: Pick) -> Text:
    """The woman who is reading a book is my aunt."""
    someone, family = p.one(_FAMILY)
    noun = p.noun(someone)
    person = phrases.the(noun)
    deed = p.doing(person, verbs.SUDDEN).progressive(person)
    return (
        person + Text("who", "che") + deed + Text("is", "è") + phrases.my(p.owner(), p.noun(family))
    )


_FAMILY = (
    ("man", "father uncle brother cousin friend neighbour teacher"),
    ("woman", "mother aunt sister"),
    ("boy", "brother son cousin friend"), ("girl", "sister daughter"),
)  # fmt: skip


def that_i_bought(p: Pick) -> Text:
    """The book that I bought is interesting."""
    who = p.anyone()
    word = p.one(
        [v for v in verbs.DEEDS if v.en in ("buy", "sell", "find", "lose", "choose", "receive")]
    )
    noun = p.one([n for n in word.objects if adjectives.fitting(n, False)])
    thing = phrases.the(noun, p.number(noun))
    deed = who + VerbPhrase(word).past(who)
    return thing + Text("that", "che") + deed + be(thing) + quality(p.adjective(noun, False), thing)


def and_ate_it(p: Pick) -> Text:
    """Marco bought an apple and ate it."""
    who = p.anyone()
    (first, second), names = p.one(_PAIRS)
    noun = p.noun(names)
    one, two = (verb(en) for en in (first, second))
    plural = p.number(noun)
    thing = phrases.the(noun, plural, *p.adjectives(noun, True))
    clitic = ("lo", "la", "li", "le")[thing.feminine + 2 * plural]
    deed = VerbPhrase(two, Text("them" if plural else "it"), clitic, thing)
    return p.one(words.YESTERDAY) + who + VerbPhrase(one, thing).past(who) + AND + deed.past(who)


_PAIRS = (
    (("buy", "eat"), "fruit bread cheese ham chocolate"), (("buy", "read"), "reading"),
    (("buy", "wear"), "coat hat jacket sweater scarf shirt pairs"),
    (("wash", "eat"), "apple carrot tomato"),
    (("find", "read"), "reading"), (("find", "wash"), "shirt sock cup spoon glass plate"),
    (("repair", "sell"), "vehicles watch computer radio lamp"), (("find", "sell"), "things"),
    (("find", "open"), "bottle letter box suitcase drawer"), (("write", "sing"), "song"),
    (("cut", "cook"), "meat fish potato mushroom"),
    (("take", "lose"), "umbrella key book suitcase"),
)  # fmt: skip


def cold_so(p: Pick) -> Text:
    """It was raining, so we stayed at home."""
    who, weather = p.anyone(), p.one(words.WEATHER_BEFORE)
    what = _staying_or_going(p)
    return weather.comma() + SO + who + what.past(who)


def says_that(p: Pick) -> Text:
    """Marco says that the soup is cold."""
    who = p.someone()
    noun = p.noun("fruit food drinks clothes pairs vehicles events buildings")
    if not adjectives.fitting(noun, False):
        noun = nouns.select("soup")[0]
    thing = phrases.the(noun, p.number(noun))
    that = thing + be(thing) + quality(p.adjective(noun, False), thing)
    return who + (VerbPhrase(verb("say"), Text("that", "che"))).present(who) + that


def knows_that(p: Pick) -> Text:
    """I know that your sister bought a new car."""
    who, other = p.one((phrases.ME, phrases.WE, phrases.THEY)), p.someone()
    know = VerbPhrase(verbs.KNOW_THAT, Text("that", "che")).present(who)
    return who + know + other + p.doing(other, verbs.SAME_PAST).past(other)


def wants_but(p: Pick) -> Text:
    """Paolo wants to buy a car, but he must work."""
    who = p.anyone()
    he = who.pronoun()
    must = VerbPhrase(p.one([v for v in verbs.ACTIVITIES if v.en in ("work", "study")]))
    must = must + p.one((*words.TODAY, *words.TOMORROW))
    wish = who + p.doing(who, (*verbs.UNWANTED, "cry", "laugh")).modal(who, "volere")
    return wish.comma() + BUT + he + must.modal(he, "dovere")


def weather(p: Pick) -> Text:
    """Today it is cold in Milan."""
    city = p.one(words.CITIES)
    where = Text(f"in {city.en}", f"a {city.it}")
    if p.either():
        return p.one(words.TODAY[:2]) + p.one(words.WEATHER) + where
    when_en, when_it, en, it = p.one(words.CLIMATE)
    return Text(when_en, when_it) + Text(en, it) + where


def event(p: Pick) -> Text:
    """The concert begins at half past nine on Friday."""
    what = phrases.the(p.noun("events"))
    begin = VerbPhrase(verb(p.one(("begin", "finish"))))
    day = p.one(words.DAYS)
    return Text(f"on {day.en}", day.it) + what + (begin + p.one(words.HOURS)).present(what)


PATTERNS = {
    glad_because: 6, tired_because: 4, needs_because: 5, two_do: 8,
    while_doing: 7, when_came: 4, if_rains: 7, if_tired: 3, before_doing: 5, who_is: 5,
    that_i_bought: 5, and_ate_it: 6, cold_so: 4, says_that: 5, knows_that: 6, wants_but: 6,
    weather: 2, event: 3,
}  # fmt: skip
