"""Text files as lines, in and out: LF alone ends a line, and what is not UTF-8 is named."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from mt.errors import UserError

CHUNK = 1 << 16  # bytes that are read at once
# Lines of a window: few at first, so that an answer comes soon, and then enough for batches of
# lines of about one length.
FIRST, MOST = 64, 4096
MOST_BYTES = 1 << 22  # of a window, unless one line alone has more
GRACE = 0.005  # seconds: a writer that pauses for longer waits for an answer

Note = Callable[[int], object]  # is told the number of a line


class NotUtf8Error(UserError):
    """A line is not UTF-8."""


def read_lines(path: Path) -> list[str]:
    """All lines of a UTF-8 file. Raises UserError: missing, a folder, not UTF-8."""
    with open_input(path) as handle:
        return [line for lines in windows(handle, str(path.absolute())) for line in lines]


class open_input:  # noqa: N801 - used as `with open_input(path)`
    """A file descriptor of `path` for `windows`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        try:
            self._handle = os.open(self._path, os.O_RDONLY)
            if self._path.is_dir():
                os.close(self._handle)
                raise UserError(f"{self._path.absolute()} is a folder, not a file")
        except FileNotFoundError:
            raise UserError(f"no such file: {self._path.absolute()}") from None
        except OSError as error:
            raise UserError(f"cannot read {self._path.absolute()}: {error.strerror}") from None
        return self._handle

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def windows(handle: int, where: str, replaced: Note | None = None) -> Iterator[list[str]]:
    """The lines of a file descriptor, as many at a time as are there to be read.

    A slow writer gets an answer to each line; a fast one is read in windows of bounded size.
    Bytes that are not UTF-8 become U+FFFD, and `replaced` is told the line; without it they raise
    NotUtf8Error, which names `where` and the line.
    """
    lines, number, most = Lines(handle), 0, FIRST
    while window := lines.take(most):
        yield decode(window, where, number, replaced)
        number += len(window)
        most = min(4 * most, MOST)


class Lines:
    """The lines of a file descriptor, as bytes, and those of them that were read but not taken."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lines: deque[bytes] = deque()
        self._begun: list[bytes] = []  # a line whose end was not read yet
        self._ended = False

    def take(self, most: int, patient: bool = False) -> list[bytes]:
        """At least one of the next lines and `most` at most; [] at the end.

        Only a patient reader waits until there are so many, whatever their size.
        """
        size = 0
        while not self._ended and len(self._lines) < most:
            if self._lines and not patient and (size > MOST_BYTES or not self._is_more_there()):
                break
            size += self._read()
        return [self._lines.popleft() for _ in range(min(most, len(self._lines)))]

    def _is_more_there(self) -> bool:
        return bool(select.select([self._handle], [], [], GRACE)[0])

    def _read(self) -> int:
        chunk = os.read(self._handle, CHUNK)
        first, *others = chunk.split(b"\n")
        self._begun.append(first)
        for other in others:
            self._lines.append(b"".join(self._begun))
            self._begun = [other]
        if not chunk:
            self._ended = True
            if last := b"".join(self._begun):
                self._lines.append(last)
        return len(chunk)


def decode(lines: list[bytes], where: str, before: int, replaced: Note | None = None) -> list[str]:
    """The text of lines with so many `before` them. Raises NotUtf8Error as `windows`."""
    return [_decode(line, where, before + i, replaced) for i, line in enumerate(lines, 1)]


def _decode(line: bytes, where: str, number: int, replaced: Note | None) -> str:
    codec, line = "utf-8-sig" if number == 1 else "utf-8", line.removesuffix(b"\r")
    try:
        return line.decode(codec)
    except UnicodeDecodeError as error:
        if replaced is not None:
            replaced(number)
            return line.decode(codec, errors="replace")
        wide = line.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise NotUtf8Error(
            f"{where}, line {number}: not UTF-8 (byte {error.start + 1} of the line); convert it "
            f"first, as with: iconv -f {'UTF-16' if wide else 'LATIN1'} -t UTF-8"
        ) from None
