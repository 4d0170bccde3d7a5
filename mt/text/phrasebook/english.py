"""English spelling of inflected words: plurals, verbs, comparison; no Italian and no lexicon."""

import re

VOWELS = "aeiou"
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # run, big, stop: the last letter doubles
_DOUBLING = ("begin", "forget", "travel")
_COMPARATIVES = {"good": ("better", "best"), "quiet": ("quieter", "quietest"),
                 "shy": ("shyer", "shyest"),
                 "narrow": ("narrower", "narrowest")}  # fmt: skip


def indefinite(word: str) -> str:
    """`a` or `an`, as the sound of the next word demands."""
    vowel = word[0].lower() in VOWELS and not word.startswith(("uni", "use"))
    return "an" if vowel or (word.startswith("hon") and not word.startswith("honey")) else "a"


def plural(noun: str) -> str:
    """The regular plural: books, boxes, babies, tomatoes."""
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    if noun.endswith(("s", "x", "z", "ch", "sh", "ato")):
        return noun + "es"
    return noun + "s"


def third_person(base: str) -> str:
    """`wait for` -> `waits for`: only the first word inflects."""
    word, rest = _split(base)
    if word == "have":
        return "has" + rest
    return (word + "es" if word.endswith("o") else plural(word)) + rest


def past(base: str) -> str:
    """The regular past and past participle of a verb."""
    word, rest = _split(base)
    if word.endswith("e"):
        return word + "d" + rest
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ied" + rest
    return _doubled(word) + "ed" + rest


def gerund(base: str) -> str:
    """`run` -> `running`, `write` -> `writing`."""
    word, rest = _split(base)
    stem = word[:-1] if word.endswith("e") and not word.endswith("ee") else _doubled(word)
    return stem + "ing" + rest


def comparative(adjective: str) -> str:
    """`taller`, `heavier`, `more famous`."""
    return _compared(adjective, 0)


def superlative(adjective: str) -> str:
    """`tallest`, `heaviest`, `most famous`."""
    return _compared(adjective, 1)


def _compared(adjective: str, degree: int) -> str:
    if adjective in _COMPARATIVES:
        return _COMPARATIVES[adjective][degree]
    stem = adjective.removesuffix("e")
    suffix = ("er", "est")[degree]
    if adjective.endswith("y"):
        return adjective[:-1] + "i" + suffix
    if len(re.findall("[aeiou]+", stem)) > 1:
        return ("more ", "most ")[degree] + adjective
    return (_doubled(stem) if stem == adjective else stem) + suffix


def _split(base: str) -> tuple[str, str]:
    word, space, rest = base.partition(" ")
    return word, space + rest


def _doubled(word: str) -> str:
    return word + word[-1] if _SHORT.fullmatch(word) or word in _DOUBLING else word
