"""The commands and their options as plain data, read off the parser: for completion and the manual.

Private parts of argparse are touched here and nowhere else.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

# What is expected where a command line says this; the rest is free text.
KINDS = {"FILE": "file", "DIR": "folder", "NAME": "model", "NAME|DIR": "model", "KEY=VALUE": "set"}
CONFIGS = ("--config", "--show")  # files that are configs
WORDS = {"--device": ("auto", "cpu", "cuda", "mps")}  # what is most often meant, of more


class Argument(NamedTuple):
    """An option, or a positional argument, which has no flags."""

    flags: tuple[str, ...]
    value: str  # what stands for its value, "" for a switch
    meaning: str
    choices: tuple[str, ...]
    required: bool
    many: bool  # may be repeated
    group: str  # the heading it stands under, "" for the usual ones

    @property
    def name(self) -> str:
        """The long flag, or what a positional argument is called."""
        return self.flags[-1] if self.flags else self.value

    @property
    def kind(self) -> str:
        """What its value is: "words", "file", "config", "folder", "model", "set" or "text"."""
        if self.words:
            return "words"
        return "config" if self.name in CONFIGS else KINDS.get(self.value, "text")

    @property
    def words(self) -> tuple[str, ...]:
        """What to offer for its value."""
        return self.choices or WORDS.get(self.name, ())


class Command(NamedTuple):
    """One of the commands, or the whole with the name ""."""

    name: str
    summary: str
    description: str
    arguments: tuple[Argument, ...]
    exclusive: tuple[tuple[tuple[str, ...], bool], ...]  # names of which one is given, or must be

    @property
    def options(self) -> list[Argument]:
        """Those with flags."""
        return [argument for argument in self.arguments if argument.flags]

    @property
    def positional(self) -> list[Argument]:
        """Those without."""
        return [argument for argument in self.arguments if not argument.flags]


def command_tree() -> tuple[Command, list[Command]]:
    """The whole, and its commands in the order of the help."""
    from mt.cli.main import build_parser

    parser = build_parser()
    (subparsers,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    summaries = {action.dest: action.help or "" for action in subparsers._choices_actions}
    commands = [_command(name, p, summaries[name]) for name, p in subparsers.choices.items()]
    return _command("", parser, parser.description or ""), commands


def _command(name: str, parser: argparse.ArgumentParser, summary: str) -> Command:
    groups = {id(a): _title(g) for g in parser._action_groups for a in g._group_actions}
    actions = [a for a in parser._actions if not isinstance(a, argparse._SubParsersAction)]
    actions.sort(key=lambda action: isinstance(action, argparse._HelpAction))
    return Command(
        name,
        summary,
        (parser.description or "").replace("%%", "%"),
        tuple(_argument(action, groups[id(action)]) for action in actions),
        tuple(
            (tuple(_argument(a, "").name for a in group._group_actions), group.required)
            for group in parser._mutually_exclusive_groups
        ),
    )


def _title(group: Any) -> str:
    usual = ("options", "optional arguments", "positional arguments")
    return "" if group.title in usual else str(group.title)


def _argument(action: argparse.Action, group: str) -> Argument:
    choices = tuple(map(str, action.choices or ()))
    value = ""
    if action.nargs != 0:
        value = str(action.metavar or ("|".join(choices) if choices else action.dest.upper()))
    repeated = isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+")
    meaning = (action.help or "").replace("%%", "%")
    flags = tuple(action.option_strings)
    required = action.required and action.nargs not in ("*", "?")
    return Argument(flags, value, meaning, choices, required, repeated, group)
