"""Fonts that this machine has, and which of them can draw a text.

Pillow's own font has no accents, so that of a machine without any draws plain Latin letters alone.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import ImageFont
from PIL.ImageFont import FreeTypeFont

PREFERRED = ("DejaVuSans", "NotoSans-Regular", "LiberationSans-Regular", "Arial", "Helvetica")
SUFFIXES = {".ttf", ".otf", ".ttc"}
STYLED = ("bold", "italic", "oblique", "mono", "light", "condensed", "thin", "black")
NOBODY = "\U0010fffe"  # a character that no font has


def font_files() -> list[Path]:
    """Font files of this machine: well-known ones first, and plain ones before bold and italic."""
    found = [
        path
        for folder in _folders()
        if folder.is_dir()
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
    ]
    return sorted(found, key=_rank)


def _rank(path: Path) -> tuple[int, bool, str]:
    place = PREFERRED.index(path.stem) if path.stem in PREFERRED else len(PREFERRED)
    return place, any(word in path.stem.lower() for word in STYLED), path.name


def _folders() -> list[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"]
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [home / ".local/share/fonts", *(Path(p) / "fonts" for p in shared.split(":"))]


class Fonts:
    """For each text the first font that has all its letters, in one size."""

    def __init__(self, size: int, files: Sequence[Path] | None = None) -> None:
        self._size = size
        self._rest = iter(font_files() if files is None else files)
        self._opened: list[FreeTypeFont] = []
        self.undrawable: dict[str, None] = {}  # texts that no font has all the letters of

    def font(self, text: str) -> FreeTypeFont:
        """The font to draw `text` in; noted in `undrawable` if it lacks some of it."""
        letters = {c for c in text if not c.isspace() and unicodedata.category(c)[0] not in "MC"}
        for font in self._all():
            if _has(font, letters):
                return font
        self.undrawable[text] = None
        return self._opened[0]

    def _all(self) -> Iterator[FreeTypeFont]:
        """Those that are open, then those that are not, one by one; without any, the built-in."""
        yield from self._opened
        for path in self._rest:
            try:
                self._opened.append(ImageFont.truetype(path, self._size))
            except OSError:  # damaged, or of pictures in a fixed size
                continue
            yield self._opened[-1]
        if not self._opened:
            font = ImageFont.load_default(self._size)
            assert isinstance(font, FreeTypeFont)
            self._opened.append(font)
            yield font


def _has(font: FreeTypeFont, letters: set[str]) -> bool:
    missing = _drawn(font, NOBODY)
    return all(_drawn(font, letter) != missing for letter in letters)


def _drawn(font: FreeTypeFont, letter: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(letter)
    return mask.size, bytes(mask)
