"""One writer at a time in a model folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import IO

from mt.errors import UserError

if sys.platform != "win32":  # no lock there
    import fcntl

LOCK_FILE = ".lock"
TRIES, PAUSE = 5, 0.02  # seconds; `lock_owner` may hold the lock for a moment


class FolderLock:
    """Held until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Raises UserError when another process holds the folder."""
        self._file: IO[str] = (folder / LOCK_FILE).open("a+", encoding="utf-8")
        if not _locked(self._file):
            self._file.seek(0)
            owner = self._file.read().strip()
            self._file.close()
            raise UserError(
                f"{folder.absolute()} is being trained by another process ({owner}); "
                "wait for it, stop it, or choose another name"
            )
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

    def release(self) -> None:
        """Lets others in."""
        self._file.close()


def lock_owner(folder: Path) -> str | None:
    """Who is writing in the folder, as "process 123"; None if nobody is. It makes no file."""
    try:
        with (folder / LOCK_FILE).open(encoding="utf-8") as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except BlockingIOError:
        return (folder / LOCK_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _locked(file: IO[str]) -> bool:
    """Whether the lock could be had."""
    if sys.platform == "win32":
        return True
    for _ in range(TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(PAUSE)
    return False
