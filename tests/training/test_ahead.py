"""Making things ahead: the same values as without, begun before they are asked for."""

from __future__ import annotations

import threading

import pytest

from mt.training.ahead import Ahead


def test_values_are_those_asked_for_whatever_was_announced() -> None:
    ahead: Ahead[int, int] = Ahead(lambda key: key * key)
    asked = [(1, 2), (2, 9), (3, None), (4, 5), (5, 6)]
    assert [ahead.take(key, following) for key, following in asked] == [1, 4, 9, 16, 25]
    ahead.close()


def test_the_following_is_made_before_it_is_asked_for() -> None:
    made = {key: threading.Event() for key in (1, 2)}

    def make(key: int) -> str:
        made[key].set()
        return threading.current_thread().name

    ahead = Ahead(make)
    assert ahead.take(1, 2) == threading.current_thread().name
    assert made[2].wait(10)
    assert ahead.take(2, None) != threading.current_thread().name
    ahead.close()


def test_an_error_comes_where_the_value_is_asked_for() -> None:
    def make(key: int) -> int:
        return 1 // key

    ahead = Ahead(make)
    assert ahead.take(1, 0) == 1
    with pytest.raises(ZeroDivisionError):
        ahead.take(0, None)
    ahead.close()
