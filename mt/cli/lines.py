"""Text files as lines, in and out: LF alone ends a line, and what is not UTF-8 is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mt.errors import UserError

CHUNK = 1 << 16  # bytes: what a reader takes at most before the lines in it are translated


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


def windows(handle: int, where: str) -> Iterator[list[str]]:
    """The lines of a file descriptor, as many at a time as are there to be read.

    A slow writer gets an answer to each line; a fast one is read in windows of bounded size.
    Raises UserError, naming `where` and the line, for bytes that are not UTF-8.
    """
    rest, number = b"", 0
    while chunk := os.read(handle, CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield [_decode(line, where, number + i) for i, line in enumerate(lines, 1)]
            number += len(lines)
    if rest:
        yield [_decode(rest, where, number + 1)]


def _decode(line: bytes, where: str, number: int) -> str:
    try:
        return line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        wide = line.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise UserError(
            f"{where}, line {number}: not UTF-8 (byte {error.start + 1} of the line); convert it "
            f"first, as with: iconv -f {'UTF-16' if wide else 'LATIN1'} -t UTF-8"
        ) from None
