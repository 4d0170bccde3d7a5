"""`mt translate` with files, pipes and standard input: line for line, whatever the bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import processes
from tests.cli.translating import CAT, CAT_IT, DOG, DOG_IT, Mt
from tests.conftest import KNOWN, Result


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch, here: Path) -> Callable[[bytes], None]:
    def give(content: bytes) -> None:
        (here / "stdin").write_bytes(content)
        monkeypatch.setattr(sys, "stdin", (here / "stdin").open())

    return give


def test_line_for_line_with_blank_lines(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text(f"{CAT}\n\n{DOG}\n \n\n{CAT}\n")
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert result == Result(0, "", "")
    assert Path("out.txt").read_bytes().decode() == f"{CAT_IT}\n\n{DOG_IT}\n\n\n{CAT_IT}\n"
    assert mt("translate", "--input", "in.txt").out == Path("out.txt").read_text()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"yes.\n\n", ["s\xec.", ""]),
        (b"yes.", ["s\xec."]),  # no line end at the end of the file
        (b"yes.\r\n\r\nyes.\r\n", ["s\xec.", "", "s\xec."]),
        (b"\xef\xbb\xbfyes.\nyes.\n", ["s\xec.", "s\xec."]),
        ("yes.\u2028\nyes.\x0byes.\x0c\nyes.\x85\n".encode(), None),
        ("\u2028\n\u2029\x1e\n".encode(), ["", ""]),
    ],
    ids=ascii,
)
def test_only_line_feeds_end_lines(
    trained: Path, mt: Mt, content: bytes, lines: list[str] | None
) -> None:
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert (result.status, result.out) == (0, "")
    written = Path("out.txt").read_bytes()
    assert b"\r" not in written
    found = written.decode().split("\n")
    assert found.pop() == ""
    if lines is None:
        assert len(found) == content.count(b"\n")
        assert all(len(line.splitlines()) == 1 for line in found)
    else:
        assert found == lines


def test_line_for_line_on_anything(trained: Path, mt: Mt) -> None:
    odd = [
        "", " ", "word " * 10_000, "zzz yyy xxx", "\x01\x02\x7f", "\x00", "漢字かな交じり文" * 50,
        "Привет, мир!", "مرحبا بالعالم", "สวัสดีชาวโลก" * 30, "42", "-Yes", "--help", "[EOS]",
        "<unk>", "\ufeff", "\u2028", "\r", "a\rb", "…" * 200, "!" * 500, "x" * 5000,
        "e\u0301" * 300, "&amp;" * 99, "😀👩\u200d👧" * 60, "\u200b", "\ufffd",
        "a.b.c." * 100, CAT * 30,
    ]  # fmt: skip
    Path("in.txt").write_text("".join(f"{line}\n{CAT}\n" for line in odd), newline="\n")
    result = mt("translate", "--input", "in.txt")
    assert result.status == 0
    lines = result.out.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 2 * len(odd)
    assert lines[1::2] == [CAT_IT] * len(odd)
    assert all(len(f"x{line}x".splitlines()) == 1 for line in lines)
    assert "line 5: 10000 tokens, over the model's limit of 22; translated in 455 parts" in (
        result.err
    )


def test_bytes_that_are_not_utf8_may_be_replaced(
    trained: Path, mt: Mt, stdin: Callable[[bytes], None]
) -> None:
    content = f"{CAT}\n".encode() + b"caff\xe8\n\xed\xa0\xbd\n" + f"{DOG}\n".encode()
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--errors", "replace", "--output", "out.txt")
    assert result.status == 0
    lines = Path("out.txt").read_text("utf-8").splitlines()
    assert (lines[0], lines[3], len(lines)) == (CAT_IT, DOG_IT, 4)
    assert "not UTF-8, what could not be read replaced: line 2, 3\n" in result.err
    stdin(content)
    assert mt("translate", "--errors", "replace").out.splitlines() == lines


def test_a_sentence_of_the_command_line_that_is_not_utf8(trained: Path, mt: Mt) -> None:
    result = mt("translate", "yes.", "caff\udce8")
    assert result.status == 2
    assert result.err.startswith("mt: the sentences given, line 2: not UTF-8 (byte 5 of the line)")
    assert result.err.endswith("-t UTF-8, or give --errors replace\n")
    result = mt("translate", "yes.", "caff\udce8", "--errors", "replace")
    assert (result.status, len(result.out.splitlines())) == (0, 2)


def test_standard_input_may_be_closed(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    result = mt("translate")
    assert result == Result(2, "", "mt: standard input is closed; give sentences or --input FILE\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly_and_leaves_no_file(trained: Path, number: int) -> None:
    Path("big.txt").write_text(f"{CAT}\n" * 300_000)
    process = processes.start(
        "translate", "--input", "big.txt", "--output", "big.it", folder=trained
    )
    processes.until(lambda: [p for p in trained.glob(".big*") if p.stat().st_size], process)
    assert process.pid
    os.kill(process.pid, number)
    assert processes.ended(process) == (130 if number == signal.SIGINT else -number)
    said = "mt: interrupted\n" if number == signal.SIGINT else ""
    assert Path("err.txt").read_text() == said
    assert not Path("big.it").exists()


def test_text_that_is_not_utf8_is_named_and_leaves_no_output(trained: Path, mt: Mt) -> None:
    content = f"{CAT}\nperché\n".encode() + "caffè\n".encode("latin-1")
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert (result.status, result.out) == (2, "")
    assert f"{trained}/in.txt, line 3: not UTF-8 (byte 5 of the line)" in result.err
    assert "iconv" in result.err
    assert not Path("out.txt").exists()
    Path("out.txt").write_text("old")
    assert mt("translate", "--input", "in.txt", "--output", "out.txt").status == 2
    assert Path("out.txt").read_text() == "old"
    assert not list(Path().glob(".out*"))


@pytest.mark.parametrize("name", ["text", "./text", "link"])
def test_the_input_is_not_overwritten(trained: Path, mt: Mt, name: str) -> None:
    Path("text").write_text(f"{CAT}\n{DOG}\n")
    Path("link").symlink_to("text")
    result = mt("translate", "--input", "text", "--output", name)
    assert result.status == 2
    assert "is the input: it would be overwritten" in result.err
    assert Path("text").read_text() == f"{CAT}\n{DOG}\n"


def test_text_of_two_bytes_a_letter_gets_advice_that_helps(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_bytes(CAT.encode("utf-16"))
    result = mt("translate", "--input", "in.txt")
    assert result.status == 2
    assert "line 1: not UTF-8" in result.err
    assert "iconv -f UTF-16 -t UTF-8" in result.err


@pytest.mark.parametrize("arguments", [[], ["--input", "-"]])
def test_standard_input(
    trained: Path, mt: Mt, stdin: Callable[[bytes], None], arguments: list[str]
) -> None:
    stdin(f"{CAT}\n\n{DOG}".encode())
    assert mt("translate", *arguments) == Result(0, f"{CAT_IT}\n\n{DOG_IT}\n", "")
    stdin(b"")
    assert mt("translate", *arguments) == Result(0, "", "")
    stdin(b"yes.\n\xe8\n")
    result = mt("translate", *arguments)
    assert result.status == 2
    assert "standard input, line 2: not UTF-8" in result.err


def test_a_pipe_gets_an_answer_to_each_line_as_it_comes(trained: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mt", "translate"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    for source, target in KNOWN[:3]:
        process.stdin.write(f"{source}\n".encode())
        assert process.stdout.readline().decode() == f"{target}\n"
    out, err = process.communicate(f"\n{CAT}".encode())
    assert (process.returncode, out.decode(), err) == (0, f"\n{CAT_IT}\n", b"")


def test_a_reader_that_leaves_ends_it_quietly(trained: Path) -> None:
    Path("big.txt").write_text(f"{CAT}\n" + "\n" * 300_000)  # more than a pipe holds
    process = subprocess.Popen(
        [sys.executable, "-m", "mt", "translate", "--input", "big.txt"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().decode() == f"{CAT_IT}\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141  # what a shell shows for SIGPIPE


def test_utf8_whatever_the_locale(trained: Path) -> None:
    command = [sys.executable, "-m", "mt", "translate", "the coffee is hot.", "Perché (no)?"]
    chosen = ("LC_", "LANG", "PYTHONIO", "PYTHONUTF8", "PYTHONCOERCE")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(chosen)}
    settings = [
        {"LC_ALL": "C", "LANG": "C"},
        {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    ]
    processes = [
        subprocess.Popen(command, env=plain | s, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for s in settings
    ]
    for process in processes:
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert out.split(b"\n")[0].decode("utf-8") == "il caffè è caldo."
        assert "Perché" in err.decode("utf-8")
