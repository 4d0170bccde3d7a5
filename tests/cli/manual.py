"""Reading the manual: its blocks, the commands in them, its links and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"^(?:<!-- (?P<marker>(?:test|file|code): .*?) -->\n\n?)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block. The comment above it is its marker:

    `test: RULE; RULE` with the rules `train ARGUMENTS`, which every `mt train` in the block gets in
    the tests; `with OLD -> NEW`, for what stands in its place there; `skip WORD (why)` for commands
    that begin with WORD; and `parse WORD (why)` for those of which only the part from `mt` on is
    read. `file: NAME`, for what goes into a file; `code: PATH`, for lines that are in that file.
    """

    line: int
    kind: str
    text: str
    marker: str

    def rules(self, name: str) -> list[str]:
        """What the rules `name` of the marker say."""
        if not self.marker.startswith("test: "):
            return []
        rules = [rule.strip() for rule in self.marker.removeprefix("test: ").split(";")]
        assert all(re.match(r"(train|with|skip|parse) ", rule) for rule in rules), self.marker
        return [rule.removeprefix(f"{name} ") for rule in rules if rule.startswith(f"{name} ")]

    def ruled(self, name: str, command: str) -> bool:
        """Whether a rule `name` is for the command. Each must say why."""
        for rule in self.rules(name):
            word, _, why = rule.partition(" (")
            assert why.endswith(")"), f"{self.marker}: say why"
            if command.startswith(word):
                return True
        return False


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    content = page.read_text("utf-8")
    found = [
        Block(content.count("\n", 0, m.start()) + 1, m["kind"], m["text"], m["marker"] or "")
        for m in FENCE.finditer(content)
    ]
    assert 2 * len(found) == len(re.findall(r"^```", content, re.MULTILINE)), "a fence left open"
    return found


def commands(text: str) -> Iterator[str]:
    """The commands of a block: lines, with those that continue them and what a heredoc holds."""
    lines = iter(text.splitlines())
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        while line.endswith("\\"):
            line += "\n" + next(lines)
        if heredoc := re.search(r"<<'?(\w+)'?", line):
            for body in lines:
                line += "\n" + body
                if body == heredoc[1]:
                    break
        yield line


def links(page: Path) -> list[str]:
    """Where the links of a page lead, those in code left out."""
    content = re.sub(r"`[^`\n]*`", "``", FENCE.sub("", page.read_text("utf-8")))
    return re.findall(r"\]\(([^)\s]+)\)", content)


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`, as GitHub makes it of headings."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
