"""The adjectives and the nouns that each one fits; no grammar, no other words."""

from dataclasses import dataclass
from functools import cache

from mt.text.phrasebook.nouns import Noun, select


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective: `before` the Italian noun or after it, and what it can describe."""

    en: str
    it: str
    it_plural: str
    before: bool
    gradable: bool
    nouns: tuple[Noun, ...]


_GOODS = "clothes pairs reading things instruments containers"
_WASHED = "clothes pairs cup glass plate spoon fork knife"
_SITES = "buildings outdoors nature towns"

# English, Italian (with an irregular masculine plural after a slash), nouns.
BEFORE = f"""
    big | grande | pets animals containers furniture {_SITES} trees vehicles cake pizza house
    small | piccolo | pets animals containers furniture rooms buildings outdoors towns island lake
    beautiful | bello | clothes things instruments animals {_SITES} trees song story poem novel
    new | nuovo | {_GOODS} furniture buildings vehicles teacher professor doctor neighbour waiter
    old | vecchio | {_GOODS} furniture openings buildings bridge vehicles pets horse donkey friend
    good | buono | fruit food drinks book novel restaurant hotel
    young | giovane | people
"""
AFTER = f"""
    tall | alto | people kin tree mountain
    tired | stanco | people kin pets horse donkey
    happy | felice | people kin
    sad | triste | people kin song story film
    kind | gentile | people kin
    rich | ricco | people kin
    poor | povero | people kin village
    intelligent | intelligente | people kin pets fox monkey elephant pig
    famous | famoso | people museum church castle restaurant hotel theatre square song painting
    elegant | elegante | people clothes hotel restaurant
    lazy | pigro | people kin cat dog donkey
    strong | forte | people kin bear lion horse elephant coffee
    nice | simpatico/simpatici | people kin
    shy | timido | people kin rabbit squirrel
    worried | preoccupato | people kin
    generous | generoso | people kin
    curious | curioso | people kin pets monkey fox
    honest | onesto | people kin
    patient | paziente | people kin
    ill | malato | people kin pets horse cow
    heavy | pesante | containers coat dictionary furniture instruments mirror
    light | leggero | suitcase backpack bag jacket dress bicycle
    clean | pulito | {_WASHED} rooms table beach street vehicles window
    dirty | sporco | {_WASHED} rooms table beach street vehicles window
    expensive | costoso | clothes pairs things instruments vehicles hotel restaurant furniture
    cheap | economico/economici | clothes pairs toy watch phone bicycle hotel restaurant chair
    long | lungo | dress skirt coat scarf letter novel story lesson film river street bridge table
    short | breve | letter story poem lesson film meeting answer
    modern | moderno | museum school station hospital airport stadium furniture lamp factory
    ancient | antico | church castle bridge city village ring mirror library
    quiet | tranquillo | park beach lake village island street hotel square garden
    noisy | rumoroso | street market factory station restaurant motorbike
    crowded | affollato | beach market station museum square restaurant street cinema bus train park
    comfortable | comodo | chair bed sofa pairs hotel bedroom house car
    round | rotondo | table mirror box carpet plate
    hot | caldo | soup coffee tea milk bread pizza water
    cold | freddo | soup coffee tea milk water beer wine meat
    fresh | fresco | bread milk fish egg cheese tomato salad water
    sweet | dolce | apple orange pear strawberry peach cake biscuit wine tea honey
    ripe | maturo | apple orange pear lemon tomato strawberry peach
    salty | salato | soup rice meat fish cheese ham pasta butter
    interesting | interessante | reading film lesson museum story question meeting city
    boring | noioso | reading film lesson meeting party story match concert
    difficult | difficile | exam lesson question book poem
    easy | facile | exam lesson question book song
    important | importante | letter meeting exam question key match
    useful | utile | dictionary map book computer phone knife umbrella answer backpack
    fast | veloce | train car motorbike plane horse boat ship bicycle
    slow | lento | train bus tram boat lorry donkey computer ship
    dangerous | pericoloso | animals street mountain river
"""
UNGRADED = """
    ready | pronto | soup cake pizza pasta coffee salad dress car
    open | aperto | openings shop museum bank pharmacy restaurant library drawer suitcase window
    closed | chiuso | openings shop museum bank pharmacy restaurant library drawer suitcase theatre
    empty | vuoto | containers cup glass bottle plate bus cinema
    full | pieno | containers cup glass bottle bus train cinema theatre
    broken | rotto | cup glass plate mirror window chair bottle watch phone lamp toy umbrella
    red | rosso | clothes pairs pen phone notebook umbrella suitcase car tomato flower apple sofa
    white | bianco | clothes pairs house church cat dog horse flower plate cup wine sofa
    black | nero | clothes pairs cat dog horse bag suitcase car motorbike umbrella pen piano
    green | verde | clothes pairs bag box bicycle car apple door pen umbrella chair bottle
    blue | blu | clothes pairs bag suitcase car bicycle pen pencil notebook cup door umbrella
    yellow | giallo | clothes pairs bag flower pencil box car ball house lemon bus lamp
    grey | grigio | clothes pairs cat mouse donkey wolf suitcase car sofa carpet elephant
    brown | marrone | pairs bag suitcase coat jacket dog horse bear sofa wardrobe
    pink | rosa | clothes pairs flower bag house lamp umbrella
    Italian | italiano | actor actress singer writer tourist engineer film song wine car restaurant
    French | francese | actor actress singer writer tourist painter film song wine cheese restaurant
    Spanish | spagnolo | actor actress singer writer tourist painter song wine doctor guitar
    German | tedesco | singer writer tourist engineer student professor beer car bicycle
    English | inglese | actor actress singer writer tourist journalist student newspaper tea song
"""


def _read(table: str, before: bool = False, gradable: bool = True) -> tuple[Adjective, ...]:
    rows = (line.split("|") for line in table.strip().splitlines())
    return tuple(
        Adjective(en.strip(), *_italian(it.strip()), before, gradable, select(nouns))
        for en, it, nouns in rows
    )


def _italian(words: str) -> tuple[str, str]:
    singular, _, plural = words.partition("/")
    return singular, plural


ADJECTIVES = _read(BEFORE, before=True) + _read(AFTER) + _read(UNGRADED, gradable=False)
# Passing states and judgements: said of a thing, not what tells it from others.
STATES = (
    "tired", "happy", "sad", "worried", "ill", "clean", "dirty", "quiet", "noisy", "crowded", "hot",
    "cold", "ripe", "salty", "ready", "open", "closed", "empty", "full", "broken",
    "useful", "boring", "difficult", "easy",
)  # fmt: skip
# Not to be said of one thing in the same sentence.
_CLASHES = ("big small", "new old", "old modern", "new ancient", "young tired", "good salty")


@cache
def clash(first: Adjective, second: Adjective) -> bool:
    """Whether one noun can hardly be both (`the old museum is modern`)."""
    pair = {first.en, second.en}
    return len(pair) == 1 or any(pair == set(words.split()) for words in _CLASHES)


@cache
def fitting(noun: Noun, before: bool | None = None, graded: bool = False) -> tuple[Adjective, ...]:
    """The adjectives for a noun, in the order of the table."""
    return tuple(
        word
        for word in ADJECTIVES
        if noun in word.nouns and before in (None, word.before) and graded <= word.gradable
    )


@cache
def attributes(noun: Noun, before: bool | None = None) -> tuple[Adjective, ...]:
    """The adjectives that tell one such thing from another: `the red dress`."""
    return tuple(w for w in fitting(noun, before) if w.en not in (*STATES, "good"))


@cache
def named(en: str) -> Adjective:
    return next(word for word in ADJECTIVES if word.en == en)
