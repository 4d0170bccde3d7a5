"""The text of an HTML document: where it stands between the tags, and what of it is to read."""

from __future__ import annotations

import re
from html import escape, unescape
from html.parser import HTMLParser
from itertools import accumulate, pairwise

# What stands in these is not prose.
_NOT_PROSE = frozenset(("script", "style", "template", "code", "kbd", "samp", "var"))
_VOID = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    )
)  # fmt: skip

_BROKEN = re.compile("<[A-Za-z/!?]")  # a tag or comment that has no end


class _Places(HTMLParser):
    """Where text begins and ends; the rest stays as it was written, whatever it is."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._hidden: list[str] = []  # the element that is not to be translated, and those in it
        self.marks: list[tuple[int, bool]] = []  # where something begins, and whether it is text
        self.feed(text)
        self.close()

    def _mark(self, is_text: bool) -> None:
        line, column = self.getpos()
        self.marks.append((self._lines[line - 1] + column, is_text and not self._hidden))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._mark(False)
        named = {name: (value or "").lower() for name, value in attrs}
        hides = tag in _NOT_PROSE or named.get("translate") == "no"
        if (self._hidden or hides) and tag not in _VOID:
            self._hidden.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._mark(False)

    def handle_endtag(self, tag: str) -> None:
        self._mark(False)
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self._mark(not _BROKEN.match(data))

    def handle_entityref(self, name: str) -> None:
        self._mark(True)

    def handle_charref(self, name: str) -> None:
        self._mark(True)

    def handle_comment(self, data: str) -> None:
        self._mark(False)

    def handle_decl(self, decl: str) -> None:
        self._mark(False)

    def handle_pi(self, data: str) -> None:
        self._mark(False)

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """As HTML reads it: a comment that ends at the next `>`, whatever is in it."""
        return self.parse_bogus_comment(i, report)

    def unknown_decl(self, data: str) -> None:
        self._mark(False)


def runs(html: str) -> list[tuple[str, bool]]:
    """`html` in pieces, each with whether it is text to translate; together they are `html`.

    Tags, comments, scripts, styles, code and what is marked `translate="no"` are not. Any string is
    accepted: what is not well-formed stays as it is.
    """
    whole = _whole_until(html)
    marks = [(0, False), *_Places(html[:whole]).marks, (whole, False), (len(html), False)]
    found: list[tuple[str, bool]] = []
    for (start, is_text), (end, _) in pairwise(marks):
        if start == end:
            continue
        if found and is_text and found[-1][1]:
            found[-1] = (found[-1][0] + html[start:end], True)
        else:
            found.append((html[start:end], is_text))
    return found


def _whole_until(html: str) -> int:
    """Where a tag begins that nothing ends. The parser would try each of many again and again."""
    after = html.rfind(">") + 1
    broken = _BROKEN.search(html, after)
    return broken.start() if broken else len(html)


def readable(markup: str) -> str:
    """Text between tags as one reads it: `&amp;` is an ampersand."""
    return unescape(markup)


def as_markup(text: str) -> str:
    """Text as it stands between tags."""
    return escape(text, quote=False)
