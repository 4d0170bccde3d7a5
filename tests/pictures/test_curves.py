"""Curves as text: every point is where it should be, and nothing is too wide."""

from __future__ import annotations

import math

import pytest

from mt.pictures.curves import BITS, BLANK, Curve, draw

NAN = math.nan


def dots(lines: list[str]) -> set[tuple[int, int]]:
    """(column, row) of each dot of a picture, from the field after ┤."""
    found = set()
    for i, line in enumerate(lines[1:-1]):
        for j, character in enumerate(line.partition("┤")[2]):
            bits = ord(character) - BLANK if character != " " else 0
            found |= {(2 * j + x, 4 * i + y) for y in range(4) for x in range(2)
                      if bits & BITS[y][x]}  # fmt: skip
    return found


def test_a_straight_line_falls_from_corner_to_corner() -> None:
    lines = draw([Curve("loss", [(1, 8.0), (1001, 2.0)])], width=40, height=6)
    assert lines[0] == "⠶ loss"
    assert [line.split("┤")[0].strip() for line in lines[1:-1]] == ["8", "", "", "5", "", "2"]
    assert lines[-1].split() == ["1", "1,001"]
    found = dots(lines)
    right, bottom = max(x for x, _ in found), max(y for _, y in found)
    assert {(0, 0), (right, bottom)} <= found
    assert bottom == 6 * 4 - 1
    assert max(map(len, lines)) == 40
    assert len(lines[-1]) == 40  # the last step stands under the right edge
    for x, y in found:  # y is x scaled, to a dot
        assert abs(y - x * bottom / right) <= 1.01
    assert {x for x, _ in found} == set(range(right + 1))  # without a gap


def test_one_point_many_equal_points_and_none() -> None:
    one = draw([Curve("loss", [(5, 3.0)])], width=30)
    assert len(dots(one)) == 1
    assert one[-1].split() == ["5"]
    level = dots(draw([Curve("loss", [(1, 3.0), (9, 3.0)])], width=30))
    assert len({y for _, y in level}) == 1
    assert draw([Curve("loss", [])], width=30) == ["loss: no points"]
    assert draw([Curve("zero", [(1, 0.0)])], width=30)[1].strip().startswith("1 ┤")


def test_what_is_not_finite_leaves_a_gap_and_is_counted() -> None:
    points = [(1, 1.0), (2, 1.5), (3, NAN), (4, math.inf), (5, 1.0), (6, 1.5)]
    lines = draw([Curve("loss", points)], width=60)
    assert lines[0] == "⠶ loss (2 not finite, left out)"
    columns = {x for x, _ in dots(lines)}
    right = max(columns)
    assert not columns & set(range(round(right * 0.25), round(right * 0.75)))
    assert {0, right} <= columns
    nothing = draw([Curve("loss", [(1, NAN)])], width=60)
    assert nothing == ["⠶ loss (1 not finite, left out)"]


def test_marks_stand_over_dots_at_their_place() -> None:
    marked = Curve("valid", [(0, 0.0), (10, 10.0)], "●")
    lines = draw([marked, Curve("train", [(0, 10.0), (10, 0.0)])], width=24, height=5)
    assert lines[0] == "● valid   ⠶ train"
    assert lines[1][-1] == lines[5].partition("┤")[2][0] == "●"
    assert "".join(lines[1:]).count("●") == 2


@pytest.mark.parametrize("width", [1, 20, 200])
def test_any_width_and_any_size_of_numbers(width: int) -> None:
    lines = draw([Curve("ppl", [(1, 1e9), (123456, -2e-7)])], width)
    assert max(map(len, lines)) <= max(width, 24)
