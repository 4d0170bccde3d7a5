"""Bytes of a file, plain or compressed, as lines of UTF-8 text; what the lines mean is not known.

Lines end at LF and nowhere else; a CR before it and a byte-order mark before the first are dropped.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

import pyarrow as pa

from mt.errors import UserError
from mt.text.rows import BATCH_ROWS, BadRow

_PACKERS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
COMPRESSED = tuple(_PACKERS)
CHUNK_BYTES = 1 << 20
LONGEST_LINE = 1 << 28


class Lines(NamedTuple):
    """Consecutive lines, the first of which has the number `first`; None is not UTF-8."""

    first: int
    lines: list[str | None]
    bad: list[BadRow]


def form_of(path: Path) -> str:
    """The extension that says how a file is read, without that of its compression."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file; `UserError` when it is missing, unreadable or damaged."""
    try:
        with _open(path) as stream:
            yield stream
    except FileNotFoundError:
        raise UserError(f"no such file: {path.absolute()}") from None
    except IsADirectoryError:
        raise UserError(f"{path.absolute()} is a folder, not a file") from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, pa.ArrowInvalid) as error:
        raise _damaged(path, error) from None
    except OSError as error:
        if path.suffix.lower() in COMPRESSED and error.errno is None:
            raise _damaged(path, error) from None
        raise UserError(f"cannot read {path.absolute()}: {error.strerror or error}") from None


def _open(path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if suffix == ".xz":
        return lzma.open(path, "rb")
    if suffix == ".zst":
        path.stat()  # Arrow's own message for a missing file is long
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")  # type: ignore[no-any-return]
    return path.open("rb", buffering=0)


def _damaged(path: Path, error: Exception) -> UserError:
    kind = path.suffix.lower().lstrip(".")
    why = " ".join(str(error).split())[:100]
    return UserError(
        f"{path.absolute()}: damaged or cut short, or not {kind} at all ({why}); "
        "fetch or compress it again"
    )


def read_lines(path: Path) -> Iterator[Lines]:
    """The lines of `path` in batches of `BATCH_ROWS`, the last one shorter.

    A line that is not UTF-8 is None and listed as bad, unless nothing speaks for the file being
    UTF-8 at all; then, and for UTF-16, `UserError` names the line and how to convert.
    """
    encoding = _Encoding(path)
    first, pending = 1, []
    for chunk in _whole_lines(path):
        pending += chunk.split(b"\n")
        while len(pending) >= BATCH_ROWS:
            yield encoding.decode(first, pending[:BATCH_ROWS])
            del pending[:BATCH_ROWS]
            first += BATCH_ROWS
    if pending:
        yield encoding.decode(first, pending)
    encoding.check()


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Chunks of a file cut after line ends, without the last LF of each."""
    rest: list[bytes] = []
    with open_bytes(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            cut = chunk.rfind(b"\n")
            if cut < 0:
                rest.append(chunk)
                if len(rest) * CHUNK_BYTES > LONGEST_LINE:
                    raise UserError(f"{path.absolute()}: a line of over 256 MB; is this text?")
                continue
            yield b"".join([*rest, chunk[:cut]])
            rest = [chunk[cut + 1 :]]
    last = b"".join(rest)
    if last:
        yield last


class _Encoding:
    """Decodes the lines of one file and knows whether it looks like UTF-8."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.first_bad: int | None = None
        self.first_bytes = b""
        self.proven = False  # some line has a letter beyond ASCII that is UTF-8

    def decode(self, first: int, lines: list[bytes]) -> Lines:
        if first == 1:
            self._check_utf16(b"\n".join(lines[:100]))
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        joined = b"\n".join(lines)
        try:
            text = joined.decode("utf-8")
        except UnicodeDecodeError:
            return self._decode_singly(first, lines)
        self.proven = self.proven or len(text) != len(joined)
        found: list[str | None] = [*text.split("\n")]
        if "\r" in text:
            found = [line.rstrip("\r") if line else line for line in found]
        return Lines(first, found, [])

    def _decode_singly(self, first: int, lines: list[bytes]) -> Lines:
        found: list[str | None] = []
        bad = []
        for number, line in enumerate(lines, first):
            try:
                text = line.decode("utf-8")
                self.proven = self.proven or len(text) != len(line)
                found.append(text.rstrip("\r"))
            except UnicodeDecodeError:
                if self.first_bad is None:
                    self.first_bad, self.first_bytes = number, line
                found.append(None)
                bad.append(BadRow(number, "not UTF-8", line[:60].decode("latin-1")))
        return Lines(first, found, bad)

    def _check_utf16(self, start: bytes) -> None:
        if start[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            raise self.error(1, "UTF-32")
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or start[:400].count(0) * 4 > len(start[:400]):
            raise self.error(1, "UTF-16")

    def check(self) -> None:
        """Raises when some line was not UTF-8 and no line speaks for it."""
        if self.first_bad is not None and not self.proven:
            raise self.error(self.first_bad, "ISO-8859-1")

    def error(self, line: int, likely: str) -> UserError:
        name, packed = self.path.name, _PACKERS.get(self.path.suffix.lower())
        command = f"iconv -f {likely} -t UTF-8"
        convert = f"{command} {name}"
        if packed:
            convert = f"{packed} -dc {name} | {command} | {packed}"
        return UserError(
            f"{self.path.absolute()}, line {line}: not UTF-8 text (perhaps {likely}); "
            f"convert it: {convert} > new-{name}"
        )
