"""Keys and values of the target tokens so far, of one layer, in buffers with room for more.

Letters: R rows, H heads, T tokens, C channels of a head.
"""

from __future__ import annotations

from torch import Tensor

KeysValues = tuple[Tensor, Tensor]  # each (R, H, T, C)
ROOM = 16  # tokens that a buffer grows by; what is not used of it is copied in vain


class Past:
    """Grows by a copy every `ROOM` tokens, not at every token."""

    def __init__(self) -> None:
        self.length = 0  # T
        self._buffers: KeysValues | None = None  # each (R, H, T or more, C)

    def append(self, key: Tensor, value: Tensor) -> KeysValues:
        """Adds those of the next tokens; those of all. The first are kept as they are, uncopied."""
        begin, end = self.length, self.length + key.size(2)
        self.length = end
        if self._buffers is None:
            self._buffers = key, value
            return key, value
        if end > self._buffers[0].size(2):
            self._buffers = _grown(self._buffers[0], end), _grown(self._buffers[1], end)
        for buffer, new in zip(self._buffers, (key, value), strict=True):
            buffer[:, :, begin:end] = new
        return self._buffers[0][:, :, :end], self._buffers[1][:, :, :end]

    def reorder(self, rows: Tensor) -> None:
        """Keeps the rows (R,), in this order."""
        if self._buffers is not None:
            key, value = self._buffers
            self._buffers = key.index_select(0, rows), value.index_select(0, rows)


def _grown(buffer: Tensor, length: int) -> Tensor:
    rows, heads, filled, channels = buffer.shape
    larger = buffer.new_empty(rows, heads, -(-length // ROOM) * ROOM, channels)
    larger[:, :, :filled] = buffer
    return larger
