"""Writing that fails: which folder, why, what room there is, and the way out."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mt.errors import RunError

MAKE_ROOM = (errno.ENOSPC, errno.EDQUOT)
WAYS_OUT = {
    **dict.fromkeys(MAKE_ROOM, "make room there"),
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EROFS: "mount it for writing",
    errno.EACCES: "give the permission to write there",
    errno.EPERM: "give the permission to write there",
    errno.EIO: "see to the disk",
}
REMOVED = "the folder, or something in it, was removed meanwhile"


class WriteError(RunError):
    """A part of a run could not be written; the message says all but how to go on.

    `way_out` is what to do first, "" where nothing needs doing.
    """

    def __init__(self, message: str, way_out: str) -> None:
        super().__init__(message)
        self.way_out = way_out


@contextmanager
def writing(what: str, folder: Path, needed: int | None = None) -> Iterator[None]:
    """Turns an OSError of the block into a WriteError. `needed` is the size of `what` in bytes."""
    try:
        yield
    except OSError as error:
        raise _explained(error, what, folder, needed) from error


def _explained(error: OSError, what: str, folder: Path, needed: int | None) -> WriteError:
    gone = error.errno in (errno.ENOENT, errno.ENOTDIR)
    reason = REMOVED if gone else error.strerror or str(error)
    room = _room(folder, needed) if error.errno in (*MAKE_ROOM, errno.EFBIG) else ""
    message = f"cannot write {what} in {folder.absolute()}: {reason}{room}"
    return WriteError(message, WAYS_OUT.get(error.errno or 0, ""))


def _room(folder: Path, needed: int | None) -> str:
    """What the disk has, as far as it is known; a quota is not seen here."""
    facts = [f"{_megabytes(needed)} needed"] if needed is not None else []
    with suppress(OSError):  # not told then
        facts.append(f"{_megabytes(shutil.disk_usage(folder).free)} free on that disk")
    return f" ({', '.join(facts)})" if facts else ""


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
