"""Windows of lines: all that is there at once, a line by itself when no more is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.cli import lines
from mt.cli.lines import FIRST, MOST, Lines, read_lines, windows
from mt.errors import UserError


@pytest.fixture
def pipe() -> Iterator[tuple[int, Callable[[bytes], None]]]:
    reading, writing = os.pipe()
    ends = [reading, writing]

    def write(data: bytes) -> None:
        if data:
            os.write(writing, data)
        else:
            os.close(writing)
            ends.remove(writing)

    yield reading, write
    for end in ends:
        os.close(end)


def test_a_slow_writer_gets_each_line_at_once(
    pipe: tuple[int, Callable[[bytes], None]],
) -> None:
    handle, write = pipe
    found = windows(handle, "a pipe")
    for line in ("one", "", "three"):
        write(f"{line}\n".encode())
        assert next(found) == [line]
    write(b"half ")
    threading.Timer(10 * lines.GRACE, write, [b"and half\nmore"]).start()
    assert next(found) == ["half and half"]
    write(b"")
    assert list(found) == [["more"]]


def test_a_fast_writer_is_read_in_windows_that_grow_to_a_bound(
    pipe: tuple[int, Callable[[bytes], None]],
) -> None:
    """More lines than a pipe holds, from another thread."""
    handle, write = pipe
    count = 40_000

    def produce() -> None:
        for start in range(0, count, 500):
            write(b"".join(b"line %d\n" % n for n in range(start, start + 500)))
        write(b"")

    writer = threading.Thread(target=produce)
    writer.start()
    sizes = []
    texts: list[str] = []
    for window in windows(handle, "a pipe"):
        sizes.append(len(window))
        texts += window
        time.sleep(0.001)
    writer.join()
    assert texts == [f"line {n}" for n in range(count)]
    assert max(sizes) <= MOST
    assert sizes[0] <= FIRST
    assert sum(size > 1000 for size in sizes) >= 5


def test_a_window_of_long_lines_is_bounded_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_BYTES", 10_000)
    Path("in.txt").write_text(("x" * 100_000 + "\n") * 30)
    with lines.open_input(Path("in.txt")) as handle:
        sizes = [len(window) for window in windows(handle, "in.txt")]
    assert sum(sizes) == 30
    assert max(sizes) < 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=30), st.integers(1, 7))
def test_lines_are_what_lies_between_line_feeds(parts: list[bytes], most: int) -> None:
    content = b"\n".join(parts)
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    source, found = Lines(reading), []
    while window := source.take(most, patient=True):
        assert len(window) <= most
        found.append(window)
    os.close(reading)
    expected = content.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert [line for window in found for line in window] == expected
    assert all(len(window) == most for window in found[:-1])


def test_bytes_that_are_not_utf8_are_named_or_replaced(here: Path) -> None:
    Path("in.txt").write_bytes(b"\xef\xbb\xbfone\n\xe8 two\nthree\n\xed\xa0\x80\n")
    with pytest.raises(UserError, match=r"/in.txt, line 2: not UTF-8 \(byte 1 of the line\)"):
        read_lines(Path("in.txt"))
    told: list[int] = []
    with lines.open_input(Path("in.txt")) as handle:
        found = list(windows(handle, "in.txt", told.append))
    assert found == [["one", "\ufffd two", "three", "\ufffd\ufffd\ufffd"]]
    assert told == [2, 4]
