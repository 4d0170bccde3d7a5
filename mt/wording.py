"""Numbers in messages: 1 pair, 2,000 pairs."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """The number with thousands apart and what is counted, in the plural unless it is one."""
    return f"{number:,} {what}" + "s" * (number != 1)
