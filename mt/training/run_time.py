"""The time that a run takes: how much of `training.minutes` is used, and which step is the last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mt.config import TrainingConfig
from mt.training import clock

SPARE = 1.1  # how many times longer than the last time validating and saving may take at the end
LEAVING = 0.5  # seconds, from the last file that is written to the end of the process
REHEARSAL = 0.5  # share of the time after which the end is rehearsed, if it was not measured yet


class Outlook(NamedTuple):
    """What all processes go by in the next step: what the first one sees on its clock."""

    share: float = 0.0  # of the time for steps, from the first step on, that is used
    last: float = 0.0  # 1 if the next step is the last one there is time for, else 0
    hold: float = 0.0  # 1 if there is no time to validate and save but at the end
    rehearse: float = 0.0  # 1 if validating and saving must be measured after the next step


class RunTime:
    """The wall-clock time of a run, the times in which it did not run left out."""

    def __init__(self, settings: TrainingConfig) -> None:
        self.settings = settings
        self.began = clock.now()  # the command, which may have begun earlier than this was made
        self.before = 0.0  # seconds that earlier starts of the run took
        self._looked: tuple[float, float] | None = None  # when, and the time aside until then
        self.pace = 0.0  # seconds of a step, a moving average
        self._rehearsed = False

    @property
    def used(self) -> float:
        """Seconds so far."""
        return self.before + clock.now() - self.began

    @property
    def left(self) -> float:
        """Seconds left; infinite without `training.minutes`."""
        minutes = self.settings.minutes
        return float("inf") if minutes is None else 60 * minutes - self.used

    def end(self, took: Mapping[str, float]) -> float:
        """Seconds that what comes after the last step will take.

        `took` says how long the last "validating" and "saving" took; 0 for what is not measured. An
        average of checkpoints is validated and written too, and they are read and checked.
        """
        validating, saving = took.get("validating", 0.0), took.get("saving", 0.0)
        seconds = validating + saving
        if self.settings.average is not None:
            kept = self.settings.keep.last + self.settings.keep.best
            seconds += validating + saving * (1 + kept / 2)
        return SPARE * seconds + LEAVING

    def look(
        self, prepared: float, took: Mapping[str, float], aside: float, measured: bool
    ) -> Outlook:
        """The outlook for the next step. Called before each step, in the first process.

        `prepared`: seconds before the first step of the run; `aside`: those of this start that went
        to validating and saving; `measured`: whether `took` has all that it can have.
        """
        assert self.settings.minutes is not None
        step = self._pace_now(aside)
        left = self.left - self.end(took)
        whole = self.used - prepared + left  # for steps and what is between them
        share = min(1.0, (self.used - prepared) / whole) if whole > 0 and left > 0 else 1.0
        rehearse = share >= REHEARSAL and not measured and not self._rehearsed
        self._rehearsed |= rehearse
        between = SPARE * (took.get("validating", 0.0) + took.get("saving", 0.0))
        return Outlook(share, left <= step, left <= 2 * step + between, rehearse)

    def _pace_now(self, aside: float) -> float:
        """Seconds that a step takes, what is aside of it not counted."""
        now = clock.now()
        if self._looked is not None:
            then, aside_then = self._looked
            step = max(0.0, (now - then) - (aside - aside_then))
            self.pace = step if not self.pace else 0.8 * self.pace + 0.2 * step
        self._looked = now, aside
        return self.pace
