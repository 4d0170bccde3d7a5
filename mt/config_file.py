"""Config files: YAML to a `Config` and back, with every mistake in words and at its place.

What the settings are is in `mt.config`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from mt.complaints import in_words, nearest, show
from mt.config import Config, Section
from mt.errors import UserError
from mt.strict_yaml import KeyPath, parse_yaml, read_yaml


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The config in the YAML file `path`, with `section.key=value` overrides laid over it.

    A file without `name` is named after itself. Raises `UserError` with every mistake in it:
    the line, the key, the value, what was expected and the nearest valid name.
    """
    data, lines = read_yaml(path)
    if data is None:
        raise UserError(f"{path.absolute()}: the config is empty")
    if not isinstance(data, dict):
        raise UserError(f"{path.absolute()}: expected `key: value` lines, found {_kind(data)}")
    data.setdefault("name", path.stem)
    places: dict[str, str] = {_dotted(key): f"line {line}" for key, line in lines.items()}
    for override in overrides:
        _apply_override(data, override, places)
    return _validate(data, places, str(path.absolute()))


def config_from_dict(
    data: dict[str, Any],
    where: str,
    overrides: Sequence[str] = (),
    places: Mapping[str, str] | None = None,
) -> Config:
    """The config in `data`, checked as `load_config` does; `where` names it in messages.

    `places` says where a key in it came from, as {"data.src": "--src"}.
    """
    data, places = copy.deepcopy(data), dict(places or {})
    for override in overrides:
        _apply_override(data, override, places)
    return _validate(data, places, where)


def dump_config(config: Config) -> str:
    """The resolved config as YAML that `load_config` reads back to an equal one."""
    return yaml.safe_dump(_plain(config.model_dump()), sort_keys=False, allow_unicode=True)


def dump_settings(config: Config) -> str:
    """The same of what was set alone; the rest has its default values when it is read again."""
    settings = _plain(config.model_dump(exclude_unset=True))
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, default_flow_style=None)


def _plain(value: Any) -> Any:
    """Whole numbers without a point: 500, not 500.0."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def differences(old: Config, new: Config) -> list[str]:
    """Settings in which two configs differ, as "model.d_model: 32 -> 64" lines."""
    flat_old, flat_new = _flat(old.model_dump()), _flat(new.model_dump())
    return [
        f"{key}: {show(flat_old.get(key))} -> {show(flat_new.get(key))}"
        for key in sorted(flat_old.keys() | flat_new.keys())
        if flat_old.get(key) != flat_new.get(key)
    ]


def _apply_override(data: dict[str, Any], override: str, places: dict[str, str]) -> None:
    key, equals, text = override.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", key):
        raise UserError(
            f"--set {override}: expected section.key=value, as in --set training.lr=1e-4"
        )
    value, _ = parse_yaml(text, f"--set {override}")
    *parents, last = key.split(".")
    section = data
    for parent in parents:
        if not isinstance(section.get(parent), dict):
            section[parent] = {}
        section = section[parent]
    section[last] = value
    for old in [old for old in places if _overlaps(key, old) and len(old) >= len(key)]:
        del places[old]  # what stood there in the file is replaced
    places[key] = f"--set {override}"


def _validate(data: dict[str, Any], places: dict[str, str], where: str) -> Config:
    """Builds the config, or raises with all mistakes: those of single keys, then those between."""
    found: dict[str, str] = {}
    between: dict[str, tuple[str, ...]] = {}  # the keys that a mistake is about, by its first one
    remaining = data
    config = None
    while config is None:
        try:
            config = Config.model_validate(remaining)
        except ValidationError as error:
            new = {_dotted(_real_path(e["loc"])): _explain(e) for e in error.errors()}
            # A section that is none was taken out: what it lacks now is no further mistake.
            new = {k: v for k, v in new.items() if k not in found and not _within(k, found)}
            if not new:
                break
            found.update(new)
            remaining = _without(remaining, found)
    if config is not None:
        for keys, message in config.mistakes():
            if not any(_overlaps(key, bad) for key in keys for bad in found):
                found[keys[0]], between[keys[0]] = message, keys
    if found:
        at = {key: _places(between.get(key, (key,)), places) for key in found}
        raise UserError(_report(found, at, where))
    assert config is not None
    return config


def _within(key: str, sections: Iterable[str]) -> bool:
    return any(key.startswith(f"{section}.") for section in sections)


def _places(keys: Sequence[str], places: dict[str, str]) -> str:
    """Where the values of keys that do not go together are from: "line 3 and --set lr=1".

    The first key's place is enough, unless it is a line and another one was laid over the file.
    """
    first, *others = dict.fromkeys([p for key in keys if (p := _place(key, places))] or [""])
    given = [] if first.startswith("--") else [p for p in others if p.startswith("--")]
    return " and ".join([first, *given])


def _place(key: str, places: dict[str, str]) -> str:
    """Where the value of a key is from, "" if it is a default; `--set` may have its section."""
    if key in places:
        return places[key]
    sections = [s for s, place in places.items() if place.startswith("--") and _within(key, [s])]
    return places[max(sections, key=len)] if sections else ""


def _report(found: dict[str, str], at: dict[str, str], where: str) -> str:
    def line(key: str) -> str:
        place = at[key]
        # A key that is absent has no line; its section has.
        return f"{place}: {key} {found[key]}" if place else f"{key} {found[key]}"

    def order(key: str) -> tuple[int, str]:
        number = re.match(r"line (\d+)", at[key])
        return (int(number[1]) if number else 10**9, key)

    lines = [line(key) for key in sorted(found, key=order)]
    if len(lines) == 1:
        return f"{where}: {lines[0]}"
    return "\n  ".join([f"{where}: {len(lines)} mistakes", *lines])


def _explain(error: Any) -> str:
    """What is wrong with one key, in words; `error` is pydantic's."""
    path = _real_path(error["loc"])
    if error["type"] == "extra_forbidden":
        return _unknown_key(path)
    if error["type"] == "string_pattern_mismatch":
        return f"({show(error['input'])}): {_pattern_hint(path)}"
    return in_words(error)


def _pattern_hint(path: KeyPath) -> str:
    hints = {
        "name": "expected a plain folder name: letters, digits, dot, dash and underscore",
        "device": "expected auto, cpu, cuda, cuda:N or mps",
    }
    return hints.get(str(path[-1]), "expected a language code: letters, digits, dash, underscore")


def _unknown_key(path: KeyPath) -> str:
    *parents, last = map(str, path)
    siblings = _fields(parents)
    near = nearest(last, siblings)
    elsewhere = [s for s in Config.sections if s not in parents and last in _fields([s])]
    if elsewhere:
        near = f"; did you mean {elsewhere[0]}.{last}?"
    return f"is not a key{near}" if near else f"is not a key; known here: {', '.join(siblings)}"


def _section(parent: type[Section], key: str) -> type[Section] | None:
    """The class of the section under `key`, None if that is not a section."""
    field = parent.model_fields.get(key)
    if field is None:
        return None
    options = getattr(field.annotation, "__args__", (field.annotation,))
    return next((o for o in options if isinstance(o, type) and issubclass(o, Section)), None)


def _fields(parents: list[str]) -> list[str]:
    section: type[Section] = Config
    for parent in parents:
        section = _section(section, parent) or section
    return list(section.model_fields)


def _real_path(location: KeyPath) -> KeyPath:
    """The path of a key without the marks that pydantic adds for members of a union."""
    section: type[Section] | None = Config
    for depth, part in enumerate(location):
        if section is None:
            return location[:depth]
        section = _section(section, str(part))
    return location


def _without(data: Any, bad: dict[str, str], at: str = "") -> Any:
    if not isinstance(data, dict):
        return data
    kept = {}
    for key, value in data.items():
        path = f"{at}.{key}" if at else str(key)
        if path not in bad:
            kept[key] = _without(value, bad, path)
    if not at:  # required keys that are at fault need a stand-in for the checks that follow
        kept.setdefault("name", "config")
        section = kept.setdefault("data", {})
        if isinstance(section, dict):
            for key, stand_in in (("src", "en"), ("tgt", "it")):
                if f"data.{key}" in bad:
                    section.setdefault(key, stand_in)
    return kept


def _overlaps(key: str, bad: str) -> bool:
    return key == bad or key.startswith(f"{bad}.") or bad.startswith(f"{key}.")


def _flat(data: Any, at: str = "") -> dict[str, Any]:
    if not isinstance(data, dict):
        return {at: data}
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat.update(_flat(value, f"{at}.{key}" if at else key))
    return flat


def _dotted(path: KeyPath) -> str:
    return ".".join(map(str, path))


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a single value"
