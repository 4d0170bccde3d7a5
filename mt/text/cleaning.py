"""Text as every part of the program sees it: one normal form, shared by training and translating.

Which pairs are left out of training is `mt.text.filters`; tokens are the tokenizer's.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from html.entities import html5

# What a pass over a text may mend, in the order of the passes.
MENDED = ("entities", "control characters", "invisible characters", "odd spaces", "Unicode form")

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# Zero-width space, soft hyphen, byte-order mark, directional marks, noncharacters. The joiners
# U+200C and U+200D stay: Persian, the languages of India and emoji need them.
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff]"
)
_SPACES = re.compile(r"\s{2,}|[^\S ]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalize(text: str) -> str:
    """`text` in the one form that training and translating see.

    HTML entities become their characters; control characters, line breaks and odd spaces become
    plain spaces, runs of them one; invisible characters and the byte-order mark go; letters with
    accents are composed (NFC); halves of surrogate pairs become U+FFFD. Any text is accepted, the
    result can always be encoded as UTF-8, and normalising it again changes nothing.
    """
    return text if _is_normal(text) else _mend(text)[0]


def mend(text: str) -> tuple[str, tuple[str, ...]]:
    """`normalize(text)` and which of `MENDED` it took."""
    return (text, ()) if _is_normal(text) else _mend(text)


def _is_normal(text: str) -> bool:
    # isprintable is one fast loop in C and false for every character that a pass could change,
    # but for plain spaces, ampersands and uncomposed accents.
    return (
        text.isprintable()
        and "  " not in text
        and (not text or (text[0] != " " and text[-1] != " "))
        and "&" not in text
        and (text.isascii() or unicodedata.is_normalized("NFC", text))
    )


def _mend(text: str) -> tuple[str, tuple[str, ...]]:
    done: set[str] = set()
    while True:  # `&amp;quot;` takes two rounds, and a zero-width space can hide an entity
        before = text
        for name, repair in _PASSES:
            repaired = repair(text)
            if repaired != text:
                done.add(name)
                text = repaired
        if text == before:
            return text, tuple(name for name in MENDED if name in done)


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(_decode_entity, text) if "&" in text else text


def _decode_entity(found: re.Match[str]) -> str:
    entity = found[0]
    if entity[1] == "#" or entity[1:] in html5:
        return unescape(entity)
    return entity


def _drop_control(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))


def _drop_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def _plain_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


_PASSES = tuple(
    zip(
        MENDED,
        (_decode_entities, _drop_control, _drop_invisible, _plain_spaces, _compose),
        strict=True,
    )
)
