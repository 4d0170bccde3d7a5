"""Loss spikes: steps whose loss is far above what was usual just before."""

from __future__ import annotations

import math

MEMORY = 50  # steps that the running mean and deviation look back, about
QUIET = 100  # steps after a spike in which no other one is told
DEVIATIONS = 8.0  # over the mean; batches of long and of short sentences differ by several
FLOOR = 0.5  # nats a token and, as a share, of the mean: less is not worth a line


class Spikes:
    """The usual loss of a step, running; it begins anew when a run is resumed."""

    def __init__(self) -> None:
        self._mean, self._variance = 0.0, 0.0
        self._seen = 0
        self._quiet = MEMORY  # steps to go before the usual is known well enough

    def usual(self, loss: float) -> float | None:
        """Takes in the loss of a step, nats a token; the usual one if this one is a spike."""
        mean = self._mean
        limit = mean + max(DEVIATIONS * math.sqrt(self._variance), FLOOR * mean, FLOOR)
        spike = not self._quiet and loss > limit
        self._quiet = QUIET if spike else max(self._quiet - 1, 0)
        # A spike counts no more than the limit, or one alone would make the next ones usual.
        self._take_in(min(loss, limit) if self._seen >= MEMORY else loss)
        return mean if spike else None

    def _take_in(self, loss: float) -> None:
        self._seen += 1
        weight = 1 / min(self._seen, MEMORY)
        away = loss - self._mean
        self._mean += weight * away
        self._variance = (1 - weight) * (self._variance + weight * away * away)
