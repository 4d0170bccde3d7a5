"""An Arrow table in a mapped file, read here and there, in memory that does not grow with it."""

from __future__ import annotations

import mmap
from pathlib import Path

import pyarrow as pa


class MappedTable:
    """The table of an Arrow stream file; `release` gives the memory of what was read back.

    The system keeps mapped what was once touched, and may map megabytes around it, so that reading
    a few thousand rows at random would make the whole file resident.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError or pyarrow.ArrowException when the file is not such a table."""
        with path.open("rb") as file:
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # an empty file cannot be mapped
                raise OSError(f"{path}: {error}") from None
        for advice in ("MADV_RANDOM", "MADV_NOHUGEPAGE"):
            self._advise(advice)
        self.table: pa.Table = pa.ipc.open_stream(pa.py_buffer(self._map)).read_all()

    def release(self) -> None:
        """Lets go of the pages read so far; views of the table stay valid and bring theirs back."""
        self._advise("MADV_DONTNEED")

    def _advise(self, name: str) -> None:
        if hasattr(self._map, "madvise") and hasattr(mmap, name):  # not on every system
            self._map.madvise(getattr(mmap, name))
