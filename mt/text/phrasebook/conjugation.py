"""Italian verb forms from an infinitive: regular rules and the irregular forms; no word order."""

from mt.text.phrasebook.italian import adjective

# Six forms: io, tu, lui, noi, voi, loro.
_PRESENT = {
    "essere": "sono sei è siamo siete sono",
    "avere": "ho hai ha abbiamo avete hanno",
    "andare": "vado vai va andiamo andate vanno",
    "venire": "vengo vieni viene veniamo venite vengono",
    "uscire": "esco esci esce usciamo uscite escono",
    "bere": "bevo bevi beve beviamo bevete bevono",
    "dare": "do dai dà diamo date danno",
    "stare": "sto stai sta stiamo state stanno",
    "dire": "dico dici dice diciamo dite dicono",
    "sapere": "so sai sa sappiamo sapete sanno",
    "volere": "voglio vuoi vuole vogliamo volete vogliono",
    "potere": "posso puoi può possiamo potete possono",
    "dovere": "devo devi deve dobbiamo dovete devono",
    "scegliere": "scelgo scegli sceglie scegliamo scegliete scelgono",
    "rimanere": "rimango rimani rimane rimaniamo rimanete rimangono",
    "sedere": "siedo siedi siede sediamo sedete siedono",
}
_ENDINGS = {"are": "o i a iamo ate ano", "ere": "o i e iamo ete ono", "ire": "o i e iamo ite ono"}
_WITH_ISC = ("capire", "costruire", "finire", "pulire")
_IMPERFECT = {"essere": "ero eri era eravamo eravate erano"}
_LATIN_STEMS = {"bere": "bev", "dire": "dic", "fare": "fac"}  # for imperfect and gerund
_FUTURE_STEMS = {
    "essere": "sar", "avere": "avr", "andare": "andr", "venire": "verr", "vedere": "vedr",
    "bere": "berr", "dare": "dar", "stare": "star", "sapere": "sapr", "volere": "vorr",
    "potere": "potr", "dovere": "dovr", "cadere": "cadr", "rimanere": "rimarr",
}  # fmt: skip
_PARTICIPLES = {
    "essere": "stato", "aprire": "aperto", "bere": "bevuto", "chiudere": "chiuso",
    "conoscere": "conosciuto", "correre": "corso", "dipingere": "dipinto", "dire": "detto",
    "fare": "fatto", "leggere": "letto", "mettere": "messo", "nascere": "nato",
    "nascondere": "nascosto", "perdere": "perso", "piangere": "pianto", "prendere": "preso",
    "ridere": "riso", "rimanere": "rimasto", "rompere": "rotto", "scegliere": "scelto",
    "scrivere": "scritto",
    "sorridere": "sorriso", "vedere": "visto", "venire": "venuto", "vincere": "vinto",
}  # fmt: skip
_WITH_ESSERE = (
    "andare", "arrivare", "cadere", "diventare", "entrare", "essere", "nascere", "partire",
    "rimanere", "stare", "tornare", "uscire", "venire",
)  # fmt: skip


def present(infinitive: str, person: int, plural: bool) -> str:
    """`leggere`, 3, False -> `legge`."""
    if infinitive in _PRESENT:
        return _form(_PRESENT[infinitive], person, plural)
    stem, ending = infinitive[:-3], _form(_ENDINGS[infinitive[-3:]], person, plural)
    if infinitive in _WITH_ISC and (not plural or person == 3):
        stem += "isc"
    return _spell(infinitive, stem, ending)


def imperfect(infinitive: str, person: int, plural: bool) -> str:
    """`leggere`, 3, False -> `leggeva`."""
    if infinitive in _IMPERFECT:
        return _form(_IMPERFECT[infinitive], person, plural)
    stem = _LATIN_STEMS[infinitive] + "e" if infinitive in _LATIN_STEMS else infinitive[:-2]
    return stem + _form("vo vi va vamo vate vano", person, plural)


def future(infinitive: str, person: int, plural: bool) -> str:
    """`leggere`, 3, False -> `leggerà`."""
    stem = _FUTURE_STEMS.get(infinitive, infinitive[:-1])
    if infinitive.endswith("are") and infinitive not in _FUTURE_STEMS:
        stem = _spell(infinitive, infinitive[:-3], "er")
        if infinitive.endswith(("ciare", "giare")):
            stem = infinitive[:-4] + "er"
    return stem + _form("ò ai à emo ete anno", person, plural)


def imperative(infinitive: str, plural: bool) -> str:
    """The command to one friend (`apri`, `guarda`) or to several (`aprite`)."""
    if infinitive.endswith("are") and not plural and infinitive not in _PRESENT:
        return infinitive[:-2]
    return present(infinitive, 2, plural)


def gerund(infinitive: str) -> str:
    """`leggendo`, `mangiando`, `bevendo`."""
    stem = _LATIN_STEMS.get(infinitive, infinitive[:-3])
    return stem + ("ando" if infinitive.endswith("are") and stem == infinitive[:-3] else "endo")


def participle(infinitive: str, feminine: bool = False, plural: bool = False) -> str:
    """`letto`, `andata`, `visti`."""
    ending = {"are": "ato", "ere": "uto", "ire": "ito"}[infinitive[-3:]]
    return adjective(_PARTICIPLES.get(infinitive, infinitive[:-3] + ending), feminine, plural)


def auxiliary(infinitive: str) -> str:
    """The verb that makes the passato prossimo: `essere` or `avere`."""
    return "essere" if infinitive in _WITH_ESSERE else "avere"


def _form(six: str, person: int, plural: bool) -> str:
    return six.split()[person - 1 + 3 * plural]


def _spell(infinitive: str, stem: str, ending: str) -> str:
    """Keeps the sound of the stem of a verb in -are: `cerchi`, `mangi`, `studi`."""
    if infinitive.endswith("are") and ending[0] in "ie":
        if stem[-1] in "cg":
            return stem + "h" + ending
        if stem[-1] == "i" and ending[0] == "i":
            return stem[:-1] + ending
    return stem + ending
