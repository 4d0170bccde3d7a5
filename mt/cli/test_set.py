"""The test set that options name: files are read and checked, line for line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.errors import UserError

if TYPE_CHECKING:
    from mt.config import Config
    from mt.evaluation.evaluate import TestSet

SHOWN = 5  # lines that are at fault


def add_test_set_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what to evaluate on."""
    group = parser.add_argument_group("test set (default: the test split of the model)")
    group.add_argument("--split", choices=("test", "valid"), help="which held-out pairs")
    group.add_argument("--src", metavar="FILE", help="sentences to translate, with --ref")
    group.add_argument(
        "--ref",
        metavar="FILE",
        action="append",
        help="their references, line for line; again for more references of each",
    )
    group.add_argument(
        "--documents",
        metavar="FILE",
        help="the document of each sentence, a name a line (default: as data.group_by has it)",
    )
    group.add_argument(
        "--pair",
        metavar="SRC-TGT",
        help="the languages of the files, as en-it (default: as their names end, if they do)",
    )


def read_test_set(arguments: argparse.Namespace) -> tuple[TestSet, list[str] | None]:
    """The test set in the files of --ref and, if given, --src; and the lines of --hyp, if given.

    Raises UserError: missing, not UTF-8, counts that differ, empty references.
    """
    from mt.cli.lines import read_lines
    from mt.evaluation.evaluate import TestSet

    sides: dict[str, list[str]] = {}
    for path in filter(None, [arguments.hyp, arguments.src, *arguments.ref, arguments.documents]):
        sides[path] = read_lines(Path(path))
    check_counts(sides)
    for path in arguments.ref:
        check_references(path, sides[path])
    references = [sides[path] for path in arguments.ref]
    test_set = TestSet(
        Path(arguments.src or arguments.ref[0]).stem,
        sides[arguments.src] if arguments.src else [],
        references[0],
        references[1:],
        documents_of(arguments.documents, sides),
    )
    return test_set, sides[arguments.hyp] if arguments.hyp else None


def check_counts(sides: dict[str, list[str]]) -> None:
    """Raises UserError unless files, by name, have as many lines as one another, and have any."""
    counts = {path: len(lines) for path, lines in sides.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{path} has {count:,} lines" for path, count in counts.items())
        raise UserError(f"{told}: they must be line for line")
    if not all(counts.values()):
        raise UserError(f"nothing to score: {', '.join(counts)}: 0 lines")


def documents_of(path: str | None, sides: dict[str, list[str]]) -> Sequence[str]:
    """The documents in the file `path`, if there is one. Raises UserError for a blank line."""
    if path is None:
        return ()
    _check_no_blanks(path, sides[path], "no document is named")
    return [line.strip() for line in sides[path]]


def check_references(where: str, references: Sequence[str]) -> None:
    """Raises UserError, with its line, where one is blank."""
    _check_no_blanks(where, references, "the reference is empty")


def _check_no_blanks(path: str, lines: Sequence[str], what: str) -> None:
    blank = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if blank:
        shown = ", ".join(f"{number:,}" for number in blank[:SHOWN])
        more = f" and {len(blank) - SHOWN:,} more" if len(blank) > SHOWN else ""
        raise UserError(
            f"{path}, line{'s' if len(blank) > 1 else ''} {shown}{more}: {what}; fill the line, or "
            "leave it out of all the files"
        )


def check_pair(arguments: argparse.Namespace, config: Config, model: Path) -> None:
    """Raises UserError where --pair or names of files say that the model has other languages."""
    src, tgt = config.data.src, config.data.tgt
    way_out = "choose another with --model, or train one (`mt train`)"
    if arguments.pair:
        if arguments.pair != f"{src}-{tgt}":
            raise UserError(f"--pair {arguments.pair}: {model} translates {src}-{tgt}; {way_out}")
        return
    files = [("--src", arguments.src, src)]
    files += [("--ref", path, tgt) for path in arguments.ref or []]
    files += [("--hyp", arguments.hyp, tgt)]
    for option, path, own in files:
        found = language_of(path)
        expected = _known(own)
        if path and found and expected and found != expected:
            raise UserError(
                f"{option} {path}: the name says {found}, and {model} translates {src}-{tgt}; "
                f"{way_out}; or say --pair {src}-{tgt} if the text is in {own}"
            )


def language_of(path: str | None) -> str | None:
    """The language that the name of a file ends with, if it is one that we know."""
    return _known(Path(path).suffix[1:]) if path else None


def languages_without_model(arguments: argparse.Namespace) -> tuple[str, str]:
    """Source and target as --pair or names of files say; "" where they do not. Raises UserError."""
    if arguments.pair is None:
        return language_of(arguments.src) or "", language_of(arguments.ref[0]) or ""
    src, dash, tgt = arguments.pair.partition("-")
    if not (src and dash and tgt):
        raise UserError(f"--pair {arguments.pair}: expected two languages, as en-it")
    return src, tgt


def _known(code: Any) -> str | None:
    from mt.text.scripts import known_language

    return known_language(code)
