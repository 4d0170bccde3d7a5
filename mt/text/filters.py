"""The rules that leave a pair out of training, each with its name; normal form is `cleaning`."""

from __future__ import annotations

from collections.abc import Callable

from mt.config import CleaningConfig
from mt.text.scripts import foreign_script

# A pair may always differ by this much: "No." and a polite whole sentence are both right.
SPARE_CHARACTERS = 60
UNTRANSLATED_WORDS = 6

Rule = Callable[[str, str], str | None]


def build_rule(cleaning: CleaningConfig, src: str, tgt: str) -> Rule:
    """A function from the two normalised sides of a pair to why it is dropped, or None."""
    longest = cleaning.max_characters or 1 << 60
    ratio = cleaning.max_ratio or 1e18
    identical, broken = cleaning.identical, cleaning.broken_characters
    src_foreign = foreign_script(src) if cleaning.wrong_script else None
    tgt_foreign = foreign_script(tgt) if cleaning.wrong_script else None

    def why_dropped(source: str, target: str) -> str | None:
        shorter, longer = len(source), len(target)
        if shorter > longer:
            shorter, longer = longer, shorter
        if not shorter:
            return "blank side"
        if longer > longest:
            return "too long"
        if longer - shorter > SPARE_CHARACTERS and longer > ratio * shorter:
            return "uneven length"
        if identical and source == target and source.count(" ") + 1 >= UNTRANSLATED_WORDS:
            return "identical sides"
        if broken and ("\ufffd" in source or "\ufffd" in target):
            return "broken characters"
        if (src_foreign and src_foreign(source)) or (tgt_foreign and tgt_foreign(target)):
            return "wrong script"
        return None

    return why_dropped


def only_blank(source: str, target: str) -> str | None:
    """The rule for validation and test files, which are taken whole."""
    return None if source and target else "blank side"
