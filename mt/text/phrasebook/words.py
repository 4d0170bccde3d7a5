"""Names, places, times and other fixed expressions as pairs; no words that inflect."""

from mt.text.phrasebook.phrases import NounPhrase, Text


def pairs(table: str) -> tuple[Text, ...]:
    """`English = Italian`, separated by commas."""
    return tuple(Text(*entry.strip().split(" = ")) for entry in table.split(","))


NAMES = tuple(
    NounPhrase(name, name, feminine)
    for names, feminine in (
        ("Marco Luca Paolo Matteo Roberto Davide Giovanni Pietro", False),
        ("Anna Giulia Maria Francesca Sara Elena Chiara Laura", True),
    )
    for name in names.split()
)
SURNAMES = ("Rossi", "Bianchi", "Ferrari", "Romano", "Conti", "Ricci")
CITIES = pairs("""
    Rome = Roma, Milan = Milano, Florence = Firenze, Venice = Venezia, Naples = Napoli,
    Turin = Torino, Paris = Parigi, London = Londra, Berlin = Berlino, Madrid = Madrid""")
COUNTRIES = tuple(
    NounPhrase(en, it, True, article=article)
    for en, it, article in (
        ("Italy", "l'Italia", "l'"), ("France", "la Francia", "la"), ("Spain", "la Spagna", "la"),
        ("Germany", "la Germania", "la"), ("England", "l'Inghilterra", "l'"),
        ("Greece", "la Grecia", "la"), ("Austria", "l'Austria", "l'"),
    )
)  # fmt: skip
LANGUAGES = pairs("""
    Italian = italiano, French = francese, Spanish = spagnolo, German = tedesco,
    English = inglese""")
NUMBERS = pairs("""
    two = due, three = tre, four = quattro, five = cinque, six = sei, seven = sette, eight = otto,
    nine = nove, ten = dieci, twelve = dodici, twenty = venti""")
PRICES = pairs("""
    five = cinque, ten = dieci, fifteen = quindici, twenty = venti, thirty = trenta,
    forty = quaranta, fifty = cinquanta, sixty = sessanta, eighty = ottanta, ninety = novanta,
    a hundred = cento, two hundred = duecento, three hundred = trecento""")
AGES = pairs("""
    ten = dieci anni, twelve = dodici anni, fifteen = quindici anni, twenty = vent'anni,
    thirty = trent'anni, forty = quarant'anni, fifty = cinquant'anni, sixty = sessant'anni,
    eighty = ottant'anni, ninety = novant'anni""")
MASS = ("food", "drinks")  # the kinds of nouns without plural
AS_MASS = ("pizza", "ice cream")  # and nouns that are often used like them
MANY = pairs("many = molti, some = alcuni")
HOURS = pairs("""
    at one o'clock = all'una, at two o'clock = alle due, at three o'clock = alle tre,
    at four o'clock = alle quattro, at half past three = alle tre e mezza,
    at five o'clock = alle cinque, at a quarter past five = alle cinque e un quarto,
    at six o'clock = alle sei, at a quarter past six = alle sei e un quarto,
    at noon = a mezzogiorno, at midnight = a mezzanotte, at seven o'clock = alle sette,
    at half past seven = alle sette e mezza, at ten to eight = alle otto meno dieci,
    at eight o'clock = alle otto, at half past eight = alle otto e mezza,
    at five to nine = alle nove meno cinque, at nine o'clock = alle nove,
    at half past nine = alle nove e mezza, at ten o'clock = alle dieci""")
HOURS_OF = (  # what one does at which of them
    (
        "get up",
        ("six o'clock", "seven o'clock", "eight o'clock", "half past seven", "nine o'clock"),
    ),
    ("wake up", ("five o'clock", "six o'clock", "seven o'clock", "a quarter past six")),
    ("get dressed", ("eight o'clock", "half past eight", "half past seven", "ten to eight")),
    ("fall asleep", ("ten o'clock", "midnight", "half past nine", "nine o'clock")),
    ("rest", ("one o'clock", "two o'clock", "three o'clock", "half past three", "noon")),
)
DAYS = pairs("""
    Monday = lunedì, Tuesday = martedì, Wednesday = mercoledì, Thursday = giovedì,
    Friday = venerdì, Saturday = sabato, Sunday = domenica""")
MONTHS = pairs("""
    January = gennaio, February = febbraio, March = marzo, April = aprile, May = maggio,
    June = giugno, July = luglio, August = agosto, September = settembre, October = ottobre,
    November = novembre, December = dicembre""")
SEASONS = pairs("""
    in summer = d'estate, in winter = d'inverno, in spring = in primavera,
    in autumn = in autunno""")
OFTEN = pairs("always = sempre, often = spesso")
PERFECT = pairs("already = già, never = mai, just = appena")
EVERY = pairs("""
    every day = ogni giorno, every morning = ogni mattina, every evening = ogni sera,
    every week = ogni settimana""")
LAST = pairs("""
    yesterday = ieri, yesterday evening = ieri sera, yesterday morning = ieri mattina,
    last week = la settimana scorsa, last year = l'anno scorso, last month = il mese scorso""")
YESTERDAY = LAST[:3]
TOMORROW = pairs("""
    tomorrow = domani, tomorrow morning = domani mattina, tomorrow evening = domani sera,
    next week = la settimana prossima, next month = il mese prossimo""")
TODAY = pairs("today = oggi, this morning = stamattina, this evening = stasera")
MANNER = pairs("""
    slowly = lentamente, quickly = velocemente, well = bene, very well = molto bene,
    badly = male, with pleasure = con piacere""")
TRANSPORT = pairs("""
    by train = in treno, by car = in macchina, by bus = in autobus, by plane = in aereo,
    by bicycle = in bicicletta, on foot = a piedi""")
# Where one is, in the idiom of each language.
SPOTS = pairs("""
    at home = a casa, at school = a scuola, in the kitchen = in cucina, in the office = in ufficio,
    in the garden = in giardino, in the park = nel parco, in the square = in piazza,
    on the beach = in spiaggia, in the mountains = in montagna, in the library = in biblioteca,
    at the station = alla stazione, at the restaurant = al ristorante, at the market = al mercato,
    at the hotel = in albergo, at the museum = al museo, at the cinema = al cinema""")
# Where one goes.
AIMS = pairs("""
    home = a casa, to school = a scuola, to church = in chiesa, to the beach = in spiaggia,
    to the office = in ufficio, to the theatre = a teatro, to the station = alla stazione,
    to the park = al parco, to the market = al mercato, to the museum = al museo,
    to the restaurant = al ristorante, to the cinema = al cinema, to the sea = al mare,
    to the supermarket = al supermercato, to the airport = all'aeroporto, to the zoo = allo zoo,
    to the stadium = allo stadio, to the university = all'università, to the bank = in banca,
    to the hospital = all'ospedale, to the library = in biblioteca, to the lake = al lago""")
# Where one does what; the words stand for the phrases of `SPOTS` and `WATERS` that end in them.
_SPOTS_OF = """
    sleep: home garden beach hotel park mountains
    work: home office garden market restaurant hotel museum school library station kitchen
    walk: garden park square beach mountains
    run: park garden square beach
    dance: home square beach kitchen restaurant hotel
    swim: sea lake river
    eat: home school kitchen office garden park restaurant hotel beach
    read: home garden park library beach office square kitchen
    sing: home school garden square park kitchen
    study: home school library kitchen garden
    cry: home school kitchen garden station
    laugh: home school garden cinema restaurant kitchen
    travel: train car bus plane
    have fun: beach park cinema garden school square mountains home
    get bored: museum cinema school office library station home
    rest: home garden park beach mountains hotel
    fall asleep: home beach garden cinema office library"""
WATERS = pairs("in the sea = nel mare, in the lake = nel lago, in the river = nel fiume")
SPOTS_OF = {
    verb: tuple(t for t in (*SPOTS, *WATERS, *TRANSPORT) if t.en.split()[-1] in spots.split())
    for verb, spots in (line.strip().split(": ") for line in _SPOTS_OF.strip().splitlines())
}
FEELINGS = pairs("""
    hungry = fame, thirsty = sete, cold = freddo, hot = caldo, sleepy = sonno, right = ragione,
    in a hurry = fretta, afraid = paura""")
WEATHER = pairs("""
    it is cold = fa freddo, it is hot = fa caldo, it is raining = piove, it is snowing = nevica,
    it is sunny = c'è il sole, it is windy = c'è vento, it is foggy = c'è la nebbia""")
WEATHER_BEFORE = pairs("""
    it was cold = faceva freddo, it was hot = faceva caldo, it was raining = pioveva,
    it was snowing = nevicava, it was sunny = c'era il sole, it was windy = c'era vento,
    it was foggy = c'era la nebbia""")
WEATHER_TO_COME = pairs("""
    it rains = pioverà, it snows = nevicherà, it is cold = farà freddo, it is hot = farà caldo,
    it is sunny = ci sarà il sole, it is windy = ci sarà vento""")
CLIMATE = (  # a season and what it brings
    ("in summer", "d'estate", "it is always hot", "fa sempre caldo"),
    ("in summer", "d'estate", "it is often sunny", "c'è spesso il sole"),
    ("in winter", "d'inverno", "it is always cold", "fa sempre freddo"),
    ("in winter", "d'inverno", "it often rains", "piove spesso"),
    ("in winter", "d'inverno", "it often snows", "nevica spesso"),
    ("in autumn", "in autunno", "it often rains", "piove spesso"),
    ("in autumn", "in autunno", "it is often foggy", "c'è spesso la nebbia"),
    ("in spring", "in primavera", "it often rains", "piove spesso"),
    ("in spring", "in primavera", "it is often windy", "c'è spesso vento"),
)
SPORTS = pairs("""
    football = a calcio, tennis = a tennis, cards = a carte, chess = a scacchi,
    basketball = a pallacanestro""")
MEASURES = pairs(
    "a glass of = un bicchiere di, a bottle of = una bottiglia di, a cup of = una tazza di"
)
POSITIONS = (  # English, Italian, the preposition that Italian adds
    ("near", "vicino", "a"), ("in front of", "davanti", "a"), ("behind", "dietro", ""),
    ("next to", "accanto", "a"), ("far from", "lontano", "da"), ("opposite", "di fronte", "a"),
)  # fmt: skip
HAIR = pairs("""
    long hair = i capelli lunghi, short hair = i capelli corti, blond hair = i capelli biondi,
    black hair = i capelli neri, grey hair = i capelli grigi, red hair = i capelli rossi,
    green eyes = gli occhi verdi, blue eyes = gli occhi azzurri, brown eyes = gli occhi marroni,
    black eyes = gli occhi neri""")
TOO_LONG = pairs("""
    all day = tutto il giorno, all night = tutta la notte, too much = troppo""")
COUNTED_TIMES = pairs("twice = due volte, three times = tre volte, many times = molte volte")
ANIMALS = (  # where one meets them
    (Text("at the zoo", "allo zoo"), "lion bear wolf elephant monkey snake fox"),
    (
        Text("in the forest", "nel bosco"),
        "bear wolf fox snake squirrel spider mouse butterfly bird",
    ),
    (
        Text("in the garden", "in giardino"),
        "bee butterfly squirrel spider mouse bird rabbit cat dog",
    ),
    (
        Text("near the farm", "vicino alla fattoria"),
        "horse cow hen pig donkey dog mouse rabbit fox",
    ),
)
# Where things of a kind lie: on and under which furniture, in which containers.
LYING = {
    "fruit": ("table", "", "basket box bag backpack"),
    "clothes": ("bed chair sofa", "bed chair", "suitcase wardrobe drawer backpack"),
    "pairs": ("bed carpet", "bed table chair sofa desk", "suitcase wardrobe backpack bag"),
    "reading": ("table desk shelf bed chair sofa", "table bed", "bag backpack drawer box suitcase"),
    "things": ("table desk shelf", "table chair desk", "bag backpack drawer box"),
    "pets": ("sofa bed chair carpet", "table bed chair desk", "basket"),
}
