"""Writes what is made from the code: docs/config.md, docs/commands.md, configs/schema.json.

    python scripts/write_reference.py

The tests compare these files with what this makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from mt.cli.command_tree import Argument, Command, command_tree
from mt.config_schema import SectionTable, json_schema, source_table, tables

ROOT = Path(__file__).parents[1]
MADE = "<!-- Made by scripts/write_reference.py; changes here would be lost. -->"


def pages() -> dict[Path, str]:
    """The files and what is in them."""
    schema = json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
    return {
        ROOT / "docs" / "config.md": "\n".join(config_page()) + "\n",
        ROOT / "docs" / "commands.md": "\n".join(commands_page()) + "\n",
        ROOT / "configs" / "schema.json": schema,
    }


def config_page() -> Iterator[str]:
    yield "# The config"
    yield ""
    yield MADE
    yield ""
    yield "One YAML file describes a run. It needs `data` with a source and two languages; all else"
    yield "has a default. `mt config --show FILE` prints a config with every default written out,"
    yield "and `--set data.max_length=100` lays a setting over the file, in every command that"
    yield "reads one. Unknown keys, wrong types and settings that contradict each other are"
    yield "refused, all at once, before anything happens."
    yield ""
    yield "Editors that speak YAML complete and check a config whose first line names the schema,"
    yield "as those in `configs/` do (`mt config --schema > schema.json` writes it anywhere):"
    yield ""
    yield "```yaml"
    yield "# yaml-language-server: $schema=schema.json"
    yield "```"
    for table in tables():
        yield ""
        depth = table.name.count(".") + 2 if table.name else 2
        yield f"{'#' * depth} {table.name or 'The whole'}"
        yield ""
        if table.name:
            yield _paragraphs(table.meaning)
            yield ""
        yield from _setting_rows(table)
        if table.name == "data":
            yield ""
            yield "### items of a list of sources"
            yield ""
            yield _paragraphs(source_table().meaning)
            yield ""
            yield from _setting_rows(source_table())


def _setting_rows(table: SectionTable) -> Iterator[str]:
    yield "| key | may be | default | meaning |"
    yield "|---|---|---|---|"
    for setting in table.settings:
        kind = setting.kind
        if setting.section:
            kind = kind.replace("section", f"[section](#{setting.section.replace('.', '')})")
        elif table.name == "data":
            kind = kind.replace("list", "[list](#items-of-a-list-of-sources)")
        if setting.required:
            default = "must be given"
        elif setting.default is not None:
            default = f"`{setting.default}`"
        else:
            default = "as there" if setting.section else "the file's name"
        yield f"| `{setting.key}` | {kind} | {default} | {_cell(setting.meaning)} |"


def commands_page() -> Iterator[str]:
    whole, commands = command_tree()
    yield "# The commands"
    yield ""
    yield MADE
    yield ""
    yield f"{whole.description} Results go to"
    yield "stdout, all else to stderr. The exit status is 0 on success, 2 for a mistake in the"
    yield "command, the config or the input, 1 for a failure while running, 130 and 143 after"
    yield "SIGINT and SIGTERM."
    yield ""
    yield "| command | does |"
    yield "|---|---|"
    for command in commands:
        yield f"| [`mt {command.name}`](#mt-{command.name}) | {_cell(command.summary)} |"
    yield ""
    yield "Options of `mt` itself:"
    yield ""
    yield from _options(whole.options)
    for command in commands:
        yield ""
        yield f"## mt {command.name}"
        yield ""
        yield "```text"
        yield from _usage(command)
        yield "```"
        yield ""
        yield command.description
        if command.positional:
            yield ""
            yield "| argument | meaning |"
            yield "|---|---|"
            for argument in command.positional:
                yield f"| `{argument.value}` | {_meaning(argument)} |"
        for group in dict.fromkeys(option.group for option in command.options):
            yield ""
            yield f"**{group[0].upper()}{group[1:]}**" if group else "**Options**"
            yield ""
            yield from _options([option for option in command.options if option.group == group])


def _options(options: list[Argument]) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        flags = ", ".join(option.flags)
        value = f" {option.value}" if option.value else ""
        yield f"| `{_cell(flags + value)}` | {_meaning(option)} |"


def _meaning(argument: Argument) -> str:
    """With what must be known beside the help: the choices, if they are not in the table yet."""
    more = "; must be given" if argument.required and argument.flags else ""
    return _cell(argument.meaning) + more


def _usage(command: Command, width: int = 96) -> Iterator[str]:
    """`mt NAME` with its arguments, in lines of up to `width`."""
    exclusive = {name: (names, must) for names, must in command.exclusive for name in names}
    line, indent = f"mt {command.name}", " " * (len(command.name) + 4)
    told: set[str] = set()
    for argument in [*command.options, *command.positional]:
        if argument.name in told or argument.name == "--help":
            continue
        names, must = exclusive.get(argument.name, ((argument.name,), argument.required))
        told.update(names)
        together = [a for a in command.arguments if a.name in names]
        word = " | ".join(_word(a) for a in together)
        if len(names) > 1 and must:
            word = f"({word})"
        elif not must:
            word = f"[{word}]"
        word += "..." if argument.many else ""
        if len(line) + len(word) >= width:
            yield line
            line = indent + word
        else:
            line += f" {word}"
    yield line


def _word(argument: Argument) -> str:
    return " ".join(filter(None, [*argument.flags[-1:], argument.value]))


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path.relative_to(ROOT))
