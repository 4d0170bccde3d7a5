"""What a config may hold, as data: a JSON Schema for editors, every setting as a row of a table.

Both are read off the types in `mt.config`. Rules between settings (`Section.mistakes`) are in
neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mt.complaints import show
from mt.config import Config

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Setting(NamedTuple):
    """One key of a section, in words."""

    key: str
    kind: str  # what it may be, as "whole number, 1 or more"
    required: bool
    default: str | None  # as it stands in a config; None where it is told elsewhere
    meaning: str
    choices: tuple[str, ...]  # all there are, if they can be counted
    section: str | None  # the dotted name of the section that it is, if it is one


class SectionTable(NamedTuple):
    """A section of the config: its dotted name, "" for the whole, what it is about, its keys."""

    name: str
    meaning: str
    settings: tuple[Setting, ...]


def json_schema() -> Schema:
    """The JSON Schema of a config file. `name` may be missing: a file is named after itself."""
    schema = Config.model_json_schema()
    for node in _nodes(schema):
        node.pop("title", None)
    for section in (schema, *schema["$defs"].values()):
        for prop in section["properties"].values():
            if "$ref" in prop:
                about = _target(schema, prop)["description"].split("\n\n")[0]
                prop.setdefault("description", about)
                prop.pop("default", None)  # an editor would write the whole section out
    schema["required"].remove("name")
    return {"$schema": DIALECT, "title": "A config of mt", **schema}


def tables() -> Iterator[SectionTable]:
    """All sections in the order of the config, each before those within it."""
    schema = json_schema()
    yield from _tables(schema, schema, "")


def _tables(schema: Schema, section: Schema, name: str) -> Iterator[SectionTable]:
    required = section.get("required", ())
    rows, within = [], []
    for key, prop in section["properties"].items():
        dotted = f"{name}.{key}" if name else key
        rows.append(_setting(schema, key, prop, dotted, key in required))
        if rows[-1].section:
            within.append((prop, dotted))
    yield SectionTable(name, section["description"], tuple(rows))
    for prop, dotted in within:
        inner = _section_of(schema, prop)
        assert inner is not None
        yield from _tables(schema, inner, dotted)


def source_table() -> SectionTable:
    """The keys of an item in a list of corpora."""
    schema = json_schema()
    section = schema["$defs"]["SourceConfig"]
    rows = (_setting(schema, k, p, k, False) for k, p in section["properties"].items())
    return SectionTable("", section["description"], tuple(rows))


def _setting(schema: Schema, key: str, prop: Schema, dotted: str, required: bool) -> Setting:
    section = _section_of(schema, prop)
    default = None if required or "default" not in prop else _default(prop["default"])
    options = [_choices(option) for option in _options(prop)]
    choices = tuple(word for option in options for word in option) if all(options) else ()
    return Setting(
        key,
        _kind(prop),
        required,
        default,
        prop.get("description", ""),
        choices,
        dotted if section else None,
    )


def _default(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_default, value))}]"
    return show(value).replace("e-0", "e-")


def _options(prop: Schema) -> list[Schema]:
    options: list[Schema] = prop.get("anyOf", [prop])
    return options


def _section_of(schema: Schema, prop: Schema) -> Schema | None:
    """The section that a key holds, None if it holds a value."""
    return next((_target(schema, option) for option in _options(prop) if "$ref" in option), None)


def _target(schema: Schema, prop: Schema) -> Schema:
    found: Schema = schema["$defs"][prop["$ref"].rpartition("/")[2]]
    return found


def _choices(option: Schema) -> list[str]:
    if option.get("type") == "boolean":
        return ["true", "false"]
    if option.get("type") == "null":
        return ["null"]
    return list(dict.fromkeys(show(choice) for choice in option.get("enum", ())))


def _kind(prop: Schema) -> str:
    if "examples" in prop:
        return f"text, as {_or([f'`{example}`' for example in prop['examples']])}"
    return _or([_kind_of_one(option) for option in _options(prop)])


def _kind_of_one(option: Schema) -> str:
    if "$ref" in option:
        return "section"
    if choices := _choices(option):
        return _or([f"`{choice}`" for choice in choices])
    kind = option["type"]
    if kind == "array":
        return "list"
    if kind == "string":
        return "text"
    bounds = _bounds(option, whole=kind == "integer")
    return ", ".join(["whole number" if kind == "integer" else "number", *bounds])


def _bounds(option: Schema, whole: bool) -> Iterator[str]:
    least, above = option.get("minimum"), option.get("exclusiveMinimum")
    if whole and above is not None:
        least, above = above + 1, None
    if least is not None:
        yield f"{least:g} or more"
    if above is not None:
        yield f"over {above:g}"
    if "maximum" in option:
        yield f"{option['maximum']:g} or less"
    if "exclusiveMaximum" in option:
        limit = option["exclusiveMaximum"]
        yield f"under {limit:g}" if limit < 10**6 else f"under {limit:,}"


def _or(words: list[str]) -> str:
    *first, last = words
    if first and any(", " in word for word in words):
        return f"{'; '.join(first)}; or {last}"
    return f"{', '.join(first)} or {last}" if first else last


def _nodes(node: Any, named: bool = False) -> Iterator[Schema]:
    """Every schema within a schema; not the tables of names in it, which may have a key `title`."""
    if isinstance(node, list):
        for item in node:
            yield from _nodes(item)
    elif isinstance(node, dict):
        if not named:
            yield node
        for key, value in node.items():
            if key not in ("default", "examples", "enum"):
                yield from _nodes(value, named=not named and key in ("properties", "$defs"))
