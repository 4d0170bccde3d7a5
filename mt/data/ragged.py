"""Rows of ids of different lengths over Arrow memory; knows nothing of what the ids mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IdArray = NDArray[np.int32]
Ids = IdArray | list[int]
Lengths = NDArray[np.integer[Any]]  # (N, 2) source and target tokens, SOS and EOS included


class Ragged:
    """Row i is a view of memory-mapped ids: only the lengths are held in memory.

    `column` is a pyarrow ChunkedArray of list<int32>.
    """

    def __init__(self, column: Any) -> None:
        chunks = [chunk for chunk in column.chunks if len(chunk)]
        self._offsets = [chunk.offsets.to_numpy() for chunk in chunks]
        self._values = [chunk.values.to_numpy() for chunk in chunks]
        counts = [len(offsets) - 1 for offsets in self._offsets]
        self._first = np.cumsum([0, *counts])

    def __len__(self) -> int:
        return int(self._first[-1])

    def __getitem__(self, row: int) -> IdArray:
        chunk = int(np.searchsorted(self._first, row, side="right")) - 1
        offsets, at = self._offsets[chunk], row - self._first[chunk]
        ids: IdArray = self._values[chunk][offsets[at] : offsets[at + 1]]
        return ids

    def lengths(self) -> IdArray:
        """(N,) ids in each row."""
        if not self._offsets:
            return np.zeros(0, dtype=np.int32)
        return np.concatenate([np.diff(offsets) for offsets in self._offsets]).astype(np.int32)
