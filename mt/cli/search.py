"""The options of commands that say how to search for translations."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mt.config import Config
    from mt.decoding.engine import Search

# Options that have no meaning unless tokens are drawn.
OF_SAMPLING = ("temperature", "top_k", "top_p", "seed")
# Options that take the place of settings, or stand beside them, under one name.
SETTINGS = (
    "beam_size", "length_penalty", "patience", "n_best", *OF_SAMPLING, "min_length",
    "max_length_ratio", "no_repeat_ngram", "repetition_penalty",
)  # fmt: skip


def add_search_options(parser: argparse.ArgumentParser, prefix: bool = True) -> None:
    """How to search; what is not given is as in the config of the model."""
    group = parser.add_argument_group("search (default: as in the model's config)")

    def add(name: str, kind: Callable[[str], Any], metavar: str, text: str) -> None:
        group.add_argument(name, type=kind, metavar=metavar, help=text)

    whole = at_least(int, 1)
    add("--beam-size", whole, "K", "hypotheses of a sentence to follow; 1 is greedy search")
    add("--length-penalty", at_least(float, 0), "A", "how much a beam favours long translations")
    add("--patience", at_least(float, 1), "X", "a sentence is done when X * K have ended")
    group.add_argument("--sample", action="store_true", help="draw tokens instead of searching")
    add("--temperature", more_than_0, "X", "under 1 draws likelier tokens (default: 1)")
    add("--top-k", at_least(int, 0), "N", "draw among the N likeliest tokens (default: all)")
    add("--top-p", share, "P", "and among those that together have this probability (default: 1)")
    add("--seed", at_least(int, 0), "N", "another seed draws other translations (default: 0)")
    add("--min-length", whole, "N", "least tokens of a translation")
    add("--max-length-ratio", more_than_0, "X", "most tokens: X times the source, and 10 more")
    add("--no-repeat-ngram", at_least(int, 0), "N", "no N tokens in a row come twice")
    add("--repetition-penalty", at_least(float, 1), "X", "makes what was said less likely")
    if prefix:
        group.add_argument(
            "--prefix", default="", metavar="TEXT", help="what translations begin with"
        )


def search_from(arguments: argparse.Namespace, config: Config) -> Search:
    """The search that the config and the options ask for. Raises UserError."""
    from dataclasses import replace

    from mt.decoding.engine import Search
    from mt.errors import UserError

    given = {
        name: value for name in SETTINGS if (value := getattr(arguments, name, None)) is not None
    }
    if (alternatives := getattr(arguments, "alternatives", None)) is not None:
        for name in ("n_best", "sample"):
            if getattr(arguments, name):
                raise UserError(
                    f"--alternatives and --{name.replace('_', '-')} are two ways to have several; "
                    "leave out one of them"
                )
        given |= {"n_best": alternatives, "distinct_first": True}
    if not arguments.sample:
        for name in OF_SAMPLING:
            if name in given:
                raise UserError(f"--{name.replace('_', '-')} needs --sample")
        return replace(Search.of(config.decoding), **given)
    return replace(Search.of(config.decoding), sample=True, **{"beam_size": 1, **given})


def at_least(kind: type[int] | type[float], least: int) -> Callable[[str], int | float]:
    """A reader of a number of `kind` that is not under `least`."""
    what = "a whole number" if kind is int else "a number"

    def read(text: str) -> int | float:
        value = _number(kind, text)
        if value is None or not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"expected {what} of {least} or more, not {text}")
        return value

    return read


def more_than_0(text: str) -> float:
    """A number over 0."""
    value = _number(float, text)
    if value is None or not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number over 0, not {text}")
    return value


def share(text: str) -> float:
    """A number over 0, and at most 1."""
    value = _number(float, text)
    if value is None or not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number over 0, and at most 1, not {text}")
    return value


def _number(kind: type[int] | type[float], text: str) -> int | float | None:
    try:
        return kind(text)
    except ValueError:
        return None
