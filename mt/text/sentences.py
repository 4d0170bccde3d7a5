"""Text in sentences, clauses and words, and text in parts that each are short enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# After these a stop is no end, whatever comes next: a name or an example does.
_TITLES = _words(
    "mr mrs ms dr st mt prof rev hon gen col capt lt sgt gov sen rep pres messrs mme mlle sig sigg "
    "sigra dott dottssa ing avv geom egr spett hr frl herr sr sra srta dra mgr mons "
    "vs cf viz e.g i.e p.es es ad.es z.b d.h u.a p.ej"
)
# After these it is none before a number; else they are words that may end a sentence.
_COUNTED = _words("no nos nr n art artt fig figg cap capp ch vol voll pag pagg p pp sec sez tav")
_CLOSERS = "\"'”’»›)\\]}」』）】〉》〕］｝"
_OPENERS = "\"'“‘„«‹([{¿¡「『（【〈《〔［｛—–-"
_NO_SPACE = "。！？｡"  # stops that end a sentence without a space after them
_STOPS = ".!?…‼⁇⁈⁉।॥؟۔։።៖។၊။܀" + _NO_SPACE
_END = re.compile(
    rf"[{_NO_SPACE}][{_STOPS}]*+[{_CLOSERS}]*+[ ]?+(?![と、，])|[{_STOPS}]++[{_CLOSERS}]*+[ ]"
)
_CLAUSE_END = re.compile(rf"[,;:،؛·][{_CLOSERS}]*[ ]|[—–][ ]?|[、，；：]")
_WORD_END = re.compile("[ ]")
_INITIAL = re.compile(r"(?:^|[^\w'’])(?:[^\W\d_]\.)*[^\W\d_]$")
_NUMBERED = re.compile(r"^\W*(?:\d{1,3}|[IVXLC]{1,5})$")
_WITHOUT_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my"))


def sentences(text: str) -> list[str]:
    """The sentences of a line, without the spaces between them; [] for a blank line.

    A stop is no end after a title, an abbreviation, an initial, the number of an item, or before a
    small letter. A stop that no known rule speaks against is one.
    """
    ends = []
    start = 0
    for found in _END.finditer(text):
        if _is_end(text, start, found):
            ends.append(found.end())
            start = found.end()
    return _cut(text, ends)


def _is_end(text: str, start: int, found: re.Match[str]) -> bool:
    mark = found[0]
    after = text[found.end() :].lstrip(_OPENERS + " ")[:1] if found.end() < len(text) else ""
    if mark[0] in _NO_SPACE:
        return True
    if after.islower():
        return False
    if mark[0] != "." or mark.startswith(".."):
        return True
    before = text[start : found.start()]
    word = re.split(r"[\s(\[“\"'’«]", before)[-1].lower()
    if word in _TITLES or (word in _COUNTED and after.isdigit()):
        return False
    if _NUMBERED.search(before):
        return False
    return not _INITIAL.search(before[-12:]) or _ends_on_i(before)


def _ends_on_i(before: str) -> bool:
    """English "I" is a word that may end a sentence; a lone initial is seldom an I."""
    return bool(re.search(r"[a-z,] I$", before))


def _cut(text: str, ends: Iterable[int]) -> list[str]:
    places = [0, *ends, len(text)]
    pieces = (text[a:b].strip() for a, b in pairwise(places))
    return [piece for piece in pieces if piece]


def fit(text: str, limit: int, count: Callable[[str], int]) -> list[str]:
    """`text` in parts of `limit` tokens at most, `count` saying how many a part has.

    Cut at ends of sentences; those that are too long at ends of clauses, then between words, into
    parts of about one length; a word that alone is too long, where the last token that fits ends.
    Only a single character may be over the limit. Joined, the parts are the text up to spaces.
    """
    if not text.strip():
        return []
    if count(text) <= limit:
        return [text.strip()]
    pieces = sentences(text)
    if len(pieces) > 1:
        return [part for piece in pieces for part in fit(piece, limit, count)]
    for end in (_CLAUSE_END, _WORD_END):
        pieces = _cut(text, (found.end() for found in end.finditer(text)))
        if len(pieces) > 1:
            return [part for piece in _packed(text, pieces, limit, count)
                    for part in fit(piece, limit, count)]  # fmt: skip
    return list(_prefixes(text.strip(), limit, count))


def _packed(text: str, pieces: list[str], limit: int, count: Callable[[str], int]) -> Iterator[str]:
    """Neighbouring pieces of `text` together, as few times as the limit allows, and evenly."""
    counts = [count(piece) for piece in pieces]
    room = -(-sum(counts) // -(-sum(counts) // limit))
    if sum(counts) <= limit:  # apart they fit, together they do not
        room = -(-sum(counts) // 2)
    place, begin, held = 0, 0, 0
    for n, piece in enumerate(pieces):
        at = text.index(piece, place)
        is_last = n == len(pieces) - 1
        if (held and held + counts[n] > room) or (is_last and not begin):
            yield text[begin:at]
            begin, held = at, 0
        place, held = at + len(piece), held + counts[n]
    yield text[begin:]


def _prefixes(text: str, limit: int, count: Callable[[str], int]) -> Iterator[str]:
    """The longest beginning that fits, of what is left each time."""
    while text:
        fits, over = 1, 2  # characters: so many are taken, so many were not tried yet
        while over <= len(text) and count(text[:over]) <= limit:
            fits, over = over, 2 * over
        over = min(over, len(text) + 1)
        while over - fits > 1:
            middle = (fits + over) // 2
            if count(text[:middle]) <= limit:
                fits = middle
            else:
                over = middle
        yield text[:fits]
        text = text[fits:]


def space_between(language: str) -> str:
    """What stands between two sentences of a language: nothing where no spaces are written."""
    return "" if re.split(r"[-_]", language.lower())[0] in _WITHOUT_SPACES else " "
