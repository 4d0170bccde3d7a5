"""YAML as people mean it, and files that are not what was hoped for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import UserError
from mt.strict_yaml import parse_yaml, read_yaml


def value(text: str) -> object:
    return parse_yaml(f"key: {text}\n", "test")[0]["key"]


def refusal(text: str) -> str:
    with pytest.raises(UserError) as refused:
        parse_yaml(text, "c.yaml")
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1e-4", 1e-4), ("1E5", 1e5), ("-2.5e+3", -2500.0), (".5", 0.5), ("1.", 1.0), ("+3", 3),
        ("010", 10), ("-007", -7), ("0", 0), ("true", True), ("False", False), ("null", None),
        ("~", None), ("", None), ("no", "no"), ("No", "No"), ("yes", "yes"), ("on", "on"),
        ("off", "off"), ("y", "y"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"),
        ("0x10", "0x10"), ("0o17", "0o17"), ("1_000", "1_000"), ("1e", "1e"), ("e5", "e5"),
        ("1.2.3", "1.2.3"), ("'1'", "1"), ('"null"', "null"), ("=", "="), ("-", [None]),
        (".inf", float("inf")), ("-.inf", float("-inf")),
    ],
)  # fmt: skip
def test_scalars(text: str, meant: object) -> None:
    if text == "-":
        assert parse_yaml("key:\n  -\n", "test")[0]["key"] == meant
        return
    found = value(text)
    assert found == meant
    assert type(found) is type(meant)


@given(st.floats(allow_nan=False))
def test_every_number_that_python_prints_is_read_as_that_number(number: float) -> None:
    text = repr(number).replace("inf", ".inf")
    assert value(text) == number


def test_lines_of_keys_and_items() -> None:
    text = "a: 1\n\nb:\n  # a comment\n  c: [x,\n    y]\n  'd': {e: 2}\n"
    data, lines = parse_yaml(text, "test")
    assert data == {"a": 1, "b": {"c": ["x", "y"], "d": {"e": 2}}}
    assert lines == {
        ("a",): 1, ("b",): 3, ("b", "c"): 5, ("b", "c", 0): 5, ("b", "c", 1): 6,
        ("b", "d"): 7, ("b", "d", "e"): 7,
    }  # fmt: skip


def test_keys_given_twice() -> None:
    assert refusal("a: 1\nb: 2\na: 3\n") == (
        "c.yaml, line 3: a is given twice (first on line 1); keep one of them"
    )
    assert refusal("x:\n  y:\n    z: 1\n    'z': 1\n") == (
        "c.yaml, line 4: x.y.z is given twice (first on line 3); keep one of them"
    )


@pytest.mark.parametrize(
    "tagged",
    [
        "!!python/object/apply:os.system ['touch PWNED']",
        "!!python/object/new:os.system ['touch PWNED']",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/object:__main__.X {}",
        "!!python/tuple [1]",
        "!thing 3",
    ],
)
def test_tags_are_refused_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tagged: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = refusal(f"a: 1\nextra: {tagged}\n")
    assert said.startswith(
        "c.yaml, line 2: not valid YAML: only plain data is read, no tags such as"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_payload_of_that_test_does_run_in_a_loader_that_is_not_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    yaml.unsafe_load("extra: !!python/object/apply:os.system ['touch PWNED']")
    assert (tmp_path / "PWNED").exists()


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: [\n", "c.yaml, line 2: not valid YAML: expected the node content"),
        ("a: b: c\n", "c.yaml, line 1: not valid YAML: mapping values are not allowed here"),
        ("a: 1\n\tb: 2\n", "c.yaml, line 2: not valid YAML: found character '\\t'"),
        ("a: 1\n---\nb: 2\n", "c.yaml, line 2: not valid YAML: but found another document"),
        ("a: *nothing\n", "c.yaml, line 1: not valid YAML: found undefined alias"),
        ("? [a, b]\n: 3\n", "c.yaml, line 1: not valid YAML: found unhashable key"),
        ("a: \x00\n", "c.yaml: not valid YAML: unacceptable character #x0000"),
        ("a: !!float x\n", "c.yaml: not valid YAML: could not convert string to float"),
        ("[" * 3000, "c.yaml: not valid YAML: maximum recursion depth"),
        ("a: &a [*a]\n", "c.yaml: not valid YAML: maximum recursion depth"),
    ],
)
def test_text_that_is_not_yaml(text: str, start: str) -> None:
    assert refusal(text).startswith(start)
    assert "\n" not in refusal(text)


def test_aliases_stand_for_what_they_name() -> None:
    data, lines = parse_yaml("a: &x {b: 1}\nc: *x\n", "test")
    assert data == {"a": {"b": 1}, "c": {"b": 1}}
    assert lines["c",] == 2


def test_aliases_that_explode_are_refused_at_once() -> None:
    levels = ["a: &a [" + ",".join("1" * 10) + "]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        levels.append(f"{name}: &{name} [" + ",".join([f"*{before}"] * 10) + "]")
    start = time.process_time()
    assert "more than 100,000 keys" in refusal("\n".join(levels))
    assert time.process_time() - start < 20


def test_a_missing_file_and_the_one_that_may_be_meant(tmp_path: Path) -> None:
    with pytest.raises(UserError) as missing:
        read_yaml(tmp_path / "nope.yaml")
    assert str(missing.value) == f"no such config file: {tmp_path}/nope.yaml"
    (tmp_path / "nope.yml").write_text("a: 1\n")
    with pytest.raises(UserError) as missing:
        read_yaml(tmp_path / "nope.yaml")
    assert str(missing.value).endswith("nope.yaml (there is nope.yml: did you mean that?)")
    (tmp_path / "other.yaml").write_text("a: 1\n")
    with pytest.raises(UserError, match=r"other\.yml \(there is other\.yaml"):
        read_yaml(tmp_path / "other.yml")


def test_messages_show_the_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"no such config file: {tmp_path}/x.yaml"):
        read_yaml(Path("x.yaml"))


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        read_yaml(tmp_path)
    assert str(refused.value) == f"{tmp_path} is a folder, not a config file"


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"a: \xe8\n", 1), (b"a: 1\nb: caff\xe8\n", 2), ("a: 1\n".encode("utf-16"), 1)],
)
def test_not_utf8(tmp_path: Path, content: bytes, line: int) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(content)
    with pytest.raises(UserError) as refused:
        read_yaml(file)
    assert str(refused.value) == f"{file}, line {line}: not UTF-8 text"


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\r\nb:\r\n  c: perch\xc3\xa9\r\n")
    assert read_yaml(file)[0] == {"a": 1, "b": {"c": "perché"}}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=10),
        lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3),
    )
)
def test_what_the_library_writes_is_read_back(data: object) -> None:
    """But for text that YAML 1.2 reads as a number and the library, which follows 1.1, does not."""
    text = yaml.safe_dump({"key": data}, allow_unicode=True, default_style='"')
    plain = yaml.safe_load(text)
    assert parse_yaml(text, "test")[0] == plain
