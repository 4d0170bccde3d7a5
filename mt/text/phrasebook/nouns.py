"""The nouns, by what one can do with them; no grammar, no other words."""

from dataclasses import dataclass
from functools import cache

from mt.text.phrasebook import english, italian


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun in both languages; `kind` is the row of the table it stands in."""

    kind: str
    en: str
    en_plural: str
    it: str
    it_plural: str
    feminine: bool
    feminine_plural: bool

    def english(self, plural: bool) -> str:
        return self.en_plural if plural else self.en

    def italian(self, plural: bool) -> str:
        return self.it_plural if plural else self.it

    def is_feminine(self, plural: bool) -> bool:
        return self.feminine_plural if plural else self.feminine


# English, Italian, gender. A plural that the rules do not give stands after a slash; `mf` is
# masculine in the singular and feminine in the plural; an underscore is a space.
TABLE = {
    "people": """
        boy ragazzo m, girl ragazza f, man/men uomo/uomini m, woman/women donna f,
        child/children bambino m, student studente m, teacher maestro m, professor professore m,
        doctor medico/medici m, nurse infermiera f, engineer ingegnere m, lawyer avvocato m,
        waiter cameriere m, waitress cameriera f, chef cuoco m, baker fornaio m,
        farmer contadino m, postman/postmen postino m, policeman/policemen poliziotto m,
        actor attore m, actress attrice f, singer cantante m, writer scrittore m,
        painter pittore m, journalist giornalista m, dentist dentista m, tourist turista m,
        psychologist psicologo/psicologi m,
        architect architetto m""",
    "kin": """
        mother madre f, father padre m, brother fratello m, sister sorella f, son figlio m,
        daughter figlia f, uncle zio/zii m, aunt zia f, grandfather nonno m, grandmother nonna f,
        cousin cugino m""",
    "friends": "friend amico/amici m, neighbour vicino m",
    "pets": "dog cane m, cat gatto m, rabbit coniglio m, bird uccello m",
    "animals": """
        horse cavallo m, cow mucca f, mouse/mice topo m, hen gallina f, pig maiale m,
        donkey asino m, lion leone m, bear orso m, wolf/wolves lupo m, elephant elefante m,
        monkey scimmia f, butterfly farfalla f, fox volpe f, snake serpente m, spider ragno m,
        bee ape f, squirrel scoiattolo m""",
    "fruit": """
        apple mela f, orange arancia f, pear pera f, lemon limone m, egg uovo/uova mf,
        carrot carota f, potato patata f, tomato pomodoro m, onion cipolla f, sandwich panino m,
        cake torta f, biscuit biscotto m, pizza pizza f, mushroom fungo m, strawberry fragola f,
        peach pesca f, ice_cream gelato m""",
    "food": """
        bread pane m, rice riso m, meat carne f, fish/fish pesce m, cheese formaggio m,
        butter burro m, ham prosciutto m, salad insalata f, soup zuppa f, honey miele m,
        chocolate cioccolato m, sugar zucchero m, pasta pasta f""",
    "drinks": """
        water acqua f, milk latte m, coffee caffè m, tea tè m, wine vino m, beer birra f,
        juice succo m""",
    "clothes": """
        dress vestito m, shirt camicia f, coat cappotto m, hat cappello m, jacket giacca f,
        skirt gonna f, sweater maglione m, scarf/scarves sciarpa f, tie cravatta f""",
    "pairs": "shoe scarpa f, boot stivale m, glove guanto m, sock calza f",
    "reading": """
        book libro m, newspaper giornale m, letter lettera f, magazine rivista f,
        novel romanzo m, dictionary dizionario m, poem poesia f""",
    "things": """
        photo foto/foto f, painting quadro m, key chiave f, pen penna f, pencil matita f,
        notebook quaderno m, umbrella ombrello m, watch orologio m, cup tazza f,
        glass bicchiere m, plate piatto m, bottle bottiglia f, knife/knives coltello m,
        fork forchetta f, spoon cucchiaio m, ball palla f, toy giocattolo m, gift regalo m,
        phone telefono m, computer computer m, radio radio/radio f, lamp lampada f,
        ticket biglietto m, map mappa f, mirror specchio m, candle candela f, flower fiore m,
        ring anello m""",
    "instruments": "guitar chitarra f, piano pianoforte m, violin violino m, flute flauto m",
    "containers": """
        bag borsa f, suitcase valigia f, backpack zaino m, box scatola f, drawer cassetto m,
        wardrobe armadio m, basket cesto m""",
    "furniture": """
        table tavolo m, chair sedia f, bed letto m, sofa divano m, desk scrivania f,
        shelf/shelves scaffale m, carpet tappeto m""",
    "openings": "door porta f, window finestra f",
    "rooms": "kitchen cucina f, bathroom bagno m, bedroom camera f",
    "buildings": """
        house casa f, school scuola f, station stazione f, church chiesa f, museum museo m,
        bank banca f, hospital ospedale m, hotel albergo m, restaurant ristorante m,
        theatre teatro m, cinema cinema/cinema m, library biblioteca f, pharmacy farmacia f,
        shop negozio m, supermarket supermercato m, airport aeroporto m,
        university università f, stadium stadio m, castle castello m, factory fabbrica f""",
    "outdoors": """
        park parco m, market mercato m, bridge ponte m, square piazza f, zoo zoo/zoo m,
        garden giardino m, beach spiaggia f, street strada f""",
    "nature": """
        lake lago m, river fiume m, mountain montagna f, sea mare m, forest bosco m,
        island isola f""",
    "towns": "city città f, village paese m",
    "trees": "tree albero m",
    "vehicles": """
        car macchina f, bicycle bicicletta f, boat barca f, motorbike moto/moto f,
        lorry camion m""",
    "transport": """
        train treno m, bus autobus m, plane aereo m, ship nave f, taxi taxi/taxi m, tram tram m""",
    "events": """
        concert concerto m, lesson lezione f, film film m, party festa f, match partita f,
        meeting riunione f, exam esame m""",
    "stories": "song canzone f, story storia f, question domanda f, answer risposta f",
}  # fmt: skip


def _noun(kind: str, row: str) -> Noun:
    english_words, italian_words, gender = row.replace("_", " ").rsplit(" ", 2)
    en, _, en_plural = english_words.partition("/")
    it, _, it_plural = italian_words.partition("/")
    feminine = gender == "f"
    en_plural = en_plural or english.plural(en)
    it_plural = it_plural or italian.plural(it, feminine)
    return Noun(kind, en, en_plural, it, it_plural, feminine, gender != "m")


NOUNS: tuple[Noun, ...] = tuple(
    _noun(kind, row.strip()) for kind, rows in TABLE.items() for row in rows.split(",")
)
_BY_NAME = {noun.en: noun for noun in NOUNS}


@cache
def select(names: str) -> tuple[Noun, ...]:
    """The nouns of a list of kinds and single nouns: `fruit bread ice_cream`."""
    chosen: list[Noun] = []
    for name in names.split():
        if name in TABLE:
            chosen += (noun for noun in NOUNS if noun.kind == name)
        else:
            chosen.append(_BY_NAME[name.replace("_", " ")])
    return tuple(chosen)
