"""Where the time of a run goes: training, preparing batches, validating, saving; and its memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

ASIDE = ("validating", "saving")  # not counted in the speed of training


def now() -> float:
    """Seconds since some moment: the clock that all of training goes by."""
    return time.perf_counter()


class Clock:
    """Seconds by what they were spent on, since the run was started or resumed."""

    def __init__(self) -> None:
        self._began = now()
        self._spent = dict.fromkeys(("batches", *ASIDE), 0.0)
        self.latest: dict[str, float] = {}  # seconds of the last time that it was done
        self.restart()

    def restart(self) -> None:
        """Begins a new stretch, over which the rate is taken."""
        self.tokens = 0
        self._start = now()

    def rate(self) -> float:
        """Real target tokens a second in this stretch, validating and saving not counted."""
        return self.tokens / max(now() - self._start, 1e-9)

    def aside(self) -> float:
        """Seconds of validating and saving so far."""
        return sum(self._spent[what] for what in ASIDE)

    def shares(self) -> dict[str, float]:
        """The share of all time so far, as "time/batches" and so on."""
        total = max(now() - self._began, 1e-9)
        return {f"time/{what}": seconds / total for what, seconds in self._spent.items()}

    def left(self, done: int, to_do: int) -> float:
        """Seconds that `to_do` steps will take if they go on like the `done` ones so far."""
        return (now() - self._began) / max(done, 1) * to_do

    @contextmanager
    def spent(self, what: str) -> Iterator[None]:
        """Puts the time of the block down to `what`."""
        since = now()
        yield
        seconds = now() - since
        self._spent[what] += seconds
        self.latest[what] = seconds
        if what in ASIDE:
            self._start += seconds


def peak_memory(device: torch.device) -> dict[str, float]:
    """The most memory held so far: "memory/peak_mib" of the process, "memory/gpu_peak_mib"."""
    found = {}
    if device.type == "cuda":
        found["memory/gpu_peak_mib"] = torch.cuda.max_memory_allocated(device) / 2**20
    try:
        import resource
    except ImportError:  # Windows
        return found
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"memory/peak_mib": most / (2**20 if sys.platform == "darwin" else 2**10), **found}
