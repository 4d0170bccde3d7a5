"""A text cut into the sentences that are translated, and what stands around them, which stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mt.serving.html_text import as_markup, readable, runs
from mt.text.cleaning import normalize
from mt.text.sentences import sentences as split_sentences

TEXT, HTML = FORMATS = ("text", "html")


@dataclass(frozen=True)
class Passage:
    """A line, or the text between two tags."""

    before: str  # white space, which stays as it is
    text: str  # as it was given, between the white space
    after: str  # white space, and the line break
    normal: str  # normalised
    sentences: list[str]  # of the normalised text


@dataclass(frozen=True)
class Document:
    """Text or HTML in passages, and what is between them."""

    pieces: list[str | Passage]
    markup: bool

    @classmethod
    def of(cls, text: str, form: str = TEXT, whole: bool = False) -> Document:
        """Cut into lines or the text between tags, and those into sentences, unless `whole`."""
        if form == TEXT:
            return cls([_passage(line, line, whole) for line in text.splitlines(True)], False)
        return cls(
            [
                _passage(run, readable(run), whole) if is_text else run
                for run, is_text in runs(text)
            ],
            True,
        )

    @property
    def passages(self) -> Iterator[Passage]:
        """What is translated, in its order."""
        return (piece for piece in self.pieces if isinstance(piece, Passage))

    @property
    def sentences(self) -> list[str]:
        """All sentences of all passages, in their order."""
        return [sentence for passage in self.passages for sentence in passage.sentences]

    def put_together(self, translations: Sequence[str], space: str) -> str:
        """The document with each sentence's translation in its place.

        `space` stands between those of one passage.
        """
        rest = iter(translations)
        write: Callable[[str], str] = as_markup if self.markup else str
        return "".join(
            piece if isinstance(piece, str) else _written(piece, rest, space, write)
            for piece in self.pieces
        )


def _passage(raw: str, text: str, whole: bool) -> Passage | str:
    """Blank ones stay as they are."""
    normal = normalize(text)
    if not normal:
        return raw
    begin = len(raw) - len(raw.lstrip())
    end = len(raw.rstrip())
    sentences = [normal] if whole else split_sentences(normal)
    return Passage(raw[:begin], text.strip(), raw[end:], normal, sentences)


def _written(
    passage: Passage, translations: Iterator[str], space: str, write: Callable[[str], str]
) -> str:
    texts = [next(translations) for _ in passage.sentences]
    return passage.before + write(space.join(filter(None, texts))) + passage.after
