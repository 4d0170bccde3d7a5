"""`mt data`: what training would see, without training."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.train import add_config_options

if TYPE_CHECKING:
    from mt.training.inspection import Inspection, Side

BAR = 40  # characters of the longest bar of a histogram


def add_parser(commands: Any) -> None:
    """Adds `data` to the commands."""
    parser = commands.add_parser(
        "data",
        help="what training would see: counts, what is dropped and why, lengths, samples",
        description="Reads and cleans the corpus of a config, splits it, builds the vocabularies, "
        "and shows what training would see. It trains nothing and makes no folder here; prepared "
        "text is kept in the cache of the datasets library, where training finds it again.",
    )
    add_config_options(parser)
    parser.add_argument("--json", action="store_true", help="everything, as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Shows the report on stdout."""
    from mt.config_file import load_config

    config = load_config(Path(arguments.config), arguments.overrides)

    from mt.cli.report import start_logging
    from mt.training.data import load_training_data
    from mt.training.inspection import inspect

    start_logging()
    inspection = inspect(config, load_training_data(config))
    if arguments.json:
        print(json.dumps(inspection.as_dict(), ensure_ascii=False, indent=1))
        return 0
    for line in _lines(inspection):
        print(line)
    return 0


def _lines(inspection: Inspection) -> Iterator[str]:
    yield from inspection.lines()
    yield f"batches      {inspection.batches:,} an epoch, {inspection.padding:.1%} padding"
    src, tgt = inspection.sides
    yield (f"an epoch     {src.tokens:,} {src.language} and {tgt.tokens:,} {tgt.language} tokens")
    yield from _examples(inspection)
    for side in inspection.sides:
        yield ""
        yield from _lengths(side)
    for number, sample in enumerate(inspection.samples, 1):
        yield ""
        yield f"sample {number}"
        for side, text, tokens, back in (
            (src, sample.src, sample.src_tokens, sample.src_back),
            (tgt, sample.tgt, sample.tgt_tokens, sample.tgt_back),
        ):
            yield f"  {side.language} text    {text}"
            yield f"  {side.language} tokens  {' | '.join(tokens)}"
            yield f"  {side.language} back    {back}"


def _examples(inspection: Inspection) -> Iterator[str]:
    """The first few rows that were dropped or mended, by reason."""
    report = inspection.corpus
    for title, kinds in (("dropped", report.dropped), ("mended", report.mended)):
        for reason, tally in kinds.items():
            for example in tally.examples:
                place = f"{Path(example['file']).name} row {example['row']}"
                yield f"  {title}, {reason}: {place}: {example['text']}"


def _lengths(side: Side) -> Iterator[str]:
    found = side.lengths
    yield (
        f"{side.language}: mean {found.mean:.1f} tokens, median {found.median}, "
        f"longest {found.longest}"
    )
    most = max(found.histogram.values())
    for interval, count in found.histogram.items():
        bar = "█" * round(BAR * count / most) or ("▏" if count else "")
        yield f"  {interval:>9}  {count:>11,}  {bar}"
