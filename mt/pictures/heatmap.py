"""Attention as an image: one map of the mean, or a grid of one for each layer and head.

Rows are tokens of the translation, columns tokens of the source; the darkest is the largest weight
of the image, which its caption tells. A space that belongs to a token is shown as a dot.
Letters: L layers, H heads, T target tokens, S source tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from mt.decoding.attention import AttentionMaps
from mt.decoding.engine import Attention
from mt.pictures.fonts import Fonts
from mt.wording import counted

LARGEST = 6000  # pixels of all cells together, across or down, unless cells are the smallest
CELLS = {"mean": 28, "heads": 16}  # pixels, where there is room
LEAST_CELL = 2
LEAST_LABELLED = 9  # in smaller cells a label could not be read
GAP = 14
LABEL_WIDTH = 12  # times the size of the font; a longer token is cut
INK, FRAME, PALE, PAPER = (28, 32, 38), (150, 158, 170), (222, 226, 232), (255, 255, 255)
DARK = np.array((8, 48, 107))


@dataclass
class Picture:
    """An image, and the tokens in it that no font of this machine could draw."""

    image: Image.Image
    undrawable: list[str] = field(default_factory=list)

    @property
    def complaint(self) -> str | None:
        """What is wrong with it, in words; None if nothing is."""
        if not self.undrawable:
            return None
        words = ", ".join(self.undrawable)
        return f"no font here has all letters of: {words}; they are boxes in the picture"


def mean_picture(maps: AttentionMaps, files: list[Path] | None = None) -> Picture:
    """One large map: the mean over layers and heads."""
    layers, heads = maps.weights.shape[:2]
    caption = f"mean over {counted(layers, 'layer')} and {counted(heads, 'head')}"
    return _Grid(maps, CELLS["mean"], (1, 1), files).drawn([[maps.mean]], [[""]], caption)


def heads_picture(maps: AttentionMaps, files: list[Path] | None = None) -> Picture:
    """A small map for each layer (down) and head (across)."""
    layers, heads = maps.weights.shape[:2]
    titles = [[f"layer {i + 1}, head {j + 1}" for j in range(heads)] for i in range(layers)]
    grid = _Grid(maps, CELLS["heads"], (layers, heads), files)
    weights = [[maps.weights[i, j] for j in range(heads)] for i in range(layers)]
    return grid.drawn(weights, titles, "cross-attention of each layer and head")


class _Grid:
    """Where maps and labels stand; labels only at the left and at the top."""

    def __init__(
        self, maps: AttentionMaps, cell: int, shape: tuple[int, int], files: list[Path] | None
    ) -> None:
        self.rows, self.columns = len(maps.tgt), len(maps.src)  # T, S
        room = LARGEST // max(shape[0] * self.rows, shape[1] * self.columns)
        self.cell = max(LEAST_CELL, min(cell, room))
        self.labelled = self.cell >= LEAST_LABELLED
        self.fonts = Fonts(max(8, min(15, self.cell - 3)), files)
        self.plain = Fonts(12, files)  # of titles and the caption
        self.left = [self._label(token) for token in maps.tgt]
        self.top = [self._label(t).rotate(90, expand=True) for t in maps.src]
        self.line = 18  # pixels of a title or the caption
        self.title = self.line if shape != (1, 1) else 0
        self.wide = max(self.columns * self.cell, 110 if self.title else 0) + GAP
        self.high = self.rows * self.cell + GAP + self.title
        self.origin = (
            GAP + max(i.width for i in self.left), GAP + max(i.height for i in self.top)
        )  # fmt: skip

    def drawn(self, weights: list[list[Attention]], titles: list[list[str]], words: str) -> Picture:
        """The image of these maps (T, S), a list for each row of the grid."""
        most = max(float(one.max()) for row in weights for one in row)
        words += f"; columns: source, rows: translation; white 0, dark {most:.2f}"
        if not self.labelled:
            words += "; too many tokens for labels"
        font = self.plain.font(words)
        width = max(self.origin[0] + len(weights[0]) * self.wide, int(font.getlength(words)) + GAP)
        height = self.origin[1] + len(weights) * self.high + self.line + GAP // 2
        image = Image.new("RGB", (width + GAP, height), PAPER)
        for i, row in enumerate(weights):
            for j, one in enumerate(row):
                at = (self.origin[0] + j * self.wide, self.origin[1] + i * self.high + self.title)
                self._map(image, at, one / most, titles[i][j])
                self._labels(image, at, left=j == 0, top=i == 0)
        place = (GAP, height - self.line - GAP // 2)
        ImageDraw.Draw(image).text(place, words, INK, font)
        return Picture(image, list(self.fonts.undrawable))

    def _map(self, image: Image.Image, at: tuple[int, int], weights: Attention, title: str) -> None:
        shade = np.clip(weights, 0, 1)[..., None]  # (T, S, 1)
        cells = Image.fromarray((255 - shade * (255 - DARK)).round().astype(np.uint8))
        size = (self.columns * self.cell, self.rows * self.cell)
        image.paste(cells.resize(size, Image.Resampling.NEAREST), at)
        draw = ImageDraw.Draw(image)
        if self.labelled:
            for i in range(self.rows + 1):
                y = at[1] + i * self.cell
                draw.line((at[0], y, at[0] + size[0], y), PALE)
            for j in range(self.columns + 1):
                x = at[0] + j * self.cell
                draw.line((x, at[1], x, at[1] + size[1]), PALE)
        draw.rectangle((at[0] - 1, at[1] - 1, at[0] + size[0], at[1] + size[1]), outline=FRAME)
        if title:
            draw.text((at[0], at[1] - self.line), title, INK, self.plain.font(title))

    def _labels(self, image: Image.Image, at: tuple[int, int], left: bool, top: bool) -> None:
        for i, label in enumerate(self.left if left else []):
            y = at[1] + i * self.cell + (self.cell - label.height) // 2
            image.paste(label, (at[0] - label.width - 4, y))
        for j, label in enumerate(self.top if top else []):
            x = at[0] + j * self.cell + (self.cell - label.width) // 2
            image.paste(label, (x, at[1] - self.title - label.height - 4))

    def _label(self, token: str) -> Image.Image:
        """A token as a small image of its own; nothing where there is no room for labels."""
        if not self.labelled:
            return Image.new("RGB", (1, 1), PAPER)
        font = self.fonts.font(token)
        most = LABEL_WIDTH * font.size
        shown = token.replace("▁", "·")
        while font.getlength(shown) > most:
            shown = f"{shown.removesuffix('…')[:-1]}…"
        size = (max(1, round(font.getlength(shown))), min(self.cell, round(font.size * 1.3)))
        image = Image.new("RGB", size, PAPER)
        ImageDraw.Draw(image).text((0, size[1] / 2), shown, INK, font, anchor="lm")
        return image
