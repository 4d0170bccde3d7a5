"""`mt completion`: a script with which a shell completes commands, options and their values."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "fish")


def add_parser(commands: Any) -> None:
    """Adds `completion` to the commands."""
    parser = commands.add_parser(
        "completion",
        help="a script that completes commands in bash, zsh or fish",
        description="Prints a script for a shell, which then completes commands, options, their "
        "values, settings of a config, files, and the models in weights/. bash: add `source "
        "<(mt completion bash)` to ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after "
        "`compinit`. fish: mt completion fish > ~/.config/fish/completions/mt.fish",
    )
    parser.add_argument("shell", choices=SHELLS, help="for which shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    from mt.cli.command_tree import command_tree
    from mt.cli.completion_scripts import bash, fish, zsh
    from mt.config_schema import tables

    whole, commands = command_tree()
    settings = {
        f"{table.name}.{setting.key}" if table.name else setting.key: setting.choices
        for table in tables()
        for setting in table.settings
        if setting.section is None
    }
    script = {"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell]
    print(script(whole, commands, settings), end="")
    return 0
