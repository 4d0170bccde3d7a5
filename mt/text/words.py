"""Where tokens stand in a text, in words as spaces part them; and a text that repeats itself."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

# How often something must come in a row, by its length in tokens, to count as repetition; what is
# longer than these must come as often as the longest.
TIMES = {1: 5, 2: 4, 3: 3}
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_SPACES = re.compile(r"\s+")


def word_places(pieces: Sequence[str], text: str) -> list[int]:
    """For each of `pieces` the place among `text.split()` of the word that it begins in.

    The pieces are those of the text in their order, up to spaces and to which letters they are. A
    piece of spaces alone belongs to the word after it, at the end to the last.
    """
    owners = [i for i, word in enumerate(text.split()) for _ in word]
    last = len(owners) - 1
    places, seen = [], 0
    for piece in pieces:
        places.append(owners[min(seen, last)] if owners else 0)
        seen += len(_SPACES.sub("", piece))
    return places


def spelt(piece: str) -> str:
    """A piece of a subword vocabulary with spaces as spaces, and a byte as one letter."""
    if (found := _BYTE.fullmatch(piece)) is None:
        return piece.replace("▁", " ")
    byte = int(found[1], 16)
    return chr(byte) if byte < 0x80 else "?"


def repeats_itself(tokens: Sequence[Hashable]) -> bool:
    """Whether tokens come again and again: one five times in a row, two four, more three times."""
    return any(
        _repeats(tokens, length, TIMES.get(length, TIMES[3]))
        for length in range(1, len(tokens) // TIMES[3] + 1)
    )


def _repeats(tokens: Sequence[Hashable], length: int, times: int) -> bool:
    """Whether `length` tokens come so many times in a row somewhere."""
    run, wanted = 0, length * (times - 1)
    for before, after in zip(tokens, tokens[length:], strict=False):
        run = run + 1 if before == after else 0
        if run == wanted:
            return True
    return False
