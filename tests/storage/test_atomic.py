"""Files under their final name are whole, whatever happens while they are written."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mt.storage import atomic


class PowerCutError(Exception):
    pass


def cut(*_: object) -> None:
    raise PowerCutError


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for text in ("perché\r\nno\n", "", "\u2028"):
        atomic.write_text(file, text)
        assert file.read_bytes() == text.encode()
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_crash_while_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync", cut) if where == "fsync" else (Path, "replace", cut)))
        with pytest.raises(PowerCutError):
            atomic.write_text(file, "new" * 10_000)
    assert file.read_text() == "old"
    atomic.write_text(file, "new")  # what the crash left is no obstacle
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_process_killed_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    program = (
        "import os, pathlib, signal, sys\n"
        "from mt.storage import atomic\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "atomic.write_text(pathlib.Path(sys.argv[1]), 'new' * 100_000)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(file)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert file.read_text() == "old"


def test_an_output_file_has_its_name_only_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    with atomic.output_file(file) as temporary:
        temporary.write_text("new")
        assert not file.exists()
        assert temporary.parent == tmp_path  # a rename does not cross file systems
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [PowerCutError, KeyboardInterrupt, BrokenPipeError])
def test_an_output_file_leaves_nothing_after_an_error(
    tmp_path: Path, error: type[BaseException], old: str | None
) -> None:
    file = tmp_path / "out.txt"
    if old:
        file.write_text(old)
    with pytest.raises(error), atomic.output_file(file) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise error
    assert (file.read_text() if old else None) == old
    assert [p.name for p in tmp_path.iterdir()] == (["out.txt"] if old else [])


def test_an_error_names_the_output_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    with pytest.raises(FileNotFoundError) as raised, atomic.output_file(file):
        pass  # nothing was written
    assert str(raised.value.filename) == str(file)


def test_two_writers_of_one_output_do_not_share_a_temporary_file(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "from mt.storage.atomic import output_file\n"
        "with output_file(pathlib.Path(sys.argv[1])) as t: print(t.name)\n"
    )
    names = set()
    for _ in range(2):
        command = [sys.executable, "-c", program, str(tmp_path / "o")]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        names.add(ended.stdout)
    assert len(names) == 2


def test_what_a_killed_writer_left_goes_at_the_next_start(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, signal, sys\n"
        "from mt.storage.atomic import output_file\n"
        "with output_file(pathlib.Path(sys.argv[1])) as t:\n"
        "    t.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "o")], check=False)
    (left,) = tmp_path.iterdir()
    of_this_machine, pid = left.name.removesuffix(".tmp").rsplit(".", 1)
    living = tmp_path / f"{of_this_machine}.{os.getppid()}.tmp"
    others = [tmp_path / f".o.elsewhere.{pid}.tmp", tmp_path / f".other{left.name}", living]
    for path in others:
        path.touch()
    with atomic.output_file(tmp_path / "o") as temporary:
        temporary.write_text("whole")
    assert set(tmp_path.iterdir()) == {tmp_path / "o", *others}


@pytest.mark.parametrize("size", [0, 1, 1_000_003])
def test_checksums(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "f").write_bytes(content)
    assert atomic.sha256(tmp_path / "f") == hashlib.sha256(content).hexdigest()
