"""Which quotation marks of a sentence open and which close; spacing is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_CLOSING = frozenset(".,;:!?)]}…")
_STRAIGHT = frozenset("\"'")
_ALWAYS_OPEN = frozenset("„‚‘‹")
QUOTES = frozenset("\"'“”„«»‘’‚‹›")
_DISORDER = 3.0  # what it costs to open twice, to close what is not open, to leave open
# Languages that write ”…” on both sides, and those that may point the angles inwards: »…«.
_SAME_BOTH_SIDES = frozenset(("sv", "fi"))
_INWARD = frozenset(("de", "da", "cs", "sk", "sl", "hr", "hu"))


def openings(pieces: Sequence[str], language: str) -> dict[int, bool]:
    """For each position that holds a quotation mark, whether it opens."""
    found: dict[int, bool] = {}
    for mark in _STRAIGHT | ({"”"} if language in _SAME_BOTH_SIDES else set()):
        found |= _best_roles(pieces, [i for i, piece in enumerate(pieces) if piece == mark])
    for i, opens in _typographic(pieces, language):
        found.setdefault(i, opens)
    return found


def _typographic(pieces: Sequence[str], language: str) -> Iterator[tuple[int, bool]]:
    open_marks: list[str] = []
    for i, piece in enumerate(pieces):
        if piece not in QUOTES or piece in _STRAIGHT:
            continue
        opens = piece in _ALWAYS_OPEN
        if piece == "“":
            opens = ("„" not in open_marks and not _ends(pieces, i)) or i == 0
        elif piece in "«»":
            partner = {"«": "»", "»": "«"}[piece]
            inward = language in _INWARD and (piece == "»" or partner in open_marks)
            opens = (partner not in open_marks) if inward else piece == "«"
        if opens:
            open_marks.append(piece)
        elif open_marks:
            open_marks.pop()
        yield i, opens


def _best_roles(pieces: Sequence[str], places: Sequence[int]) -> dict[int, bool]:
    """The roles of marks that look alike, by what stands around each and by their alternation."""
    # Per state (is a quote open?): the best score and the roles that lead to it.
    best: dict[bool, tuple[float, dict[int, bool]]] = {False: (0.0, {})}
    for i in places:
        step: dict[bool, tuple[float, dict[int, bool]]] = {}
        for is_open, (score, roles) in best.items():
            for opens, after, worth in _choices(pieces, i, is_open):
                if after not in step or score + worth > step[after][0]:
                    step[after] = (score + worth, {**roles, i: opens})
        best = step
    return max(best.items(), key=lambda item: item[1][0] - _DISORDER * item[0])[1][1]


def _choices(pieces: Sequence[str], i: int, is_open: bool) -> Iterator[tuple[bool, bool, float]]:
    """(opens, open afterwards, worth) of what the mark at `i` may be."""
    yield True, True, _opening_evidence(pieces, i) - _DISORDER * is_open
    yield False, False, _closing_evidence(pieces, i) - _DISORDER * (not is_open)
    if pieces[i] == "'" and i and pieces[i - 1][-1:] in "sS" and not _ends(pieces, i):
        yield False, is_open, 1.0  # the dogs' bowls: spaced like a closing quote


def _opening_evidence(pieces: Sequence[str], i: int) -> float:
    left, right = _around(pieces, i)
    worth = 2.0 if left in {"", "(", "[", "—", "-", "--"} else 1.0 if left in {",", ":"} else 0.0
    if right == "" or right in _CLOSING:
        return worth - 4.0
    return worth + right[:1].isupper()


def _closing_evidence(pieces: Sequence[str], i: int) -> float:
    left, right = _around(pieces, i)
    worth = -4.0 if left in {"", "(", "["} else -2.0 if left == ":" else float(left in _CLOSING)
    if right == "" or right in _CLOSING:
        return worth + 2.0
    return worth + (left in {".", "!", "?", ";", ","} and right[:1].islower())


def _around(pieces: Sequence[str], i: int) -> tuple[str, str]:
    """The nearest pieces on both sides of the mark at `i` that are no quotation marks."""
    left = next((p for p in reversed(pieces[:i]) if p not in QUOTES), "")
    right = next((p for p in pieces[i + 1 :] if p not in QUOTES), "")
    return left.strip(" "), right.strip(" ")


def _ends(pieces: Sequence[str], i: int) -> bool:
    right = _around(pieces, i)[1]
    return right == "" or right in _CLOSING
