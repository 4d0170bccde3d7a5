"""Sentences that say where things are and where people go; what they do there is elsewhere."""

from mt.text.phrasebook import phrases, words
from mt.text.phrasebook.nouns import Noun
from mt.text.phrasebook.phrases import NounPhrase, Text, be
from mt.text.phrasebook.pick import Pick
from mt.text.phrasebook.predicates import VerbPhrase
from mt.text.phrasebook.verbs import verb

_SMALL = "fruit clothes reading things"


def _holder(p: Pick, noun: Noun) -> Text:
    """On, under or in a piece of furniture or a container where such a thing may lie."""
    en, it, names = p.one([p_ for p_ in _lying(noun) if p_[2]])
    holder = phrases.the(p.noun(names))
    return Text(f"{en} {holder.en}", holder.after(it) if it != "sotto" else f"sotto {holder.it}")


def _lying(noun: Noun) -> tuple[tuple[str, str, str], ...]:
    on, under, within = words.LYING[noun.kind]
    return (("on", "su", on), ("under", "sotto", under), ("in", "in", within))


def _to(aim: NounPhrase) -> Text:
    return Text(f"to {aim.en}", aim.after("a"))


def near(p: Pick) -> Text:
    """The small house is near the station."""
    noun = p.site()
    thing = p.thing(noun, plural=False)
    return thing + be(thing) + p.position(thing, phrases.the(p.site((noun,))))


def between(p: Pick) -> Text:
    """The bank is between the church and the pharmacy."""
    first = p.site()
    second = p.site((first,))
    third = phrases.the(p.site((first, second)))
    a, b = phrases.the(first), phrases.the(second)
    return a + be(a) + Text("between", "tra") + b + Text("and", "e") + third


def thing_in(p: Pick) -> Text:
    """The keys are in the bag."""
    noun = p.noun(_SMALL)
    thing = p.thing(noun) if p.either() else phrases.my(p.owner(), noun, p.number(noun))
    return thing + be(thing) + _holder(p, noun)


def there_is(p: Pick) -> Text:
    """There is a cat under the table."""
    noun = p.noun(f"{_SMALL} pets")
    return Text("there is", "c'è") + phrases.a(noun, *p.adjectives(noun)) + _holder(p, noun)


def there_are(p: Pick) -> Text:
    """There are three books on the table."""
    noun = p.noun(f"{_SMALL} pairs")
    number = p.one(words.NUMBERS[:6] + words.MANY)
    return Text("there are", "ci sono") + phrases.counted(number, noun) + _holder(p, noun)


def there_is_no(p: Pick) -> Text:
    """There is no milk in the kitchen."""
    noun = p.noun("food drinks")
    where = p.one((*words.SPOTS[:3], *words.SPOTS[11:14], words.SPOTS[3]))
    return Text(f"there is no {noun.en}", f"non c'è {noun.it}") + where


def is_there(p: Pick) -> Text:
    """Is there a bank near the station?"""
    noun = p.site()
    thing = phrases.a(noun)
    position = p.position(thing, phrases.the(p.site((noun,))))
    return Text("is there", "c'è") + thing + position + Text("?", "?")


def city_has(p: Pick) -> Text:
    """In Rome there are many churches."""
    noun = p.noun("buildings outdoors trees transport tourist")
    city = p.one(words.CITIES)
    many = phrases.counted(p.one(words.MANY), noun, *p.adjectives(noun))
    return Text(f"in {city.en} there are", f"a {city.it} ci sono") + many


def animals_are(p: Pick) -> Text:
    """In the forest there are many foxes."""
    where, animals = p.one(words.ANIMALS)
    many = phrases.counted(p.one(words.MANY), p.noun(animals))
    return where + Text("there are", "ci sono") + many


def where_is(p: Pick) -> Text:
    """Where are my shoes?"""
    noun = p.noun("clothes pairs reading things containers buildings kin")
    plural = p.number(noun) and noun.kind != "kin"
    if noun.kind == "buildings" or (p.either() and noun.kind != "kin"):
        thing = phrases.the(noun, plural, *p.adjectives(noun))
    else:
        thing = phrases.my(p.owner(), noun, plural)
    it = f"dove {be(thing).it}" if plural else "dov'è"
    return Text(f"where {be(thing).en}", it) + thing + Text("?", "?")


def goes(p: Pick) -> Text:
    """Anna goes to the market every Monday."""
    who, aim, day = p.anyone(), p.one(words.AIMS), p.one(words.DAYS)
    return (
        who + VerbPhrase(verb("go"), aim).present(who) + Text(f"every {day.en}", f"ogni {day.it}")
    )


def went(p: Pick) -> Text:
    """On Tuesday we went to Rome by train."""
    who, day, city = p.anyone(), p.one(words.DAYS), p.one(words.CITIES)
    trip = VerbPhrase(verb("go"), Text(f"to {city.en}", f"a {city.it}")) + p.one(
        words.TRANSPORT[:4]
    )
    return Text(f"on {day.en}", day.it) + who + trip.past(who)


def will_go(p: Pick) -> Text:
    """Tomorrow my aunt will not go to the office."""
    who, aim = p.subject(), p.one(words.AIMS)
    trip = VerbPhrase(verb(p.one(("go", "return"))), aim)
    return p.one(words.TOMORROW) + who + trip.future(who, p.seldom())


def season(p: Pick) -> Text:
    """In summer my grandparents go to Greece."""
    who, country = p.anyone(), p.one(words.COUNTRIES)
    trip = VerbPhrase(verb("go"), Text(f"to {country.en}", f"in {_bare(country)}"))
    return p.one(words.SEASONS) + who + trip.present(who, p.one(words.OFTEN))


def _bare(country: NounPhrase) -> str:
    return country.it.removeprefix(country.article).strip()


def comes_from(p: Pick) -> Text:
    """The waiter comes from Spain."""
    who, country = p.anyone(), p.one(words.COUNTRIES)
    return who + VerbPhrase(verb("come"), Text(f"from {country.en}", country.after("da"))).present(
        who
    )


def lives_in(p: Pick) -> Text:
    """My uncle lives in Florence."""
    who, city = p.anyone(), p.one(words.CITIES)
    return who + VerbPhrase(verb("live"), Text(f"in {city.en}", f"a {city.it}")).present(who)


def lives_near(p: Pick) -> Text:
    """The nurse lives in a small house near the sea."""
    who = p.anyone()
    noun = p.noun("house house village city")
    home = phrases.a(noun, *p.adjectives(noun))
    en, it = f"in {home.en}", f"in {home.it}"
    near_house = " park station bridge square beach church castle" * (noun.en == "house")
    place = p.noun("sea lake river forest" + near_house)
    position = Text(f"near {phrases.the(place).en}", f"vicino {phrases.the(place).after('a')}")
    return who + VerbPhrase(verb("live"), Text(en, it) + position).present(who)


def from_to(p: Pick) -> Text:
    """Yesterday we walked from the station to the museum."""
    who, start = p.anyone(), p.site()
    end = phrases.the(p.site((start,)))
    route = Text(f"from {phrases.the(start).en}", phrases.the(start).after("da")) + _to(end)
    way = VerbPhrase(verb("walk")) + route
    return p.one(words.YESTERDAY) + who + way.past(who)


def fell(p: Pick) -> Text:
    """The glass fell from the table."""
    noun = p.noun("things reading fruit")
    thing = p.thing(noun)
    place = phrases.the(p.noun(words.LYING[noun.kind][0]))
    return thing + VerbPhrase(verb("fall"), Text(f"from {place.en}", place.after("da"))).past(thing)


PATTERNS = {
    near: 5, between: 3, thing_in: 6, there_is: 6, there_are: 6, there_is_no: 1, is_there: 3,
    city_has: 4, animals_are: 7, where_is: 3, goes: 4, went: 4, will_go: 4, season: 2,
    comes_from: 2, lives_in: 2,    lives_near: 3, from_to: 4, fell: 4,
}  # fmt: skip
