"""Which split each pair goes to: repetitions out, groups by their hash, and what leaks regardless.

A pure function of the pairs' content: no seed, and neither row order nor machine changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mt.config import DataConfig
from mt.errors import UserError
from mt.text.buckets import Buckets, Records
from mt.text.report import DataReport
from mt.text.staging import ROLES, Staging
from mt.wording import counted

TRAIN, VALID, TEST = range(len(ROLES))
DUPLICATE, LEAK = 3, 4
REASONS = {DUPLICATE: "duplicate", LEAK: "source text also in valid or test"}
ONE_GROUP = (
    "all source texts are the same but for case, digits, punctuation and spacing: "
    "the pairs are split by their target text instead"
)

Codes: TypeAlias = npt.NDArray[np.uint8]
Indexes: TypeAlias = npt.NDArray[np.int64]


@dataclass
class Leak:
    """Held-out pairs that share something with another split: how many, and the first few."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, indexes: Indexes) -> None:
        self.count += len(indexes)
        self.first = sorted([*self.first, *map(int, np.sort(indexes)[:3])])[:3]


Leaks = dict[tuple[int, int], dict[str, Leak]]


def assign_splits(staging: Staging, data: DataConfig, report: DataReport) -> tuple[Codes, Leaks]:
    """For each staged row TRAIN, VALID, TEST, DUPLICATE or LEAK; and what the splits share."""
    codes = np.frombuffer(staging.roles, np.uint8)  # the same memory: a byte a row is enough
    given = {ROLES.index(file.role) for file in report.files} - {TRAIN}
    if data.cleaning.duplicates:
        _mark_duplicates(staging.sources, codes)
    buckets = staging.groups
    if not data.group_by and not _several(buckets, codes) and _several(staging.targets, codes):
        buckets = staging.targets
        report.notices.append(ONE_GROUP)
    sizes = {VALID: data.valid_size, TEST: data.test_size}
    _split(buckets, codes, {role: s for role, s in sizes.items() if s and role not in given})
    _mark_leaks(
        staging.sources, codes, given if data.cleaning.leaks else set(), bool(data.group_by)
    )
    return codes, _leaks(staging, codes)


def _mark_duplicates(sources: Buckets, codes: Codes) -> None:
    """All but the first of the same pairs of the training pool; those given for scoring stay."""
    for records in sources.read():
        records = records[codes[records["index"]] == TRAIN]
        order = np.lexsort((records["index"], records["pair"]))
        pairs = records["pair"][order]
        again = np.flatnonzero(pairs[1:] == pairs[:-1]) + 1
        codes[records["index"][order[again]]] = DUPLICATE


def _several(buckets: Buckets, codes: Codes) -> bool:
    """Whether train still has more groups than one: the last is never taken from it."""
    found: set[int] = set()
    for records in buckets.read():
        keys = records["key"][codes[records["index"]] == TRAIN]
        if len(keys):
            found |= {int(keys.min()), int(keys.max())}
        if len(found) > 1:
            return True
    return False


def _split(buckets: Buckets, codes: Codes, sizes: dict[int, float]) -> None:
    pool = int((codes == TRAIN).sum())
    counts = sum(int(size) for size in sizes.values())
    if pool and counts >= pool:
        keys = " and ".join(f"data.{ROLES[role]}_size ({sizes[role]:g})" for role in sizes)
        there = f"there {'is' if pool == 1 else 'are'} only {counted(pool, 'pair')}"
        raise UserError(f"{keys}: {there}; nothing would be left to train on")
    for role, size in sizes.items():
        if not _several(buckets, codes):
            break
        left = int((codes == TRAIN).sum()) - 1  # one at least stays with train
        wanted = int(size) if size >= 1 else min(left, max(1, round(size * pool)))
        _hold_out(buckets, codes, role, wanted)


def _hold_out(buckets: Buckets, codes: Codes, role: int, wanted: int) -> None:
    """Moves groups out of train, by rising hash for valid and by falling hash for test, so that
    the size of one does not change what is in the other. A group that is too big is passed over.
    """
    left = wanted
    smallest: Indexes = np.empty(0, np.int64)
    for records in buckets.read(backwards=role == TEST):
        if left <= 0:
            break
        records = records[codes[records["index"]] == TRAIN]
        members, sizes = _groups(records, backwards=role == TEST)
        taken = _fitting(sizes, left)
        chosen = members[np.repeat(taken, sizes)]
        codes[chosen] = role
        left -= len(chosen)
        if len(sizes) and (not len(smallest) or sizes.min() < len(smallest)):
            at, ends = int(sizes.argmin()), np.cumsum(sizes)
            smallest = members[ends[at] - sizes[at] : ends[at]]
    if left == wanted > 0:
        codes[smallest] = role


def _groups(records: Records, *, backwards: bool) -> tuple[Indexes, Indexes]:
    """Rows in order of their group's hash, and how many each group has."""
    keys = ~records["key"] if backwards else records["key"]
    order = np.argsort(keys, kind="stable")
    _, sizes = np.unique(keys, return_counts=True)
    return records["index"][order], sizes


def _fitting(sizes: Indexes, room: int) -> npt.NDArray[np.bool_]:
    """Which groups to take, in order, each only if it still fits into `room`."""
    taken = np.zeros(len(sizes), np.bool_)
    at = 0
    while at < len(sizes) and room > 0:
        fits = int(np.searchsorted(np.cumsum(sizes[at:]), room, side="right"))
        taken[at : at + fits] = True
        room -= int(sizes[at : at + fits].sum())
        later = np.flatnonzero(sizes[at + fits :] <= room)
        if not len(later):
            break
        at += fits + int(later[0])
    return taken


def _mark_leaks(sources: Buckets, codes: Codes, given: set[int], documents: bool) -> None:
    """Takes out of train what shares its source text with a given file, or, when whole documents
    were held out, nearly shares it with one of them."""
    roles = {VALID, TEST} if documents else given
    field_ = "key" if documents else "src"
    for records in sources.read() if roles else ():
        code = codes[records["index"]]
        held = records[field_][np.isin(code, list(roles))]
        leaking = (code == TRAIN) & np.isin(records[field_], held)
        codes[records["index"][leaking]] = LEAK


def _leaks(staging: Staging, codes: Codes) -> Leaks:
    leaks: Leaks = {}
    kinds = (
        (staging.sources, "pair", "same pair"),
        (staging.sources, "src", "same source text"),
        (staging.sources, "key", "same source text up to case, digits, punctuation and spacing"),
        (staging.targets, "key", "same target text"),
    )
    for held, other in ((VALID, TRAIN), (TEST, TRAIN), (TEST, VALID)):
        if not (codes == held).any() or not (codes == other).any():
            continue
        found = leaks[held, other] = {kind: Leak() for _, _, kind in kinds}
        for buckets, name, kind in kinds:
            for records in buckets.read():
                code = codes[records["index"]]
                values = records[name]
                both = (code == held) & np.isin(values, values[code == other])
                found[kind].add(records["index"][both])
    return leaks
