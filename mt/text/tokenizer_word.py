"""How raw text is cut into words and marks, by language; vocabularies and ids live elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from tokenizers import Regex, normalizers, pre_tokenizers

# Of these and of currency and mathematical signs, a token keeps the spaces around it, since `a-b`
# and `a - b` read differently. Of other marks it does not: `yes .` and `yes.` are the same tokens.
_SPACED = "-–—−%‰&@#*/\\…°§·"
APOSTROPHES = "'’ʼ"

# Languages that elide a vowel before the next word and write the apostrophe with the first: l'uomo.
# Italian and its kin also cut words short (po', de', E'), the French group does not.
CUTTING = frozenset(("it", "co", "sc", "scn", "vec", "nap", "lij", "lmo", "pms", "fur"))
ELIDING = CUTTING | {"fr", "ca", "oc", "wa"}
VOWELS = "aeiouàèéìòùáíóúäöü"

_A = f"[{APOSTROPHES}]"
_W = r"[\p{L}\p{M}\p{N}_\x{200C}\x{200D}]"
# Most words, found at once; the rest of the pattern is for what touches something.
_PLAIN = r"[\p{L}\p{M}]++(?=[\s,;!?]|[.:](?:\s|$)|$)"
_URL = r"(?i:https?:|www\.)[^\s<>\"“”«»]*[\p{L}\p{N}/_=#&\-]"
_MAIL = (
    r"[\p{L}\p{N}][\p{L}\p{N}._%+\-]*@"
    r"[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+"
)
_DOMAIN = rf"{_W}+(?:\.{_W}+)*\.(?i:com|org|net|gov|edu|info|it|eu|uk|de|fr|es|ch)(?!{_W})"
_NUMBER = r"\p{N}+(?:[.,:]\p{N}+)+(?!\p{L})"
_ABBREVIATION = r"(?<!\p{L})(?:\p{L}\.){2,}(?!\p{L})"
_EMOJI = (
    r"[\x{1F1E6}-\x{1F1FF}]{2}"
    r"|\p{So}[\x{FE0F}\x{1F3FB}-\x{1F3FF}]*(?:\x{200D}\p{So}[\x{FE0F}\x{1F3FB}-\x{1F3FF}]*)*"
)
_SYMBOL = rf" ?[{re.escape(_SPACED)}\p{{Sc}}\p{{Sm}}] ?"
# Whatever is left: each mark alone, so that `."` and `?!` are looked up one by one.
_MARK = r"[^\s\p{C}]|[\x{E000}-\x{F8FF}]"

_CLITIC = f"{_A}(?i:s|m|d|re|ve|ll)(?!{_W})"
_ENGLISH = (
    f"{_CLITIC}"
    f"|(?<!{_W}){_A}(?:(?i:tis|twas|em|til|cause)(?!{_W})|\\p{{N}}0s?(?!{_W}))"
    f"|{_W}+(?:{_A}(?!(?i:s|m|d|re|ve|ll)(?!{_W})){_W}+)*"
)
# A word that comes right after an opening single quote does not keep the closing one: 'ciao'.
_NOT_QUOTED = "(?<![\\s(\\[“\"«]['‘])(?<!^['‘])"
_YEARS = f"(?<!{_W}){_A}\\p{{N}}{{2}}(?!{_W})"
_CUT = (
    f"{_W}*(?i:[{VOWELS}]){_A}{_W}+"  # O'Brien: no elision after a vowel
    f"|{_W}+{_A}(?={_W})"
    f"|{_NOT_QUOTED}{_W}+{_A}"
)
_ELIDED = f"{_W}+{_A}(?={_W})|(?<!{_W})(?i:l|d|c|j|m|n|s|t|qu|jusqu|lorsqu|puisqu){_A}"
_JOINED = f"{_W}+(?:{_A}{_W}+)*"


def base_language(language: str) -> str:
    """`pt` of `pt-BR`."""
    return language.lower().replace("_", "-").split("-")[0]


def pattern(language: str) -> str:
    """The regular expression whose matches are the words and marks of a text."""
    return "|".join((_PLAIN, _URL, _MAIL, _DOMAIN, _NUMBER, _ABBREVIATION, _words(language)))


def _words(language: str) -> str:
    base = base_language(language)
    words = _ENGLISH if base == "en" else f"{_YEARS}|{_JOINED}"
    if base in ELIDING:
        words = f"{_YEARS}|{_CUT if base in CUTTING else _ELIDED}|{_W}+"
    return f"{words}|\\p{{L}}+&\\p{{L}}+|{_SYMBOL}|{_EMOJI}|{_MARK}"


def pre_tokenizer(language: str) -> pre_tokenizers.PreTokenizer:
    """Cuts normalised text into words and single marks; spaces and control characters go."""
    return pre_tokenizers.Split(Regex(pattern(language)), "removed", invert=True)


def normalizer() -> normalizers.Normalizer:
    """Composes accents, drops characters that nobody sees, and leaves one kind of space."""
    return normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(r"[\x{AD}\x{200B}\x{2060}\x{FEFF}]"), ""),
            normalizers.Replace(Regex(r"[\s&&[^ ]]"), " "),
        ]
    )


def is_symbol(token: str) -> bool:
    """Whether `token` is a mark that keeps the spaces around it."""
    mark = token.strip(" ")
    return len(mark) == 1 and (mark in _SPACED or unicodedata.category(mark) in {"Sc", "Sm"})


def aliases(vocabulary: Iterable[str]) -> dict[str, str]:
    """Spellings that a vocabulary lacks, each with the entry that stands for it.

    `l’` is `l'` to a corpus that has only the latter, and a dash is a dash however it is spaced.
    """
    known = set(vocabulary)
    found: dict[str, str] = {}
    for token in sorted(known):
        for other in _spellings(token):
            if other not in known:
                found.setdefault(other, token)
    return found


def _spellings(token: str) -> Iterator[str]:
    if is_symbol(token):
        mark = token.strip(" ")
        yield from (f"{left}{mark}{right}" for left in (" ", "") for right in (" ", ""))
    elif token == '"':
        yield from "“”„«»"
    elif token in APOSTROPHES:
        yield from "'’‘"
    else:
        yield token.replace("'", "’")
        yield token.replace("’", "'")
