"""What a setting can be, and the class of every section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

# The keys at fault, first the one to point at, and what is wrong.
Mistake = tuple[tuple[str, ...], str]


class Interval(NamedTuple):
    """Every so many steps or epochs."""

    number: int
    unit: Literal["step", "epoch"]

    def __str__(self) -> str:
        return f"{self.number} {self.unit}{'s' if self.number != 1 else ''}"


def parse_interval(text: str) -> Interval:
    """`Interval` of "500 steps", "1 epoch" or "500"; ValueError for anything else."""
    found = re.fullmatch(r"(\d+)\s*(step|epoch)?s?", text.strip())
    if not found or int(found[1]) < 1:
        raise ValueError('expected a number of steps or epochs, as in "500 steps" or "1 epoch"')
    return Interval(int(found[1]), "epoch" if found[2] == "epoch" else "step")


def _interval_text(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('expected a number of steps or epochs, as in "500 steps" or "1 epoch"')
    return str(parse_interval(str(value)))


IntervalText = Annotated[
    str,
    BeforeValidator(_interval_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*0*[1-9][0-9]*\s*(step|epoch)?s?\s*$"},
                {"type": "integer", "minimum": 1},
            ],
            "examples": ["500 steps", "1 epoch"],
        }
    ),
]
# `true` without quotes is what one writes, and a boolean in YAML.
Casing = Annotated[
    Literal["keep", "lower", "true"],
    BeforeValidator(lambda value: "true" if value is True else value),
    WithJsonSchema({"enum": ["keep", "lower", "true", True]}),
]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
Positive = Annotated[int, Field(gt=0)]
Language = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class Section(BaseModel):
    """A part of the config. Unknown keys and wrong types are mistakes; nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def mistakes(self) -> Iterator[Mistake]:
        """What is wrong between settings that are each right on their own."""
        yield from ()
