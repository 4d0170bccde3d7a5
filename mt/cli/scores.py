"""The report of `mt evaluate`: its options, how it is printed and where it is written."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.search import at_least

if TYPE_CHECKING:
    from mt.evaluation.evaluate import TestSet
    from mt.evaluation.facts import Facts
    from mt.evaluation.report import Report


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is in the report, and where it goes."""
    group = add_common_options(
        parser,
        "bleu chrf ter; ter takes the longest",
        "so many of the worst and of typical translations",
    )
    group.add_argument(
        "--confidence-n",
        type=at_least(int, 0),
        default=1000,
        metavar="N",
        help="resamples for confidence intervals; 0 for none (default: 1000)",
    )
    group.add_argument(
        "--output",
        metavar="DIR",
        help="where src, ref, hyp and scores.json go (default: in the model folder; nowhere for "
        "--hyp)",
    )


def add_common_options(
    parser: argparse.ArgumentParser, usual: str, examples: str
) -> argparse._ArgumentGroup:
    """--metric, --examples and --json; `usual` says which metrics are the default."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "--metric",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"bleu, chrf, chrf++, ter (default: {usual})",
    )
    group.add_argument(
        "--examples",
        type=at_least(int, 0),
        default=3,
        metavar="N",
        help=f"{examples} (default: 3)",
    )
    group.add_argument("--json", action="store_true", help="all of it as JSON, at full precision")
    return group


def show(
    arguments: argparse.Namespace,
    what: str,
    test_set: TestSet,
    report: Report,
    facts: Facts | None,
    content: dict[str, Any],
) -> None:
    """Prints the report, or `content` as JSON; `what` says what it is of."""
    if arguments.json:
        print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
        return
    several = f", {len(test_set.streams)} references of each" if test_set.others else ""
    print(f"{what}{several}")
    lines = [*report.score_lines(), "", *report.fact_lines()]
    for line in [*lines, *(facts.lines() if facts else ()), *report.more_lines()]:
        print(line)


def write(
    output: Path,
    test_set: TestSet,
    hypotheses: list[str],
    languages: tuple[str, str],
    content: dict[str, Any],
) -> None:
    """Writes the texts and `content`, and says where. Raises WriteError."""
    from mt.cli.report import log
    from mt.evaluation.results import write_results
    from mt.storage.failure import writing

    with writing("the results", output):
        write_results(output, test_set, hypotheses, languages, content)
    log.info("src, ref, hyp and scores.json are in %s", output)
