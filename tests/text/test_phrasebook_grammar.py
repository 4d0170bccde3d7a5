"""The morphology under the phrasebook: articles, prepositions, plurals, verbs, English spelling."""

import pytest

from mt.text.phrasebook import conjugation, english, italian, phrases
from mt.text.phrasebook.adjectives import named
from mt.text.phrasebook.nouns import select
from mt.text.phrasebook.phrases import HE, ME, SHE, THEY, WE, YOU, Text
from mt.text.phrasebook.predicates import VerbPhrase
from mt.text.phrasebook.verbs import verb

# Singular, plural, feminine, then with its articles: definite, indefinite, plural.
ARTICLES = [
    ("libro", "libri", False, "il libro", "un libro", "i libri"),
    ("specchio", "specchi", False, "lo specchio", "uno specchio", "gli specchi"),
    ("zaino", "zaini", False, "lo zaino", "uno zaino", "gli zaini"),
    ("gnomo", "gnomi", False, "lo gnomo", "uno gnomo", "gli gnomi"),
    ("psicologo", "psicologi", False, "lo psicologo", "uno psicologo", "gli psicologi"),
    ("sole", "soli", False, "il sole", "un sole", "i soli"),
    ("amico", "amici", False, "l'amico", "un amico", "gli amici"),
    ("uomo", "uomini", False, "l'uomo", "un uomo", "gli uomini"),
    ("hotel", "hotel", False, "l'hotel", "un hotel", "gli hotel"),
    ("casa", "case", True, "la casa", "una casa", "le case"),
    ("strada", "strade", True, "la strada", "una strada", "le strade"),
    ("zia", "zie", True, "la zia", "una zia", "le zie"),
    ("amica", "amiche", True, "l'amica", "un'amica", "le amiche"),
]


@pytest.mark.parametrize(("one", "many", "feminine", "the", "a", "the_many"), ARTICLES)
def test_articles(one: str, many: str, feminine: bool, the: str, a: str, the_many: str) -> None:
    assert italian.join(italian.definite(one, feminine, False), one) == the
    assert italian.join(italian.indefinite(one, feminine), one) == a
    assert italian.join(italian.definite(many, feminine, True), many) == the_many


CONTRACTED = {
    "a": "al allo all' alla ai agli alle",
    "di": "del dello dell' della dei degli delle",
    "da": "dal dallo dall' dalla dai dagli dalle",
    "in": "nel nello nell' nella nei negli nelle",
    "su": "sul sullo sull' sulla sui sugli sulle",
}


@pytest.mark.parametrize(("preposition", "forms"), CONTRACTED.items())
def test_contracted_prepositions(preposition: str, forms: str) -> None:
    articles = ["il", "lo", "l'", "la", "i", "gli", "le"]
    assert [italian.contract(preposition, article) for article in articles] == forms.split()


def test_other_prepositions_do_not_contract() -> None:
    assert italian.contract("con", "il") == "con il"
    assert italian.contract("tra", "gli") == "tra gli"


def test_euphonic_d_only_before_the_same_vowel() -> None:
    assert italian.with_preposition("a", "Anna") == "ad Anna"
    assert italian.with_preposition("a", "Elena") == "a Elena"
    assert italian.with_preposition("a", "Roma") == "a Roma"


@pytest.mark.parametrize(
    ("one", "feminine", "many"),
    [
        ("libro", False, "libri"), ("casa", True, "case"), ("cane", False, "cani"),
        ("chiave", True, "chiavi"), ("amica", True, "amiche"), ("bottega", True, "botteghe"),
        ("fungo", False, "funghi"), ("bosco", False, "boschi"), ("figlio", False, "figli"),
        ("arancia", True, "arance"), ("spiaggia", True, "spiagge"), ("camicia", True, "camicie"),
        ("valigia", True, "valigie"), ("farmacia", True, "farmacie"), ("turista", False, "turisti"),
        ("città", True, "città"), ("caffè", False, "caffè"), ("autobus", False, "autobus"),
        ("film", False, "film"), ("orologio", False, "orologi"), ("bottiglia", True, "bottiglie"),
    ],
)  # fmt: skip
def test_regular_plurals(one: str, feminine: bool, many: str) -> None:
    assert italian.plural(one, feminine) == many


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("friend", "l'amico", "gli amici"), ("doctor", "il medico", "i medici"),
        ("man", "l'uomo", "gli uomini"), ("egg", "l'uovo", "le uova"),
        ("photo", "la foto", "le foto"), ("psychologist", "lo psicologo", "gli psicologi"),
        ("zoo", "lo zoo", "gli zoo"), ("uncle", "lo zio", "gli zii"),
    ],
)  # fmt: skip
def test_irregular_plurals(name: str, one: str, many: str) -> None:
    noun = select(name)[0]
    assert phrases.the(noun).it == one
    assert phrases.the(noun, True).it == many


@pytest.mark.parametrize(
    ("masculine", "forms"),
    [
        ("rosso", "rosso rossa rossi rosse"), ("verde", "verde verde verdi verdi"),
        ("bianco", "bianco bianca bianchi bianche"), ("lungo", "lungo lunga lunghi lunghe"),
        ("grigio", "grigio grigia grigi grigie"), ("vecchio", "vecchio vecchia vecchi vecchie"),
        ("blu", "blu blu blu blu"), ("rosa", "rosa rosa rosa rosa"),
    ],
)  # fmt: skip
def test_adjectives_agree(masculine: str, forms: str) -> None:
    numbers = [(False, False), (True, False), (False, True), (True, True)]
    assert [italian.adjective(masculine, *number) for number in numbers] == forms.split()


def test_irregular_masculine_plural_of_an_adjective() -> None:
    nice = named("nice")
    assert phrases.quality(nice, THEY).it == "simpatici"
    girls = phrases.the(select("girl")[0], True)
    assert phrases.quality(nice, girls).it == "simpatiche"


@pytest.mark.parametrize(
    ("word", "noun", "feminine", "plural", "form"),
    [
        ("bello", "libro", False, False, "bel"), ("bello", "zaino", False, False, "bello"),
        ("bello", "albero", False, False, "bell'"), ("bello", "casa", True, False, "bella"),
        ("bello", "libri", False, True, "bei"), ("bello", "alberi", False, True, "begli"),
        ("bello", "case", True, True, "belle"), ("quello", "specchio", False, False, "quello"),
        ("quello", "uomo", False, False, "quell'"), ("quello", "cani", False, True, "quei"),
        ("quello", "stivali", False, True, "quegli"), ("buono", "vino", False, False, "buon"),
        ("buono", "zucchero", False, False, "buono"), ("buono", "torta", True, False, "buona"),
    ],
)  # fmt: skip
def test_adjectives_before_a_noun(
    word: str, noun: str, feminine: bool, plural: bool, form: str
) -> None:
    assert italian.before_noun(word, noun, feminine, plural) == form


def test_possessives_leave_out_the_article_before_one_relation() -> None:
    mother, house = select("mother house")
    assert phrases.my(ME, mother).it == "mia madre"
    assert phrases.my(ME, house).it == "la mia casa"
    assert phrases.my(THEY, mother).it == "la loro madre"
    assert phrases.my(HE, select("brother")[0], True).it == "i suoi fratelli"
    assert phrases.my(ME, mother).after("a") == "a mia madre"
    assert phrases.my(YOU, select("backpack")[0]).after("in") == "nel tuo zaino"


@pytest.mark.parametrize(
    ("infinitive", "forms"),
    [
        ("parlare", "parlo parli parla parliamo parlate parlano"),
        ("cercare", "cerco cerchi cerca cerchiamo cercate cercano"),
        ("mangiare", "mangio mangi mangia mangiamo mangiate mangiano"),
        ("studiare", "studio studi studia studiamo studiate studiano"),
        ("leggere", "leggo leggi legge leggiamo leggete leggono"),
        ("dormire", "dormo dormi dorme dormiamo dormite dormono"),
        ("finire", "finisco finisci finisce finiamo finite finiscono"),
        ("andare", "vado vai va andiamo andate vanno"),
        ("rimanere", "rimango rimani rimane rimaniamo rimanete rimangono"),
    ],
)
def test_present(infinitive: str, forms: str) -> None:
    persons = [(1, False), (2, False), (3, False), (1, True), (2, True), (3, True)]
    assert [conjugation.present(infinitive, *person) for person in persons] == forms.split()


@pytest.mark.parametrize(
    ("infinitive", "future", "imperfect", "gerund", "participle"),
    [
        ("mangiare", "mangerà", "mangiava", "mangiando", "mangiato"),
        ("cercare", "cercherà", "cercava", "cercando", "cercato"),
        ("studiare", "studierà", "studiava", "studiando", "studiato"),
        ("bere", "berrà", "beveva", "bevendo", "bevuto"),
        ("vedere", "vedrà", "vedeva", "vedendo", "visto"),
        ("scrivere", "scriverà", "scriveva", "scrivendo", "scritto"),
        ("pulire", "pulirà", "puliva", "pulendo", "pulito"),
        ("rimanere", "rimarrà", "rimaneva", "rimanendo", "rimasto"),
        ("essere", "sarà", "era", "essendo", "stato"),
    ],
)
def test_other_forms(
    infinitive: str, future: str, imperfect: str, gerund: str, participle: str
) -> None:
    assert conjugation.future(infinitive, 3, False) == future
    assert conjugation.imperfect(infinitive, 3, False) == imperfect
    assert conjugation.gerund(infinitive) == gerund
    assert conjugation.participle(infinitive) == participle


def test_imperatives() -> None:
    assert conjugation.imperative("guardare", plural=False) == "guarda"
    assert conjugation.imperative("aprire", plural=False) == "apri"
    assert conjugation.imperative("pulire", plural=False) == "pulisci"
    assert conjugation.imperative("chiudere", plural=True) == "chiudete"


def test_participles_agree_with_the_subject_after_essere() -> None:
    left = VerbPhrase(verb("leave"))
    assert [left.past(who).it for who in (HE, SHE, THEY)] == [
        "è partito", "è partita", "sono partiti",
    ]  # fmt: skip
    assert VerbPhrase(verb("have fun")).past(WE).it == "ci siamo divertiti"
    assert VerbPhrase(verb("read")).past(SHE).it == "ha letto"


def test_participles_agree_with_a_pronoun_before_avere() -> None:
    eggs = phrases.the(select("egg")[0], True)
    ate = VerbPhrase(verb("eat"), Text("them"), "le", eggs)
    assert ate.past(ME) == Text("ate them", "le ho mangiate")
    assert VerbPhrase(verb("see"), Text("her"), "la", SHE).past(ME).it == "l'ho vista"
    assert VerbPhrase(verb("wait for"), Text("him"), "lo", HE).present(ME).it == "l'aspetto"


def test_a_pronoun_hangs_on_to_an_infinitive() -> None:
    assert VerbPhrase(verb("get up")).modal(ME, "dovere") == Text("must get up", "devo alzarmi")
    help_us = VerbPhrase(verb("help"), Text("us"), "ci", WE)
    assert help_us.modal(SHE, "volere").it == "vuole aiutarci"


def test_tenses_in_english() -> None:
    read = VerbPhrase(verb("read"), Text("a book", "un libro"))
    assert read.present(SHE).en == "reads a book"
    assert read.present_not(THEY).en == "do not read a book"
    assert read.past_not(HE).en == "did not read a book"
    assert read.progressive(ME) == Text("am reading a book", "sto leggendo un libro")
    assert read.future(SHE, negative=True) == Text("will not read a book", "non leggerà un libro")
    assert read.modal(HE, "volere", negative=True).en == "does not want to read a book"
    assert read.ask(HE).en == "does he read a book"


def test_english_spelling() -> None:
    assert [english.plural(n) for n in ("book", "box", "baby", "tomato", "boy", "peach")] == [
        "books", "boxes", "babies", "tomatoes", "boys", "peaches",
    ]  # fmt: skip
    verbs = ["run", "write", "wait for", "get up", "see", "begin", "visit"]
    assert [english.gerund(v) for v in verbs] == [
        "running", "writing", "waiting for", "getting up", "seeing", "beginning", "visiting",
    ]  # fmt: skip
    assert [english.third_person(v) for v in ("go", "wash", "look at", "study", "have")] == [
        "goes", "washes", "looks at", "studies", "has",
    ]  # fmt: skip
    assert [english.past(v) for v in ("stop", "study", "dance", "play", "visit")] == [
        "stopped", "studied", "danced", "played", "visited",
    ]  # fmt: skip
    words = ["tall", "big", "heavy", "nice", "famous", "good", "tired"]
    assert [english.comparative(w) for w in words] == [
        "taller", "bigger", "heavier", "nicer", "more famous", "better", "more tired",
    ]  # fmt: skip
    words = ["apple", "useful map", "honest man", "English car"]
    assert [english.indefinite(w) for w in words] == ["an", "a", "an", "an"]
