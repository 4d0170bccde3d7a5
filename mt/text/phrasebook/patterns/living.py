"""Statements of people's days: routines, pastimes, comings and goings; mostly without an object."""

from mt.text.phrasebook import phrases, verbs, words
from mt.text.phrasebook.italian import definite, join
from mt.text.phrasebook.phrases import Text
from mt.text.phrasebook.pick import Pick
from mt.text.phrasebook.predicates import VerbPhrase
from mt.text.phrasebook.verbs import verb


def routine(p: Pick) -> Text:
    """Every day I get up at seven o'clock."""
    who = p.subject()
    return words.EVERY[0] + who + _at_its_hour(p).present(who)


def wants_to_get_up(p: Pick) -> Text:
    """Tomorrow my father wants to get up at six o'clock."""
    who = p.subject()
    return words.TOMORROW[0] + who + _at_its_hour(p).modal(who, p.one(("volere", "dovere")))


def _at_its_hour(p: Pick) -> VerbPhrase:
    word, hours = p.one(words.HOURS_OF)
    return VerbPhrase(verb(word)) + p.one(
        [t for t in words.HOURS if t.en.removeprefix("at ") in hours]
    )


def had_fun(p: Pick) -> Text:
    """Yesterday the girls had fun at the cinema."""
    who, word = p.anyone(), p.one(("have fun", "get bored", "rest", "fall asleep"))
    return (
        p.one(words.YESTERDAY) + who + VerbPhrase(verb(word), p.one(words.SPOTS_OF[word])).past(who)
    )


def wants_to_rest(p: Pick) -> Text:
    """My father wants to rest this evening."""
    who, doing = p.subject(), VerbPhrase(verb(p.one(("rest", "have fun"))))
    when = p.one((*words.TODAY, *words.TOMORROW))
    return who + (doing + when).modal(who, p.one(("volere", "potere")))


def sat_down(p: Pick) -> Text:
    """The old man sat down on the chair."""
    who, seat = p.anyone(), phrases.the(p.noun("chair sofa bed carpet"))
    sitting = VerbPhrase(verb("sit down"), Text(f"on {seat.en}", seat.after("su")))
    return who + sitting.past(who)


def stopped(p: Pick) -> Text:
    """The bus stopped in front of the station."""
    what = phrases.the(p.noun("bus tram taxi car lorry")) if p.either() else p.someone()
    site = phrases.the(p.site())
    en, it, link = p.one(words.POSITIONS[:4])
    where = Text(f"{en} {site.en}", f"{it} {site.after(link)}")
    return what + VerbPhrase(verb("stop"), where).past(what)


def met(p: Pick) -> Text:
    """Yesterday evening we met at the station."""
    who = p.couple() if p.seldom() else p.one((phrases.WE, phrases.THEY))
    return p.one(words.YESTERDAY) + who + VerbPhrase(verbs.EACH_OTHER, p.one(words.SPOTS)).past(who)


def arrived(p: Pick) -> Text:
    """The train arrived at half past three."""
    who = phrases.the(p.noun("train bus plane ship")) if p.either() else p.anyone()
    move = VerbPhrase(verb(p.one(("arrive", "leave", "return")))) + p.one(words.HOURS)
    return who + move.past(who)


def opens(p: Pick) -> Text:
    """On Saturday the museum closes at six o'clock."""
    shop = phrases.the(
        p.noun("shop museum bank pharmacy restaurant library supermarket market zoo")
    )
    day, hours = p.one(words.DAYS), _at(p, p.one(("open", "close")))
    return Text(f"on {day.en}", day.it) + shop + hours.present(shop)


def _at(p: Pick, word: str) -> VerbPhrase:
    return VerbPhrase(verb(word)) + p.one(words.HOURS[11:] if word == "open" else words.HOURS[3:12])


def knows(p: Pick) -> Text:
    """The lawyer knows the engineer well."""
    who = p.anyone()
    noun = p.noun("people kin museum song story")
    whom = phrases.my(who, noun) if noun.kind == "kin" else phrases.the(noun)
    if noun.kind in ("people", "kin") and p.either():
        whom = p.one(words.NAMES)
    know = VerbPhrase(verb("know"), whom)
    if p.either():
        return who + know.present_not(who)
    en, it = know.present(who).en, VerbPhrase(verb("know")).present(who).it
    return who + Text(f"{en} well", f"{it} bene {whom.it}")


def speaks(p: Pick) -> Text:
    """My teacher speaks French very well."""
    who, language, way = p.anyone(), p.one(words.LANGUAGES), p.one(words.MANNER[:5])
    en = f"{language.en} {way.en}"
    it = join(way.it, definite(language.it, False, False), language.it)
    return who + VerbPhrase(verb("speak"), Text(en, it)).present(who)


def plays(p: Pick) -> Text:
    """Luca plays football every Saturday."""
    who, day = p.anyone(), p.one(words.DAYS)
    sport = p.one(words.SPORTS)
    en = VerbPhrase(verb("play"), Text(sport.en)).present(who).en
    it = VerbPhrase(verbs.GAME, Text("", sport.it)).present(who).it
    return who + Text(en, it) + Text(f"every {day.en}", f"ogni {day.it}")


def manner(p: Pick) -> Text:
    """The old man is walking slowly."""
    who, way = p.someone(), p.one(words.MANNER)
    word = p.one([v for v in verbs.ACTIVITIES if v.en in _WITH_MANNER[way.en]])
    return who + (VerbPhrase(word) + way).progressive(who)


_WITH_MANNER = {
    "slowly": ("walk", "run", "swim", "eat", "read"), "quickly": ("walk", "run", "eat", "swim"),
    "well": ("dance", "sing", "work", "sleep"), "very well": ("dance", "sing", "work", "swim"),
    "badly": ("dance", "sing", "work"), "with pleasure": ("work", "dance", "sing", "study", "read"),
}  # fmt: skip


def animal_does(p: Pick) -> Text:
    """The black cat is sleeping under the bed."""
    noun = p.noun("pets horse donkey pig")
    animal = phrases.the(noun, p.number(noun), *p.adjectives(noun))
    word = p.one([v for v in verbs.ACTIVITIES if v.en in ("sleep", "walk", "run", "eat")])
    return animal + (VerbPhrase(word) + p.one(words.SPOTS[4:7])).progressive(animal)


def with_friend(p: Pick) -> Text:
    """Anna is dancing with Marco."""
    who, friend = p.anyone(), p.someone()
    word = p.one(
        [v for v in verbs.ACTIVITIES if v.en in ("work", "walk", "dance", "eat", "sing", "study")]
    )
    return who + (VerbPhrase(word) + Text(f"with {friend.en}", f"con {friend.it}")).progressive(who)


PATTERNS = {
    routine: 4, wants_to_get_up: 4, had_fun: 3, wants_to_rest: 2, sat_down: 2, stopped: 3,
    met: 2, arrived: 4, opens: 3, knows: 4, speaks: 2, plays: 3, manner: 2, animal_does: 2,
    with_friend: 3,
}  # fmt: skip
