"""Word tokens become text again: where spaces belong, by language; no letter is changed here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mt.text.detokenizer_quotes import openings
from mt.text.tokenizer_word import APOSTROPHES, CUTTING, ELIDING, VOWELS, base_language, is_symbol

_CLOSING = frozenset(".,;:!?)]}…‰°")
_OPENING = frozenset("([{¿¡")
_FULL_WIDTH = frozenset("、。，！？；：（）「」『』《》")  # they hold their own space
_CURRENCY = frozenset("$£€¥")
_CLITICS = frozenset(("s", "m", "d", "re", "ve", "ll"))
_HIGH = frozenset(";:!?")  # French puts a space before these
_WIDE_PERCENT = frozenset(("fr", "de", "es"))
_GLUE_IN_PLAIN = frozenset("-/'’&@")


class Gap(NamedTuple):
    """Whether a space may stand before and after a piece."""

    before: bool = True
    after: bool = True


def detokenize(tokens: Sequence[str], language: str, marked: bool = True) -> str:
    """`tokens` as a person writes them in `language`.

    `marked` says that symbols hold the spaces around them, as `tokenizer_word` leaves them. Tokens
    that do not, as a plain Whitespace pre-tokenizer makes them, are spaced by rule alone.
    """
    base = base_language(language)
    pieces = list(tokens) if marked else [piece for token in tokens for piece in _split(token)]
    gaps = _gaps(pieces, base, marked)
    text = ""
    for i, piece in enumerate(pieces):
        spaced = i > 0 and gaps[i - 1].after and gaps[i].before
        text += f" {piece.strip(' ')}" if spaced else piece.strip(" ")
    return text


def _split(token: str) -> list[str]:
    """A run of punctuation, mark by mark but for dashes typed as `--`; a word as it is."""
    return [token] if any(c.isalnum() for c in token) else re.findall("-+|[^-]", token)


def _gaps(pieces: Sequence[str], base: str, marked: bool) -> list[Gap]:
    quotes = openings(pieces, base)
    gaps = []
    for i, piece in enumerate(pieces):
        before, after = pieces[i - 1] if i else "", "".join(pieces[i + 1 : i + 2])
        gap = None if marked else _plain_gap(before, piece, after, base)
        if gap is None and piece in APOSTROPHES and _is_clitic(before, after, base):
            gap = Gap(False, False)
        if gap is None and i in quotes:
            gap = _quote_gap(piece, quotes[i], base)
        if gap is None and marked and is_symbol(piece):
            gap = Gap(piece[0] == " " or before[-1:] == " ", piece[-1] == " " or after[:1] == " ")
        gaps.append(gap or _gap(before, piece, base))
    return gaps


def _quote_gap(piece: str, opens: bool, base: str) -> Gap:
    wide = base == "fr" and piece in "«»"
    return Gap(opens or wide, not opens or wide)


def _gap(before: str, piece: str, base: str) -> Gap:
    if piece in _HIGH and base == "fr":
        return Gap(before not in _CLOSING)
    if piece in _FULL_WIDTH:
        return Gap(False, False)
    if piece in _OPENING:
        return Gap(True, False)
    if piece in _CLOSING:
        return Gap(False, True)
    if len(piece) > 1 and any(mark in APOSTROPHES for mark in piece):
        return _apostrophe_gap(piece, base)
    return Gap()


def _apostrophe_gap(piece: str, base: str) -> Gap:
    """Of a word with an apostrophe: 's and n't lean on the word before, l' on the one after."""
    if piece[0] in APOSTROPHES:
        return Gap(not (base == "en" and piece[1:].lower() in _CLITICS))
    if piece[-1] in APOSTROPHES and base in ELIDING:
        return Gap(True, base in CUTTING and piece[-2].lower() in VOWELS)
    return Gap(not (base == "en" and piece.lower() in {"n't", "n’t"}))


def _is_clitic(before: str, after: str, base: str) -> bool:
    """Whether an apostrophe on its own is that of `don ' t`, as spaced-out corpora have it."""
    return base == "en" and before[-1:].isalpha() and after.lower() in {*_CLITICS, "t"}


def _plain_gap(before: str, piece: str, after: str, base: str) -> Gap | None:
    """What only tokens without joiners need: None where the common rules do."""
    if piece in _GLUE_IN_PLAIN and before[-1:].isalnum() and after[:1].isalnum():
        cut = piece in APOSTROPHES and base in CUTTING and before[-1].lower() in VOWELS
        if piece not in APOSTROPHES or base != "en" or _is_clitic(before, after, base):
            return Gap(False, cut)
    if piece in {".", ",", ":"} and before[-1:].isdigit() and after[:1].isdigit():
        return Gap(False, False)
    if piece.startswith("--"):
        return Gap(False, False)
    if piece == "%":
        return Gap(base in _WIDE_PERCENT)
    if piece in _CURRENCY:
        return Gap(True, not after[:1].isdigit())
    return None
