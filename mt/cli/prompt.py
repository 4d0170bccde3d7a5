"""The prompt: sentences that a person types, each answered at once, until Ctrl-D."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.cli.output import Line
    from mt.decoding.translator import Translator

MOST_REMEMBERED = 1000  # lines of the history


def ask(translator: Translator, line: Line, prefix: str) -> int:
    """Asks for sentences until the end of input; nothing that is typed ends it.

    `line` makes what is printed of a translation.
    """
    print("Type a sentence; Ctrl-D ends.", file=sys.stderr)
    with _history():
        while True:
            try:
                sentence = os.fsencode(_line()).decode("utf-8")
            except EOFError:
                print(file=sys.stderr)
                return 0
            except UnicodeError:
                print("that was not UTF-8", file=sys.stderr)
                continue
            _answer(translator, line, sentence, prefix)


def _answer(translator: Translator, line: Line, sentence: str, prefix: str) -> None:
    from mt.cli.notes import Notes
    from mt.cli.report import log
    from mt.errors import RunError, UserError

    start = time.perf_counter()
    try:
        (translation,) = translator.translate([sentence], prefix=prefix)
    except (UserError, RunError) as error:
        log.error("mt: %s", error)
    except Exception as error:  # an engine's own; the next sentence may be another matter
        log.error("mt: that could not be translated: %s: %s", type(error).__name__, error)
    else:
        print(line(translation), flush=True)
        notes = Notes(translator.source_limit)
        notes.take([translation])
        notes.say()
        log.info("%.2f s", time.perf_counter() - start)


def _line() -> str:
    """A line that a person types; the prompt is never among results that go elsewhere."""
    if sys.stdout.isatty():
        return input("> ")
    print("> ", end="", file=sys.stderr, flush=True)
    return input()


@contextlib.contextmanager
def _history() -> Iterator[None]:
    """Line editing, and the lines of earlier times; what cannot be read or kept is done without."""
    try:
        import readline
    except ImportError:
        yield
        return
    path = history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    try:
        yield
    finally:
        readline.set_history_length(MOST_REMEMBERED)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)


def history_file() -> Path:
    """Where the lines that were typed are kept: the folder for a user's state, by XDG."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"  # noqa: PTH117
    return folder / "mt" / "history"
