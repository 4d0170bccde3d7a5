"""YAML as people mean it: strict scalars, no duplicate keys, no tags, and the line of every key.

Knows nothing of what the keys mean; that is `mt.config`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from mt.errors import UserError

KeyPath = tuple[str | int, ...]
MOST_KEYS = 100_000

# YAML 1.2's core schema. PyYAML follows 1.1, where `no` is False, `1e-4` is text and `1:30` is 90.
_SCALARS = (
    ("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    ("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan)$"
        ),
        "-+.0123456789",
    ),
)


class _Loader(yaml.SafeLoader):
    """SafeLoader with the scalars above and nothing resolved to dates or sexagesimals."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(self.construct_scalar(node))  # 010 is ten, not eight

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        return float(self.construct_scalar(node).replace(".inf", "inf").replace(".nan", "nan"))


for _tag, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(_tag, _pattern, list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def parse_yaml(text: str, where: str) -> tuple[Any, dict[KeyPath, int]]:
    """The document in `text` and the line (from 1) of each key, by its path.

    Raises `UserError`, naming `where` and the line, for text that is not YAML, a key given twice,
    or a tag that asks for anything but plain data.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, {}
            lines: dict[KeyPath, int] = {}
            _collect_lines(node, (), lines, where)
            return loader.construct_document(node), lines
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        problem = error.problem or error.context or ""
        if "for the tag" in problem:
            problem = f"only plain data is read, no tags such as !!python ({problem})"
        raise UserError(f"{where}{line}: not valid YAML: {problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{where}: not valid YAML: {' '.join(str(error).split())}") from None


def read_yaml(path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """`parse_yaml` of a file; `UserError` when it is missing, a folder, unreadable or not UTF-8."""
    shown = path.absolute()
    try:
        return parse_yaml(path.read_text(encoding="utf-8-sig"), str(shown))
    except FileNotFoundError:
        hint = _other_extension(path)
        raise UserError(f"no such config file: {shown}{hint}") from None
    except IsADirectoryError:
        raise UserError(f"{shown} is a folder, not a config file") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UserError(f"{shown}, line {line}: not UTF-8 text") from None
    except OSError as error:
        raise UserError(f"cannot read config file {shown}: {error.strerror}") from None


def _other_extension(path: Path) -> str:
    other = path.with_suffix(".yml" if path.suffix == ".yaml" else ".yaml")
    return f" (there is {other.name}: did you mean that?)" if other.is_file() else ""


def _collect_lines(node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int], where: str) -> None:
    if len(lines) > MOST_KEYS:  # aliases of aliases can stand for more than any memory holds
        raise UserError(
            f"{where}: more than {MOST_KEYS:,} keys and list items, aliases written out"
        )
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            path = (*at, str(key.value))
            line = key.start_mark.line + 1
            if path in lines:
                name = ".".join(map(str, path))
                raise UserError(
                    f"{where}, line {line}: {name} is given twice (first on line {lines[path]}); "
                    "keep one of them"
                )
            lines[path] = line
            _collect_lines(value, path, lines, where)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*at, index)] = value.start_mark.line + 1
            _collect_lines(value, (*at, index), lines, where)
