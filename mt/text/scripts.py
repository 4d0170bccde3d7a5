"""Which letters a language is written in, for the languages that we know that of."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

# Blocks of Unicode, first and last code point; Latin without the signs between its letters.
_BLOCKS = {
    "Latin": "0041-005A 0061-007A 00C0-00D6 00D8-00F6 00F8-02AF 1E00-1EFF 2C60-2C7F A720-A7FF "
    "FF21-FF3A FF41-FF5A",
    "Greek": "0370-03FF 1F00-1FFF",
    "Cyrillic": "0400-052F 1C80-1C8F 2DE0-2DFF A640-A69F",
    "Armenian": "0531-058F",
    "Hebrew": "0591-05FF FB1D-FB4F",
    "Arabic": "0600-06FF 0750-077F 08A0-08FF FB50-FDFF FE70-FEFC",
    "Devanagari": "0900-0963 0966-097F",
    "Bengali": "0980-09FF",
    "Gurmukhi": "0A00-0A7F",
    "Gujarati": "0A80-0AFF",
    "Tamil": "0B80-0BFF",
    "Telugu": "0C00-0C7F",
    "Kannada": "0C80-0CFF",
    "Malayalam": "0D00-0D7F",
    "Sinhala": "0D80-0DFF",
    "Thai": "0E01-0E5B",
    "Lao": "0E80-0EFF",
    "Burmese": "1000-109F",
    "Georgian": "10A0-10FF 1C90-1CBF 2D00-2D2F",
    "Ethiopic": "1200-139F",
    "Khmer": "1780-17FF",
    "Hangul": "1100-11FF 3130-318F AC00-D7A3",
    "Kana": "3041-30FF 31F0-31FF FF66-FF9F",
    "Han": "3005-3007 3400-4DBF 4E00-9FFF F900-FAFF 20000-323AF",
}
_LANGUAGES = {
    ("Latin",): "af az bs ca cs cy da de en es et eu fi fo fr ga gd gl hr hu id is it la lb lt lv "
    "ms mt nb nl nn no oc pl pt ro sk sl so sq sv sw tl tr vi xh zu",
    ("Greek",): "el",
    ("Cyrillic",): "be bg kk ky mk mn ru tg uk",
    ("Cyrillic", "Latin"): "sr uz",
    ("Armenian",): "hy",
    ("Hebrew",): "he iw yi",
    ("Arabic",): "ar fa ps ur",
    ("Devanagari",): "hi mr ne",
    ("Bengali",): "bn as",
    ("Gurmukhi",): "pa",
    ("Gujarati",): "gu",
    ("Tamil",): "ta",
    ("Telugu",): "te",
    ("Kannada",): "kn",
    ("Malayalam",): "ml",
    ("Sinhala",): "si",
    ("Thai",): "th",
    ("Lao",): "lo",
    ("Georgian",): "ka",
    ("Ethiopic",): "am ti",
    ("Khmer",): "km",
    ("Burmese",): "my",
    ("Hangul", "Han"): "ko",
    ("Kana", "Han"): "ja",
    ("Han",): "zh",
}
_SCRIPTS_OF = {code: scripts for scripts, codes in _LANGUAGES.items() for code in codes.split()}
_SAME = {"nb": "no", "nn": "no", "iw": "he"}  # one language by several codes
# Names, formulas and one quoted word are no sign of a wrong language.
FEWEST_FOREIGN_LETTERS = 10


def _ranges(script: str) -> str:
    ends = (block.split("-") for block in _BLOCKS[script].split())
    return "".join(f"{chr(int(first, 16))}-{chr(int(last, 16))}" for first, last in ends)


def _is_latin1(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def known_language(language: str) -> str | None:
    """The two letters of a language that we know, as "pt" of "pt-BR"; None for any other text."""
    base = _SAME.get(_base(language), _base(language))
    return base if base in _SCRIPTS_OF else None


def _base(language: str) -> str:
    return re.split(r"[-_]", language.lower())[0]


@cache
def foreign_script(language: str) -> Callable[[str], bool] | None:
    """Whether most letters of a text are not of the language's script; None for unknown ones.

    `language` is a code as "it", "pt-BR" or "zh_Hans"; a script in it is not read.
    """
    scripts = _SCRIPTS_OF.get(_base(language))
    if scripts is None:
        return None
    own = re.compile(f"[{''.join(map(_ranges, scripts))}]+")
    foreign = re.compile(f"[{''.join(_ranges(s) for s in _BLOCKS if s not in scripts)}]+")
    latin = "Latin" in scripts

    def is_foreign(text: str) -> bool:
        if latin and _is_latin1(text):  # many times faster than the search
            return False
        if not foreign.search(text):
            return False
        others = sum(map(len, foreign.findall(text)))
        if others < FEWEST_FOREIGN_LETTERS:
            return False
        return others > sum(map(len, own.findall(text)))

    return is_foreign


def main_script(text: str) -> str:
    """The script that most letters of a text are in, as "Latin"; empty without letters."""
    counts = {
        script: sum(map(len, re.findall(f"[{_ranges(script)}]+", text))) for script in _BLOCKS
    }
    most = max(counts, key=lambda script: counts[script])
    return most if counts[most] else ""
