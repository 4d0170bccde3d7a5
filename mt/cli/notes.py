"""What a person should know of translations, said once at the end, on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.decoding.translator import Translation

MOST_NOTES = 20  # of one kind; the rest is counted
MOST_KEPT = 10_000  # words; those after them are not told from one another


@dataclass
class Note:
    """What is worth noting of one line."""

    unknown: list[str] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    marked: int = 0
    too_long: tuple[int, int] | None = None  # source tokens, and the parts made of them
    cut: bool = False
    repeated: bool = False
    replaced: bool = False  # bytes that were not UTF-8

    @classmethod
    def of(cls, translation: Translation, limit: int) -> Note:
        """The note of a translation by a model that has a limit of source tokens."""
        parts = len(translation.parts)
        long = translation.source_tokens > limit
        return cls(
            translation.unknown,
            [word for word in translation.copied if any(map(str.isalnum, word))],
            translation.marked,
            (translation.source_tokens, parts) if long and parts > 1 else None,
            translation.cut,
            translation.repeated,
        )


class Few:
    """The first of many things, and their number; one that comes again counts once."""

    def __init__(self) -> None:
        self._kept: dict[str, None] = {}  # a dict keeps the order, a set does not
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._kept)

    def add(self, things: Iterable[str]) -> None:
        """Takes the next ones."""
        for thing in things:
            if len(self._kept) < MOST_KEPT:
                self._kept[thing] = None
            elif thing not in self._kept:
                self._more += 1

    def __str__(self) -> str:
        first, count = list(self._kept)[:MOST_NOTES], len(self._kept) + self._more
        more = f", and {count - MOST_NOTES} more" if count > MOST_NOTES else ""
        return ", ".join(first) + more


class Notes:
    """The notes of all lines, in a bounded amount of memory."""

    def __init__(self, source_limit: int) -> None:
        self.source_limit = source_limit
        self.line = 0
        self._unknown, self._copied = Few(), Few()
        self._cut, self._repeated, self._replaced = Few(), Few(), Few()
        self._marked = 0
        self._too_long: list[str] = []
        self._more_too_long = 0

    def take(self, translations: Iterable[Translation]) -> None:
        """Notes what is worth noting of the next lines."""
        for translation in translations:
            self.line += 1
            self.add(self.line, Note.of(translation, self.source_limit))

    def replaced(self, line: int) -> None:
        """Notes that a line was not UTF-8."""
        self.add(line, Note(replaced=True))

    def add(self, line: int, note: Note) -> None:
        """Notes what is worth noting of a line."""
        self._unknown.add(note.unknown)
        self._copied.add(note.copied)
        self._marked += note.marked
        self._cut.add([str(line)] if note.cut else [])
        self._repeated.add([str(line)] if note.repeated else [])
        self._replaced.add([str(line)] if note.replaced else [])
        if note.too_long and len(self._too_long) < MOST_NOTES:
            tokens, parts = note.too_long
            self._too_long.append(
                f"line {line}: {tokens} tokens, over the model's limit of {self.source_limit}; "
                f"translated in {parts} parts"
            )
        elif note.too_long:
            self._more_too_long += 1

    def say(self) -> None:
        """Tells all notes."""
        from mt.cli.report import log
        from mt.text.tokenizer import UNKNOWN_MARK
        from mt.wording import counted

        if self._replaced:
            log.info("not UTF-8, what could not be read replaced: line %s", self._replaced)
        if self._unknown:
            log.info("unknown to the model: %s", self._unknown)
        if self._copied:
            log.info("copied, for want of a word in the vocabulary: %s", self._copied)
        if self._marked:
            log.info(
                "marked %s, for want of a word in the vocabulary: %s", UNKNOWN_MARK, self._marked
            )
        for text in self._too_long:
            log.info("%s", text)
        if self._more_too_long:
            log.info("over the limit: %s", counted(self._more_too_long, "more line"))
        if self._cut:
            log.info("cut at the longest allowed length, without an end: line %s", self._cut)
        if self._repeated:
            log.info("says the same again and again: line %s", self._repeated)
