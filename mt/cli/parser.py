"""The argument parser that all commands use: errors in one line, with the way out."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import NoReturn


class _Formatter(argparse.HelpFormatter):
    """Room for a name and its help on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


class Parser(argparse.ArgumentParser):
    """argparse, without abbreviations, that says what was meant and exits with status 2."""

    def __init__(self, **settings: object) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(**settings)  # type: ignore[arg-type]
        self._given: list[str] = []  # what it was given to parse

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}{self._hint(message)}", file=sys.stderr)
        print(f"usage: see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)

    def _hint(self, message: str) -> str:
        if "invalid choice" in message and (word := _between(message, "invalid choice: '", "'")):
            near = difflib.get_close_matches(word, self._commands(), n=1)
            return f"; did you mean {near[0]}?" if near else ""
        if "are required" in message:
            strange = [a for a in self._given if a.startswith("--") and a not in self._options()]
            return self._option_hint(" ".join(strange)) if strange else ""
        if "unrecognized arguments: " in message:
            return self._option_hint(message.partition("unrecognized arguments: ")[2])
        return ""

    def _option_hint(self, given: str) -> str:
        first = given.split()[0]
        before = self._given[: self._given.index(first)] if first in self._given else []
        if before[-2:-1] == ["--set"]:
            return f"; a setting is one word, with =: --set {before[-1]}={first}"
        option = first.split("=")[0]
        if option == "--config" and "--model" in self._options():
            return "; a model has its config in its folder: --model NAME or --model FOLDER"
        near = difflib.get_close_matches(option, self._options(), n=1)
        if near:
            return f"; did you mean {near[0]}?"
        if self.prog.endswith("translate"):
            return f"; a sentence that begins with a dash goes after --: {self.prog} -- '{given}'"
        return ""

    def _options(self) -> list[str]:
        return list(self._option_string_actions)

    def _commands(self) -> list[str]:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return list(action.choices)
        return []

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Unknown options are errors of the command they were given to, so that it can help."""
        self._given = list(sys.argv[1:] if args is None else args)
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]
