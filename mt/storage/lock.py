"""One writer at a time in a model folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from mt.errors import UserError

if sys.platform != "win32":  # no lock there
    import fcntl

LOCK_FILE = ".lock"


class FolderLock:
    """Held until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Raises UserError when another process holds the folder."""
        self._file: IO[str] = (folder / LOCK_FILE).open("a+", encoding="utf-8")
        try:
            if sys.platform != "win32":
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            owner = self._file.read().strip()
            self._file.close()
            raise UserError(
                f"{folder.absolute()} is being trained by another process ({owner}); "
                "wait for it, stop it, or choose another name"
            ) from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

    def release(self) -> None:
        """Lets others in."""
        self._file.close()
