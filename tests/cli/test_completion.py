"""Completion, in the shells themselves: what each offers for a line that is begun."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.cli.command_tree import Command, command_tree
from tests.conftest import Result

Mt = Callable[..., Result]
_, COMMANDS = command_tree()

# A bash that fills COMP_WORDS as readline does: = is a word of its own. Each line of input is one
# to complete, its words parted by TABs; the answer to each ends with a line of its own.
BASH = r"""
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
source ./script
while IFS= read -r line; do
  COMP_WORDS=(); while [[ $line == *$'\t'* ]]; do
    COMP_WORDS+=("${line%%$'\t'*}"); line=${line#*$'\t'}; done
  COMP_WORDS+=("$line"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mt
  printf '%s\n' "${COMPREPLY[@]}" '<end>'
done
"""
FISH = "source ./script; while read line; complete -C $line; echo '<end>'; end"


@pytest.fixture
def folder(here: Path) -> Path:
    for name in ("first", "second"):
        (here / "weights" / name).mkdir(parents=True)
        (here / "weights" / name / "config.yaml").write_text("", "utf-8")
    (here / "weights" / "no-model").mkdir()
    (here / "configs").mkdir()
    (here / "mine.yaml").write_text("", "utf-8")
    (here / "my book.en").write_text("", "utf-8")
    return here


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def answers(command: list[str], lines: list[str]) -> list[set[str]]:
    """What the shell offers for each line; without fish's descriptions."""
    here = Path.cwd()
    home = {**os.environ, "HOME": str(here), "XDG_CONFIG_HOME": str(here / "configs")}
    done = subprocess.run(
        command, input="".join(f"{line}\n" for line in lines), env=home,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    parts = done.stdout.split("<end>\n")[:-1]
    assert len(parts) == len(lines)
    return [{line.split("\t")[0] for line in part.splitlines()} - {""} for part in parts]


def as_readline(line: str) -> str:
    words = line.replace("=", " = ").split(" ")
    return "\t".join([*filter(None, words[:-1]), words[-1]])


def options_of(command: Command) -> set[str]:
    return {flag for option in command.options for flag in option.flags}


def test_bash(folder: Path, mt: Mt) -> None:
    needs("bash")
    (folder / "script").write_text(mt("completion", "bash").out, "utf-8")
    expected = {
        "mt ": {command.name for command in COMMANDS},
        "mt tra": {"train", "translate"},
        "mt --v": {"--version"},
        **{f"mt {command.name} -": options_of(command) for command in COMMANDS},
        "mt evaluate --split ": {"test", "valid"},
        "mt evaluate --split=v": {"valid"},
        "mt translate --engine o": {"onnx"},
        "mt completion ": {"bash", "zsh", "fish"},
        "mt translate --model ": {"first", "second", "weights", "configs"},
        "mt translate --model=s": {"second"},
        "mt translate --model weights/n": {"weights/no-model"},
        "mt train --config ": {"mine.yaml", "weights", "configs"},
        "mt translate --input m": {"mine.yaml", "my book.en"},
        "mt export --output ": {"weights", "configs"},
        "mt train --set training.batch": {"training.batch_size=", "training.batch_tokens="},
        "mt train --set model.norm=": {"pre", "post"},
        "mt train --set=model.norm=po": {"post"},
        "mt train --config mine.yaml --set training.keep.l": {"training.keep.last="},
        "mt train --restart --conf": {"--config"},
        "mt translate --beam-size ": set(),
        "mt translate -- --mod": set(),
        "mt nonsense --": set(),
    }
    lines = [as_readline(line) for line in expected]
    found = answers(["bash", "--norc", "-c", BASH], lines)
    assert dict(zip(expected, found, strict=True)) == expected


def test_fish(folder: Path, mt: Mt) -> None:
    needs("fish")
    (folder / "script").write_text(mt("completion", "fish").out, "utf-8")
    expected = {
        "mt ": {command.name for command in COMMANDS},
        **{
            f"mt {command.name} --": {f for f in options_of(command) if f.startswith("--")}
            for command in COMMANDS
        },
        "mt evaluate --split ": {"test", "valid"},
        "mt completion z": {"zsh"},
        "mt translate --model ": {"first", "second", "weights/", "configs/"},
        "mt translate --model=s": {"--model=second"},
        "mt train --config ": {"mine.yaml", "weights/", "configs/"},
        "mt translate --input my": {"my book.en"},
        "mt train --set training.batch_s": {"training.batch_size="},
        "mt train --set model.norm=p": {"model.norm=pre", "model.norm=post"},
        "mt translate --beam-size ": set(),
    }
    found = answers(["fish", "--no-config", "-c", FISH], list(expected))
    assert dict(zip(expected, found, strict=True)) == expected


def test_zsh(folder: Path, mt: Mt) -> None:
    """What a zsh with a person at it makes of lines with a TAB at their ends."""
    needs("zsh")
    (folder / "script").write_text(mt("completion", "zsh").out, "utf-8")
    (folder / ".zshrc").write_text(
        "autoload -U compinit; compinit -u -D\nmt() { print -r -- \"<<$*>>\" }\n"
        "source ./script\nPS1='READY> '\n",
        "utf-8",
    )  # fmt: skip
    expected = {
        "mt transl": "translate",
        "mt evaluate --spl": "evaluate --split",
        "mt evaluate --split v": "evaluate --split valid",
        "mt translate --model=sec": "translate --model=second",
        "mt train --config m": "train --config mine.yaml",
        "mt train --set training.batch_t": "train --set training.batch_tokens=",
        "mt train --set model.norm=po": "train --set model.norm=post",
        "mt completion fi": "completion fish",
    }
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(ZDOTDIR=str(folder), TERM="dumb")
        os.execvp("zsh", ["zsh", "-i"])
    try:
        read_until(terminal, "READY> ")
        found = {}
        for line in expected:
            os.write(terminal, f"{line}\t\n".encode())
            found[line] = read_until(terminal, ">>").split("<<")[-1].removesuffix(">>").strip()
            read_until(terminal, "READY> ")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    assert found == expected


def read_until(terminal: int, what: str) -> str:
    seen, give_up = "", time.monotonic() + 60
    while what not in seen:
        assert time.monotonic() < give_up, seen
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 1).decode("utf-8", "replace")
    return seen


def test_a_shell_that_is_not_known(mt: Mt) -> None:
    result = mt("completion", "tcsh")
    assert (result.status, result.out) == (2, "")
    assert "invalid choice: 'tcsh'" in result.err
