"""What is wrong with a value, in words: pydantic's complaints put as a person would put them.

Which settings there are is not known here.
"""

from __future__ import annotations

import difflib
import re
from typing import Any


def in_words(error: Any) -> str:
    """One of pydantic's errors as what follows the name of the key."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return f"({show(value)}): {context['error']}"
    expected = {
        "int_type": "expected a whole number",
        "int_from_float": "expected a whole number",
        "float_type": "expected a number",
        "finite_number": "expected a finite number",
        "bool_type": "expected true or false",
        "string_type": "expected text; put it in quotes",
        "invalid_key": "expected a name as the key",
        "list_type": "expected a list",
        "model_type": "expected a section of `key: value` lines",
        "model_attributes_type": "expected a section of `key: value` lines",
        "dict_type": "expected a section of `key: value` lines",
        "greater_than": "must be greater than {gt:.10g}",
        "greater_than_equal": "must be {ge:.10g} or more",
        "less_than": "must be less than {lt:.10g}",
        "less_than_equal": "must be {le:.10g} or less",
        "too_short": "expected {min_length} values",
        "too_long": "expected {max_length} values",
    }.get(kind)
    if expected is not None:
        return f"({show(value)}): {expected.format(**context)}"
    if kind == "literal_error":
        valid = re.findall(r"'([^']+)'", context["expected"])
        return f"({show(value)}): expected {_one_of(valid)}{nearest(str(value), valid)}"
    return f"({show(value)}): {error['msg']}"


def nearest(word: str, valid: list[str]) -> str:
    """The valid word that was probably meant, as "; did you mean …?"; or nothing.

    A slip of the fingers comes first, then a name that has a word in common, or `word` in it.
    """
    parts = set(word.split("_"))
    akin = [v for v in valid if parts & set(v.split("_")) or (len(word) > 2 and word in v)]
    near = (
        difflib.get_close_matches(word, valid, n=1, cutoff=0.8)
        or difflib.get_close_matches(word, akin, n=1, cutoff=0.0)
        or difflib.get_close_matches(word, valid, n=1, cutoff=0.6)
    )
    return f"; did you mean {near[0]}?" if near else ""


def _one_of(values: list[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def show(value: Any) -> str:
    """A value as it stands in a config, cut if it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
