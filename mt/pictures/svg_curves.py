"""Curves as SVG, to stand in a page: lines, and marks where a curve has a `mark`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mt.pictures.curves import Curve

# Of the picture, and of what is beside the field.
WIDTH, HEIGHT, LEFT, RIGHT, BELOW = 720, 260, 64, 28, 28
TICKS = 5


def svg_curves(title: str, curves: Sequence[Curve]) -> str:
    """An <svg> element; the strokes are of the classes curve-0, curve-1 and so on.

    Points that are not finite are left out. Raises ValueError if there is no other.
    """
    points = [point for curve in curves for point in curve.finite]
    if not points:
        raise ValueError("no point to draw")
    xs, ys = zip(*points, strict=True)
    x_axis, y_axis = _axis(min(xs), max(xs), least=1.0), _axis(min(ys), max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_axis[0]) / (x_axis[-1] - x_axis[0])
        up = (y - y_axis[0]) / (y_axis[-1] - y_axis[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), 8 + (1 - up) * (HEIGHT - BELOW - 8)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *(_level(place(x_axis[0], y)[1], y) for y in y_axis),
        *(_step(place(x, y_axis[0])[0], x) for x in x_axis),
    ]
    for i, curve in enumerate(curves):
        at = [place(*point) for point in curve.finite]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        parts.append(f'<polyline class="curve-{i}" points="{line}"/>')
        if curve.mark or len(at) == 1:
            parts += [
                f'<circle class="curve-{i}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>'
                f"{escape(curve.name)} {value:.4g} at step {step:,.0f}</title></circle>"
                for (x, y), (step, value) in zip(at, curve.finite, strict=True)
            ]
    return "\n".join([*parts, "</svg>"])


def _axis(low: float, high: float, least: float = 0.0) -> list[float]:
    """Round numbers from at most `low` to at least `high`, about `TICKS` of them.

    They are `least` apart or more.
    """
    if low == high:
        low, high = low - (abs(low) * 0.1 or 1.0), high + (abs(high) * 0.1 or 1.0)
    rough = max((high - low) / TICKS, least)
    power = 10.0 ** int(f"{rough:e}".split("e")[1])
    each = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough)
    first = low // each
    ticks = [first * each]
    while ticks[-1] < high:
        ticks.append((first + len(ticks)) * each)
    return ticks


def _level(y: float, value: float) -> str:
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.4g}</text>'
    )


def _step(x: float, value: float) -> str:
    return f'<text x="{x:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{value:,.0f}</text>'
