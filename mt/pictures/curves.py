"""Curves as text: dots of braille, two in a row and four in a column to a character."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]  # (x, y), x rising
# The bit of each dot of a braille character, by row and column; U+2800 has none of them.
BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BLANK = 0x2800
LEAST_WIDTH = 8  # characters of the field that is drawn in


@dataclass(frozen=True)
class Curve:
    """Points with a name. A marked curve has a `mark` at each of them, another a line of dots."""

    name: str
    points: Points
    mark: str = ""

    @property
    def finite(self) -> list[tuple[float, float]]:
        """The points that can be drawn."""
        return [(x, y) for x, y in self.points if math.isfinite(y)]


def draw(curves: Sequence[Curve], width: int, height: int = 10) -> list[str]:
    """Lines of at most `width` columns: a legend, `height` lines of curves, and the steps.

    Points that are not finite are left out, and counted in the legend. Without a point to draw
    there is the legend alone.
    """
    legend = "   ".join(_legend(curve) for curve in curves)
    points = [point for curve in curves for point in curve.finite]
    if not points:
        return [legend]
    low, high = min(y for _, y in points), max(y for _, y in points)
    if low == high:
        low, high = low - (abs(low) * 0.1 or 1.0), high + (abs(high) * 0.1 or 1.0)
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    labels = [_figure(high), _figure((low + high) / 2), _figure(low)]
    margin = max(map(len, labels))
    field = Field(max(width - margin - 2, LEAST_WIDTH), height)

    def place(x: float, y: float) -> tuple[float, float]:
        return (x - first) / (last - first or 1), (high - y) / (high - low)

    for curve in sorted(curves, key=lambda curve: bool(curve.mark)):  # marks over dots
        _draw(field, curve, [place(*p) if math.isfinite(p[1]) else None for p in curve.points])
    at = {0: labels[0], height // 2: labels[1], height - 1: labels[2]}
    lines = [f"{at.get(i, ''):>{margin}} ┤{line}" for i, line in enumerate(field.lines())]
    left, right = f"{first:,.0f}", f"{last:,.0f}"
    room = field.width - len(left)
    axis = left if first == last else left + right.rjust(room)
    return [legend, *(line.rstrip() for line in lines), " " * (margin + 2) + axis]


class Field:
    """Characters to draw on; places are from 0 to 1, left to right and top to bottom."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _ in range(height)]
        self._marks: dict[tuple[int, int], str] = {}

    def dot(self, x: float, y: float) -> None:
        """One dot."""
        column, row = round(x * (2 * self.width - 1)), round(y * (4 * self.height - 1))
        self._dots[row // 4][column // 2] |= BITS[row % 4][column % 2]

    def line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Dots from one place to another."""
        dots = (end[0] - start[0]) * 2 * self.width, (end[1] - start[1]) * 4 * self.height
        count = max(1, math.ceil(max(map(abs, dots))))
        for i in range(count + 1):
            share = i / count
            self.dot(*(a + (b - a) * share for a, b in zip(start, end, strict=True)))

    def mark(self, x: float, y: float, mark: str) -> None:
        """A character of its own, in place of the dots there."""
        self._marks[round(y * (self.height - 1)), round(x * (self.width - 1))] = mark

    def lines(self) -> list[str]:
        """What was drawn, line by line; a space where nothing was."""
        return [
            "".join(
                self._marks.get((row, column)) or (chr(BLANK + dots) if dots else " ")
                for column, dots in enumerate(line)
            )
            for row, line in enumerate(self._dots)
        ]


def _draw(field: Field, curve: Curve, places: Sequence[tuple[float, float] | None]) -> None:
    before = None
    for place in places:
        if place is not None and curve.mark:
            field.mark(*place, curve.mark)
        elif place is not None:
            field.line(before or place, place)
        before = place


def _legend(curve: Curve) -> str:
    sign = curve.mark or chr(BLANK + 0x36)
    missing = len(curve.points) - len(curve.finite)
    left_out = f" ({missing:,} not finite, left out)" if missing else ""
    return f"{sign} {curve.name}{left_out}" if curve.points else f"{curve.name}: no points"


def _figure(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
