"""Records on disk, sorted into files by the leading bits of their key: more of them than fit in
memory can be compared, a file at a time. What the records mean is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Records: TypeAlias = npt.NDArray[np.void]

BITS = 6


class Buckets:
    """Records with a uint64 field `key`, in 64 files; a key's records are all in one of them."""

    def __init__(self, folder: Path, fields: list[tuple[str, Any]]) -> None:
        folder.mkdir()
        self.dtype = np.dtype([("key", np.uint64), *fields])
        self.paths = [folder / f"{number:02}.bin" for number in range(1 << BITS)]
        self.files = [path.open("wb", buffering=1 << 15) for path in self.paths]

    def add(self, **columns: Any) -> None:
        """Appends records, given by field."""
        records = np.empty(len(columns["key"]), self.dtype)
        for name, values in columns.items():
            records[name] = values
        number = (records["key"] >> np.uint64(64 - BITS)).astype(np.intp)
        order = np.argsort(number, kind="stable")
        ends = np.cumsum(np.bincount(number, minlength=1 << BITS))
        for file, part in zip(self.files, np.split(records[order], ends[:-1]), strict=True):
            if len(part):
                file.write(part.tobytes())

    def close(self) -> None:
        """Ends the writing."""
        for file in self.files:
            file.close()

    def read(self, *, backwards: bool = False) -> Iterator[Records]:
        """The files' records, files in rising order of keys; a file's own are in no order."""
        for path in reversed(self.paths) if backwards else self.paths:
            yield np.fromfile(path, dtype=self.dtype)
