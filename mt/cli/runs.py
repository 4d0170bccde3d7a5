"""`mt runs`: the runs so far, in a table; or one of them, with its curves."""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.output_path import output_path
from mt.errors import UserError

if TYPE_CHECKING:
    from mt.runs.facts import RunFacts
    from mt.runs.table import Column

ENDLESS = 10_000  # columns, where nobody's terminal is written to
KEYS = (
    "name", "state", "data", "languages", "pairs", "parameters", "steps", "valid-loss",
    "valid-bleu", "bleu", "chrf", "time", "newest", "why",
)  # fmt: skip


def add_parser(commands: Any) -> None:
    """Adds `runs` to the commands."""
    parser = commands.add_parser(
        "runs",
        help="the runs so far, with their scores; or the curves of one",
        description="Lists every run in runs/ and weights/: state, data, size, steps, validation "
        "scores of what translates, scores that `mt evaluate` left, and the time taken over all "
        "starts. With a name: all that is known of that run, and its curves.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a run, or a folder of it")
    parser.add_argument(
        "--sort",
        choices=KEYS,
        metavar="KEY",
        default="newest",
        help=f"{', '.join(KEYS)}; the best, largest or newest first, text by the alphabet "
        "(default: newest)",
    )
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument(
        "--on", metavar="SET", default="test", help="whose scores to show: the folder in "
        "weights/NAME/evaluation (default: test)",
    )  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything, as JSON")
    form.add_argument(
        "--csv", action="store_true", help="the table with plain numbers; with NAME, the curves"
    )
    form.add_argument(
        "--html", metavar="FILE", help="with NAME: one page with everything, which needs no other"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Shows runs; 0 also when there is none."""
    from mt.runs.facts import all_runs, find_run
    from mt.runs.table import columns, sort

    shown = columns(arguments.on)
    if arguments.html is not None and arguments.name is None:
        raise UserError("--html is the page of one run: `mt runs NAME --html FILE`")
    if arguments.name is not None:
        return _one(find_run(arguments.name), shown, arguments)
    by = next(column for column in shown if column.key == arguments.sort)
    found = sort(all_runs(), by, arguments.reverse)
    if arguments.json:
        print(_json([_as_dict(run) for run in found]))
    elif arguments.csv:
        rows = [[column.value(run) for column in shown] for run in found]
        print(_csv([column.key for column in shown], rows), end="")
    else:
        _table(found, shown, arguments.on)
    return 0


def _table(found: Sequence[RunFacts], shown: Sequence[Column], test_set: str) -> None:
    from mt.runs.table import table
    from mt.storage.model_folder import WEIGHTS
    from mt.storage.record import RUNS

    if not found:
        places = f"{RUNS.absolute()} and {WEIGHTS.absolute()}"
        print(f"no runs in {places}; `mt train --config FILE` begins one", file=sys.stderr)
        return
    lines, left_out = table(found, shown, _width())
    for line in [*lines, *_footnotes(found, test_set)]:
        print(line)
    if left_out:
        print(
            f"no room for: {', '.join(left_out[::-1])}; a wider terminal, `mt runs NAME`, --csv "
            "and --json have them",
            file=sys.stderr,
        )


def _width() -> int:
    """Of the terminal, or as COLUMNS says; elsewhere there is room for all."""
    return shutil.get_terminal_size((ENDLESS, 24)).columns


def _footnotes(found: Sequence[RunFacts], test_set: str) -> Iterator[str]:
    """What the scores are: the signature of each metric, and which runs were scored with it."""
    scored = [run for run in found if test_set in run.tests]
    for metric, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        by: dict[str, list[str]] = {}
        for run in scored:
            if signature := run.tests[test_set].signatures.get(metric):
                by.setdefault(signature, []).append(run.name)
        for signature, names in by.items():
            of = f" of {', '.join(names)}" if len(by) > 1 else ""
            yield f"{test_set} {title}{of}: {signature}"
    if any(run.tests[test_set].stale for run in scored):
        yield f"* of an earlier checkpoint than the one that translates now: {EVALUATE} again"
    sets = {run.test_hash for run in scored}
    if test_set == "test" and len(sets) > 1:
        yield f"these runs have {len(sets)} different test sets: compare scores of one data alone"


EVALUATE = "`mt evaluate`"


def _one(run: RunFacts, shown: Sequence[Column], arguments: argparse.Namespace) -> int:
    from mt.runs.curves import CURVES, read_curves
    from mt.runs.summary import summary
    from mt.runs.table import spell_when

    curves = read_curves(run.record)
    if arguments.json:
        points = {tag: [list(point) for point in curve] for tag, curve in curves.items()}
        print(_json({**_as_dict(run), "curves": points}))
        return 0
    if arguments.csv:
        steps = sorted({step for curve in curves.values() for step, _ in curve})
        by_tag = [dict(curve) for curve in curves.values()]
        rows = [[f"{step:.0f}", *(points.get(step) for points in by_tag)] for step in steps]
        print(_csv(["step", *curves], rows), end="")
        return 0
    if arguments.html is not None:
        _write_page(run, curves, output_path("--html", arguments.html))
        return 0
    for name, text in summary(run, spell_when):
        print(f"{name:<12} {text}")
    width = min(_width(), MOST_CURVE)
    for group in CURVES:
        print()
        for line in group.lines(curves, width):
            print(line)
    return 0


MOST_CURVE = 100  # columns


def _write_page(run: RunFacts, curves: dict[str, list[tuple[float, float]]], path: Path) -> None:
    from mt.runs.page import run_page
    from mt.storage.atomic import output_file

    page = run_page(run, curves)
    with output_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    print(f"the page is in {path.absolute()}", file=sys.stderr)


def _as_dict(run: RunFacts) -> dict[str, Any]:
    from dataclasses import asdict

    from mt.storage.history import spell_time

    found = asdict(run)
    for name in ("began", "active"):
        found[name] = spell_time(found[name]) if found[name] is not None else None
    return {**found, "record": _path(run.record), "model": _path(run.model)}


def _path(path: Any) -> str | None:
    return str(path.absolute()) if path is not None else None


def _json(value: Any) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    """The same with null for what JSON has no number for: infinite ones, and NaN."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def _csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
