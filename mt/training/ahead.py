"""What is needed next, made in a thread while what is at hand is worked on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Ahead(Generic[K, V]):
    """Calls `make` for a key before its value is asked for; `make` must be a pure function."""

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._thread = ThreadPoolExecutor(1, "ahead")
        self._coming: tuple[K, Future[V]] | None = None

    def take(self, key: K, following: K | None) -> V:
        """The value of `key`; that of `following` is begun. Raises what `make` raises."""
        coming, self._coming = self._coming, None
        value = coming[1].result() if coming and coming[0] == key else self._make(key)
        if following is not None:
            self._coming = following, self._thread.submit(self._make, following)
        return value

    def close(self) -> None:
        """Ends the thread; what was begun and not asked for is forgotten."""
        self._thread.shutdown(wait=True, cancel_futures=True)
