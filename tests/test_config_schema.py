"""The JSON schema says of a config what reading it says; and it is the one that is published."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from mt.config import Config
from mt.config_schema import json_schema, source_table, tables
from mt.strict_yaml import read_yaml
from tests.conftest import ROOT, Result, toy_config

SCHEMA = json.loads((ROOT / "configs" / "schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
CONFIGS = sorted((ROOT / "configs").glob("**/*.yaml"))
VALUES = (
    None, True, "", "x", "auto", "cuda:1", "pre", "true", 0, 1, 2, 7, -1, 0.5, 2.5, 10**6,
    "500", "500 steps", "1 epoch", " 2epochs ", "0 steps", "two steps", "steps",
    [], [0.8, 0.9], [0.8, 0.9, 0.9], ["a.tsv"], ["a", {"source": "b", "weight": 2}],
    [{"source": "b", "weight": 0}], [{"sauce": "b"}], {}, {"nonsense": 1}, {"last": 3},
)  # fmt: skip


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """scripts/write_reference.py"""
    spec = importlib.util.spec_from_file_location(
        "write_reference", ROOT / "scripts" / "write_reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_made_from_the_code_is_as_the_code_is(reference: ModuleType) -> None:
    for path, text in reference.pages().items():
        written = path.read_text("utf-8")
        way_out = f"{path.name} is out of date: python scripts/write_reference.py"
        assert written == text, way_out


def test_the_schema_is_one_and_the_command_prints_it(mt: Callable[..., Result]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(mt("config", "--schema").out) == SCHEMA == json_schema()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_that_ships_names_the_schema_and_is_as_it_says(path: Path) -> None:
    first = path.read_text("utf-8").split("\n")[0]
    mark = "# yaml-language-server: $schema="
    assert first.startswith(mark)
    named = path.parent / first.removeprefix(mark)
    assert Draft202012Validator(json.loads(named.read_text("utf-8"))).is_valid(read_yaml(path)[0])


@pytest.mark.parametrize("key", ["modell", "model.d_modell", "training.keep.lats", "data.training"])
def test_unknown_keys_are_refused_wherever_they_are(key: str) -> None:
    config = toy_config()
    assert VALIDATOR.is_valid(config)
    *sections, last = key.split(".")
    place = config
    for section in sections:
        place = place.setdefault(section, {})
    place[last] = 1
    (error,) = VALIDATOR.iter_errors(config)
    assert last in error.message


def changed() -> Iterator[tuple[str, dict[str, Any]]]:
    """A small config with any value at any key."""
    for table in tables():
        for setting in table.settings:
            for value in VALUES:
                config: dict[str, Any] = {"name": "a", "data": {"src": "en", "tgt": "it"}}
                place = config
                for section in filter(None, table.name.split(".")):
                    place = place.setdefault(section, {})
                place[setting.key] = value
                yield f"{table.name}.{setting.key}: {value!r}", config


def test_the_schema_and_the_reader_agree_on_any_value_anywhere() -> None:
    agreed = {True: 0, False: 0}
    for what, config in changed():
        try:
            Config.model_validate(config)
            right = True
        except ValidationError:
            right = False
        assert VALIDATOR.is_valid(config) == right, what
        agreed[right] += 1
    assert min(agreed.values()) > 200  # of both kinds there are many


def test_the_tables_have_every_setting_with_its_default_and_meaning() -> None:
    found = {table.name: table for table in tables()}
    assert found.keys() >= {"", "data", "data.cleaning", "training.keep", "decoding"}
    for table in [*found.values(), source_table()]:
        assert table.meaning
        assert all(setting.kind and setting.meaning for setting in table.settings)
    rows = {f"{t.name}.{s.key}": s for t in found.values() for s in t.settings}
    assert rows["training.lr"].default == "0.0001"
    assert rows["training.eps"].default == "1e-9"
    assert rows["training.betas"].default == "[0.9, 0.999]"
    assert rows["model.dropout"].kind == "number, 0 or more, under 1"
    assert rows["model.num_layers"].kind == "whole number, 1 or more"
    assert rows["model.encoder_layers"].kind == "whole number, 1 or more; or `null`"
    assert rows["model.norm"].choices == ("pre", "post")
    assert rows["training.validate_every"].kind == "text, as `500 steps` or `1 epoch`"
    assert rows["data.src"].required
    assert rows["training.average"].section == "training.average"
    assert {s for s in rows if rows[s].required} == {".data", "data.src", "data.tgt"}


def test_config_shows_every_default_and_what_is_laid_over(
    here: Path, mt: Callable[..., Result]
) -> None:
    Path("a.yaml").write_text("data: {source: phrasebook, src: en, tgt: it}\n", "utf-8")
    shown = mt("config", "--show", "a.yaml", "--set", "tokenizer.casing=true")
    assert shown.status == 0
    Path("b.yaml").write_text(shown.out, "utf-8")
    data, _ = read_yaml(Path("b.yaml"))
    assert data["name"] == "a"
    assert data["tokenizer"]["casing"] == "true"
    assert data["training"]["eps"] == 1e-9
    assert mt("config", "--show", "b.yaml").out == shown.out
    assert VALIDATOR.is_valid(data)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "one of the arguments --show --schema is required"),
        (["--schema", "--set", "seed=1"], "--set is for --show"),
        (["--show", "none.yaml"], "no such config file"),
    ],
)
def test_config_used_wrongly(
    here: Path, mt: Callable[..., Result], arguments: list[str], expected: str
) -> None:
    result = mt("config", *arguments)
    assert (result.status, result.out) == (2, "")
    assert expected in result.err
