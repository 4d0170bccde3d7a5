"""Requests that wait at the same time are decoded together, in one thread.

The batcher knows no model: a `Work` says what is done with items, and what is of one Work may be
done at once.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

LONGEST_PAUSE = 60  # seconds that anyone is asked to stay away
MEMORY = 0.8  # how much of the measured speed is that of before


class Work(Hashable, Protocol):
    """What is to be done with an item; equal ones are done together."""

    def do(self, items: list[str]) -> list[Any]:
        """A result for each item."""


class FullError(Exception):
    """So many wait that no more are taken; `pause` is when to try again, in seconds."""

    def __init__(self, pause: int) -> None:
        super().__init__(pause)
        self.pause = pause


@dataclass(eq=False)
class Job:
    """The items of one request."""

    work: Work
    items: Sequence[str]
    costs: Sequence[int]  # of each item, in tokens
    answer: asyncio.Future[list[Any]]
    loop: asyncio.AbstractEventLoop
    results: list[Any] = field(default_factory=list)
    taken: int = 0  # items that are being done, or are done
    missing: int = 0  # items that are not done
    error: Exception | None = None

    @property
    def waiting_cost(self) -> int:
        """Of the items that nobody has begun."""
        return sum(self.costs[self.taken :])


Batch = list[tuple[Job, int]]  # an item of a job, by its place


class Batcher:
    """The queue, and the thread that empties it.

    `budget` is the most tokens of a batch, unless an item alone has more; `window` how many seconds
    a batch that is smaller waits for company; `limit` how many requests may wait.
    """

    def __init__(
        self,
        budget: int,
        window: float,
        limit: int,
        watch: Callable[[int, int, float], object] = lambda items, tokens, seconds: None,
    ) -> None:
        """`watch` is told of each batch: items, tokens, seconds."""
        self.budget = budget
        self.window = window
        self.limit = limit
        self._watch = watch
        self._jobs: deque[Job] = deque()  # those with items that nobody has begun
        self._change = threading.Condition()
        self._stopping = False
        self._speed = 0.0  # tokens a second
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)

    def start(self) -> None:
        """Begins to work."""
        self._thread.start()

    def stop(self) -> None:
        """Ends when all that was taken is done."""
        with self._change:
            self._stopping = True
            self._change.notify()
        self._thread.join()

    @property
    def waiting(self) -> int:
        """Requests of which something is not begun."""
        return len(self._jobs)

    async def do(self, work: Work, items: Sequence[str], costs: Sequence[int]) -> list[Any]:
        """The results of `work` for the items. Raises FullError, or what the work raises.

        Who is cancelled has its items dropped, but for those that are being done.
        """
        if not items:
            return []
        loop = asyncio.get_running_loop()
        job = Job(work, items, costs, loop.create_future(), loop)
        job.results = [None] * len(items)
        job.missing = len(items)
        with self._change:
            if len(self._jobs) >= self.limit:
                raise FullError(self._pause())
            self._jobs.append(job)
            self._change.notify()
        try:
            return await job.answer
        finally:
            with self._change:
                if job in self._jobs:
                    self._jobs.remove(job)

    def _pause(self) -> int:
        cost = sum(job.waiting_cost for job in self._jobs)
        seconds = cost / self._speed if self._speed else 1.0
        return max(1, min(math.ceil(seconds), LONGEST_PAUSE))

    def _run(self) -> None:
        while batch := self._next():
            began = time.perf_counter()
            self._decode(batch)
            tokens = sum(job.costs[place] for job, place in batch)
            seconds = max(time.perf_counter() - began, 1e-6)
            now = tokens / seconds
            self._speed = MEMORY * self._speed + (1 - MEMORY) * now if self._speed else now
            self._watch(len(batch), tokens, seconds)

    def _next(self) -> Batch:
        """Waits for a batch; an empty one when there is nothing left to do."""
        with self._change:
            while True:
                self._change.wait_for(lambda: self._jobs or self._stopping)
                if self._jobs and not self._stopping:
                    self._change.wait_for(self._enough, self.window)
                if self._jobs or self._stopping:  # those there were may have gone while we waited
                    return self._take() if self._jobs else []

    def _enough(self) -> bool:
        if self._stopping or not self._jobs:
            return True
        work, cost = self._jobs[0].work, 0
        for job in self._jobs:
            if job.work == work:
                cost += job.waiting_cost
                if cost >= self.budget:
                    return True
        return False

    def _take(self) -> Batch:
        """A batch of the work that has waited longest: of each request an item in turn."""
        work = self._jobs[0].work
        turns = deque(job for job in self._jobs if job.work == work)
        batch: Batch = []
        cost = 0
        while turns:
            job = turns[0]
            own = job.costs[job.taken]
            if batch and cost + own > self.budget:
                break
            batch.append((job, job.taken))
            cost += own
            job.taken += 1
            turns.popleft()
            if job.taken < len(job.items):
                turns.append(job)
        # What is not finished goes behind those that had no turn.
        self._jobs = deque([*(job for job in self._jobs if job.work != work), *turns])
        return batch

    def _decode(self, batch: Batch) -> None:
        work = batch[0][0].work
        try:
            results = work.do([job.items[place] for job, place in batch])
        except Exception as error:
            if len(batch) > 1:  # one must not fail for another
                for one in batch:
                    self._decode([one])
                return
            batch[0][0].error = error
            results = [None]
        finished = []
        for (job, place), result in zip(batch, results, strict=True):
            job.results[place] = result
            job.missing -= 1
            if not job.missing:
                finished.append(job)
        for job in finished:
            job.loop.call_soon_threadsafe(_answer, job)


def _answer(job: Job) -> None:
    if job.answer.done():  # who asked has gone
        return
    if job.error is not None:
        job.answer.set_exception(job.error)
    else:
        job.answer.set_result(job.results)
