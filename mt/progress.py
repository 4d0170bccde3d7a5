"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere.

Everything that reports goes through the `mt` logger or through here; nothing prints.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")
log = logging.getLogger("mt")
SECONDS_BETWEEN_LINES = 30.0


def track(
    items: Iterable[T], what: str, total: int | None = None, unit: str = " rows", each: int = 1
) -> Iterator[T]:
    """Yields `items`, showing how many of `total` are done; an item counts for `each` units."""
    if sys.stderr.isatty() and log.isEnabledFor(logging.INFO):  # of several processes, one
        with tqdm(total=total, desc=what, unit=unit, unit_scale=True, leave=False) as bar:
            for item in items:
                yield item
                bar.update(each)
        return
    done, last = 0, time.monotonic()
    for item in items:
        yield item
        done = done + each if total is None else min(done + each, total)
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            log.info("%s: %s%s%s", what, f"{done:,}", f" of {total:,}" if total else "", unit)


def spell_seconds(seconds: float) -> str:
    """90 s, 12 min, 3 h 20 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
