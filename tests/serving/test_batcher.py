"""What waits together is done together, in turn, within the budget; and nothing is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mt.serving.batcher import Batcher, FullError


class Writing:
    """Work that writes down its batches, and begins when it may."""

    def __init__(self, open_: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.may = threading.Event()
        self.begun = threading.Event()
        if open_:
            self.may.set()

    def do(self, items: list[str]) -> list[str]:
        self.batches.append(items)
        self.begun.set()
        assert self.may.wait(10)
        if "bad" in items:
            raise ValueError("bad")
        return [item.upper() for item in items]


def run(
    test: Callable[[Batcher], Awaitable[Any]],
    budget: int = 100,
    window: float = 0.0,
    limit: int = 100,
) -> Any:
    async def whole() -> Any:
        batcher = Batcher(budget, window, limit)
        batcher.start()
        try:
            return await test(batcher)
        finally:
            await asyncio.to_thread(batcher.stop)

    return asyncio.run(whole())


async def held(batcher: Batcher) -> tuple[Writing, asyncio.Future[list[str]]]:
    """Work that keeps the thread busy until it may end."""
    work = Writing(open_=False)
    doing = asyncio.ensure_future(batcher.do(work, ["held"], [1]))
    assert await asyncio.to_thread(work.begun.wait, 10)
    return work, doing


def test_what_waits_is_done_at_once_and_each_gets_its_own() -> None:
    async def test(batcher: Batcher) -> None:
        first, doing = await held(batcher)
        work = Writing()
        asked = [asyncio.ensure_future(batcher.do(work, [f"{n}a", f"{n}b"], [1, 1])) for n in "xyz"]
        await asyncio.sleep(0)
        first.may.set()
        assert await asyncio.gather(*asked) == [["XA", "XB"], ["YA", "YB"], ["ZA", "ZB"]]
        assert await doing == ["HELD"]
        assert work.batches == [["xa", "ya", "za", "xb", "yb", "zb"]]

    run(test)


def test_no_batch_is_over_the_budget_unless_one_item_is_and_a_long_request_waits_its_turn() -> None:
    async def test(batcher: Batcher) -> None:
        first, _ = await held(batcher)
        work = Writing()
        long = asyncio.ensure_future(batcher.do(work, list("abcdef"), [4] * 6))
        await asyncio.sleep(0)
        short = asyncio.ensure_future(batcher.do(work, ["s"], [4]))
        huge = asyncio.ensure_future(batcher.do(work, ["h"], [50]))
        await asyncio.sleep(0)
        first.may.set()
        assert await long == list("ABCDEF")
        assert await short == ["S"]
        assert await huge == ["H"]
        assert work.batches == [["a", "s"], ["h"], ["b", "c"], ["d", "e"], ["f"]]

    run(test, budget=10)


def test_different_works_take_turns() -> None:
    async def test(batcher: Batcher) -> None:
        first, _ = await held(batcher)
        one, other = Writing(), Writing()
        asked = [
            asyncio.ensure_future(batcher.do(work, items, [1] * len(items)))
            for work, items in ((one, ["a", "b", "c"]), (other, ["x"]), (one, ["d"]))
        ]
        await asyncio.sleep(0)
        done: list[int] = []
        for n, task in enumerate(asked):
            task.add_done_callback(lambda _, n=n: done.append(n))
        first.may.set()
        await asyncio.gather(*asked)
        assert one.batches == [["a", "d"], ["b", "c"]]
        assert other.batches == [["x"]]
        assert done == [2, 1, 0]

    run(test, budget=2)


def test_a_request_waits_for_company_but_not_when_the_batch_is_full() -> None:
    async def timed(batcher: Batcher, costs: list[int]) -> float:
        began = time.perf_counter()
        await batcher.do(Writing(), ["a"] * len(costs), costs)
        return time.perf_counter() - began

    async def together(batcher: Batcher) -> list[list[str]]:
        work = Writing()
        first = asyncio.ensure_future(batcher.do(work, ["a"], [1]))
        await asyncio.sleep(0.01)
        await asyncio.gather(first, batcher.do(work, ["b"], [1]))
        return work.batches

    assert run(lambda batcher: timed(batcher, [1]), budget=10, window=0.3) >= 0.3
    assert run(lambda batcher: timed(batcher, [5, 5]), budget=10, window=20.0) < 10
    assert run(together, budget=10, window=1.0) == [["a", "b"]]


def test_a_full_queue_takes_no_more_and_says_when_to_come_back() -> None:
    async def test(batcher: Batcher) -> None:
        first, doing = await held(batcher)
        waiting = [asyncio.ensure_future(batcher.do(first, ["a"], [1])) for _ in range(2)]
        await asyncio.sleep(0)
        assert batcher.waiting == 2
        with pytest.raises(FullError) as full:
            await batcher.do(first, ["b"], [1])
        assert 1 <= full.value.pause <= 60
        first.may.set()
        assert await asyncio.gather(doing, *waiting) == [["HELD"], ["A"], ["A"]]
        assert await batcher.do(first, ["b"], [1]) == ["B"]
        assert batcher.waiting == 0

    run(test, limit=2)


def test_the_pause_is_what_the_queue_takes_at_the_speed_of_late() -> None:
    async def test(batcher: Batcher) -> None:
        batcher._speed = 10.0
        first, _ = await held(batcher)
        batcher._speed = 10.0
        waiting = asyncio.ensure_future(batcher.do(first, ["a", "b"], [30, 45]))
        await asyncio.sleep(0)
        with pytest.raises(FullError) as full:
            await batcher.do(first, ["b"], [1])
        assert full.value.pause == 8
        first.may.set()
        await waiting

    run(test, limit=1)


def test_who_goes_away_is_not_worked_for() -> None:
    async def test(batcher: Batcher) -> None:
        first, doing = await held(batcher)
        work = Writing()
        gone = asyncio.ensure_future(batcher.do(work, ["gone"], [1]))
        stays = asyncio.ensure_future(batcher.do(work, ["stays"], [1]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        doing.cancel()  # one that is being done: its answer goes nowhere, and harms nobody
        await asyncio.sleep(0)
        first.may.set()
        assert await stays == ["STAYS"]
        assert work.batches == [["stays"]]

    run(test)


def test_an_item_that_fails_fails_alone() -> None:
    async def test(batcher: Batcher) -> None:
        first, _ = await held(batcher)
        work = Writing()
        asked = [asyncio.ensure_future(batcher.do(work, [x], [1])) for x in ("a", "bad", "c")]
        await asyncio.sleep(0)
        first.may.set()
        a, bad, c = await asyncio.gather(*asked, return_exceptions=True)
        assert (a, c) == (["A"], ["C"])
        assert isinstance(bad, ValueError)
        assert await batcher.do(work, ["d"], [1]) == ["D"]

    run(test)


def test_stopping_finishes_what_was_taken() -> None:
    async def test() -> None:
        batcher = Batcher(1, 0.0, 100)
        batcher.start()
        first, doing = await held(batcher)
        asked = [asyncio.ensure_future(batcher.do(first, [x], [1])) for x in "abc"]
        await asyncio.sleep(0)
        stopping = asyncio.ensure_future(asyncio.to_thread(batcher.stop))
        await asyncio.sleep(0.02)
        assert not stopping.done()
        first.may.set()
        assert await asyncio.gather(doing, *asked) == [["HELD"], ["A"], ["B"], ["C"]]
        await stopping

    asyncio.run(test())


def test_nothing_asked_is_answered_at_once() -> None:
    assert run(lambda batcher: batcher.do(Writing(open_=False), [], [])) == []
