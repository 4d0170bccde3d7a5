"""Files and folders that are either whole or not there, whenever the power fails."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Puts UTF-8 `text` under `path` in one go; what was there stays until then. Raises OSError."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):  # the first error is the one to tell
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; it takes the name when the block ends well, else it goes.

    Those that processes of this machine left when they were killed go at once.
    """
    stem = f".{path.name}.{platform.node()}."
    for left in path.parent.iterdir():
        pid = left.name.removeprefix(stem).removesuffix(".tmp")
        if left.name == f"{stem}{pid}.tmp" and pid.isdecimal() and not _runs(int(pid)):
            left.unlink(missing_ok=True)
    temporary = path.with_name(f"{stem}{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if str(error.filename) == str(temporary):  # a name that nobody gave
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    """Whether there is a process of this number on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


@contextmanager
def output_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside `path`; it takes the name when the block ends well, else it goes.

    A folder that has the name goes at the very end; whether it may is for the caller to know.
    """
    temporary, old = (path.with_name(f".{path.name}.{end}") for end in ("tmp", "old"))
    for left in (temporary, old):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with file.open("rb") as handle:
                    os.fsync(handle.fileno())
        if path.exists():
            path.replace(old)
        temporary.replace(path)
        sync_folder(path.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Makes renames inside `folder` last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
