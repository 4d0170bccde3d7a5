"""The prompt, as a person at a terminal meets it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from mt.cli import prompt
from mt.cli.report import start_logging
from mt.decoding.translator import Translation, Translator
from mt.errors import UserError
from tests.conftest import SENTENCES

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

CAT = "the cat sleeps today."
PATIENCE = 60.0


def _own_terminal() -> None:
    """Makes standard input the terminal that Ctrl-C comes from."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for what programs remember of their user."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


class Terminal:
    """`mt translate` at a pseudo-terminal, with everything that has appeared there so far."""

    def __init__(self, **settings: object) -> None:
        self.here, there = pty.openpty()
        streams = {"stdin": there, "stdout": there, "stderr": there, **settings}
        command = [sys.executable, "-m", "mt", "translate"]
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            command, preexec_fn=_own_terminal, **streams
        )
        os.close(there)
        self.seen = b""

    def wait_for(self, text: bytes, times: int = 1) -> None:
        give_up = time.monotonic() + PATIENCE
        while self.seen.count(text) < times:
            assert time.monotonic() < give_up, self.seen
            if select.select([self.here], [], [], 0.1)[0]:
                self.seen += os.read(self.here, 1 << 16)

    def type(self, text: bytes) -> bytes:
        """What appears after typing `text`, up to the next prompt."""
        before, prompts = len(self.seen), self.seen.count(b"> ")
        os.write(self.here, text)
        self.wait_for(b"> ", prompts + 1)
        return self.seen[before:]

    def end(self) -> int:
        os.write(self.here, b"\x04")  # Ctrl-D
        status = self.process.wait(PATIENCE)
        os.close(self.here)
        return status


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_it_answers_and_ends_with_ctrl_d_and_survives_odd_input(trained: Path, locale: str) -> None:
    terminal = Terminal(env={**os.environ, "LC_ALL": locale, "TERM": "dumb"})
    terminal.wait_for(b"> ")
    assert b"Ctrl-D" in terminal.seen
    said = terminal.type(CAT.encode() + b"\n")
    assert SENTENCES[CAT].encode() in said
    assert re.search(rb"\d\.\d\d s\r", said)
    terminal.type(b"\n")
    assert b"unknown to the model" in terminal.type(b"[EOS] [UNK] \xf0\x9f\x98\x80 42 --help\n")
    said = terminal.type(b"caff\xe8 x\n")
    if locale == "C":  # elsewhere the terminal's own line editor holds the odd byte back
        assert b"that was not UTF-8" in said
    assert b"300 tokens, over the model's limit" in terminal.type(b"cat " * 300 + b"\n")
    assert SENTENCES[CAT].encode() in terminal.type(CAT.encode() + b"\n")
    assert terminal.end() == 0


def test_results_that_go_elsewhere_are_free_of_prompts(trained: Path) -> None:
    with Path("out.txt").open("wb") as out:
        terminal = Terminal(stdout=out)
        terminal.wait_for(b"> ")
        terminal.type(CAT.encode() + b"\n")
        terminal.type(b"\xff\n")
        terminal.type(b"yes.\n")
        assert terminal.end() == 0
    assert Path("out.txt").read_text("utf-8") == f"{SENTENCES[CAT]}\nsì.\n"


def test_ctrl_c_at_the_prompt(trained: Path) -> None:
    with Path("err.txt").open("wb") as err:
        terminal = Terminal(stderr=err)
        terminal.wait_for(b"> ")
        terminal.type(CAT.encode() + b"\n")
        for _ in range(100):  # pressed until it works: Python can miss one between two reads
            os.write(terminal.here, b"\x03")
            with contextlib.suppress(subprocess.TimeoutExpired):
                terminal.process.wait(0.5)
                break
        # The second is a press while the process was ending already.
        assert terminal.process.returncode in (130, -signal.SIGINT)
        os.close(terminal.here)
    assert b"Traceback" not in Path("err.txt").read_bytes()


UP = b"\x1b[A"


def test_lines_of_earlier_times_come_back(trained: Path, state: Path) -> None:
    pytest.importorskip("readline")
    terminal = Terminal(env={**os.environ, "TERM": "vt100"})
    terminal.wait_for(b"> ")
    terminal.type(b"yes.\n")
    terminal.type(CAT.encode() + b"\n")
    assert terminal.end() == 0
    assert (state / "mt" / "history").read_text().splitlines() == ["yes.", CAT]
    terminal = Terminal(env={**os.environ, "TERM": "vt100"})
    terminal.wait_for(b"> ")
    said = terminal.type(UP + UP + b"\n")
    assert "s\xec.".encode() in said
    assert terminal.end() == 0


def test_a_history_that_cannot_be_kept_is_done_without(trained: Path, state: Path) -> None:
    (state / "mt").write_text("a file where the folder should be")
    terminal = Terminal(env={**os.environ, "TERM": "dumb"})
    terminal.wait_for(b"> ")
    assert SENTENCES[CAT].encode() in terminal.type(CAT.encode() + b"\n")
    assert terminal.end() == 0
    assert b"istory" not in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_where_the_history_is(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    assert prompt.history_file() == state / "mt" / "history"
    for folder in ("", "not/absolute"):
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        assert prompt.history_file() == Path.home() / ".local" / "state" / "mt" / "history"


class Fussy:
    """A translator whose engine fails with all but one sentence."""

    source_limit = 22

    def translate(self, sentences: list[str], prefix: str) -> list[Translation]:
        if sentences == ["mistake"]:
            raise UserError("that is your mistake")
        if sentences == ["bug"]:
            raise ValueError("that is ours")
        return [Translation(sentences[0])]


def test_errors_of_an_engine_do_not_end_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["mistake", "bug", "caff\udce8", "good"])

    def line() -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    start_logging()
    monkeypatch.setattr(prompt, "_line", line)
    assert prompt.ask(cast("Translator", Fussy()), lambda one: f"said {one.source}", "") == 0
    out, err = capsys.readouterr()
    assert out == "said good\n"
    said = err.splitlines()
    assert said[1:4] == [
        "mt: that is your mistake",
        "mt: that could not be translated: ValueError: that is ours",
        "that was not UTF-8",
    ]
    assert re.fullmatch(r"\d\.\d\d s", said[4])
