"""`mt evaluate`: translates a test set and scores it; scores alone on stdout."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.engine import find_engine
from mt.cli.translate import add_model_options, load_translator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mt.evaluation.evaluate import TestSet
    from mt.evaluation.scores import Score


def add_parser(commands: Any) -> None:
    """Adds `evaluate` to the commands."""
    parser = commands.add_parser(
        "evaluate",
        help="BLEU and chrF of a model, or of translations in a file",
        description="Translates the test split of a model (or its valid split, if it has no test "
        "split; or --src) and prints BLEU and chrF against the references, with the sacrebleu "
        "signatures. With --hyp and --ref it scores translations that are there already.",
    )
    add_model_options(parser)
    parser.add_argument("--split", choices=("test", "valid"), help="which held-out pairs")
    parser.add_argument("--src", metavar="FILE", help="sentences to translate, with --ref")
    parser.add_argument("--ref", metavar="FILE", help="their references, line for line")
    parser.add_argument("--hyp", metavar="FILE", help="translations to score, instead of --src")
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="where src, ref, hyp and scores.json go (default: in the model folder)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Scores; 0 when there is a score."""
    from mt.errors import UserError
    from mt.evaluation.scores import score

    _check(arguments)
    if arguments.hyp:
        from mt.cli.lines import read_lines

        hypotheses = read_lines(Path(arguments.hyp))
        references = read_lines(Path(arguments.ref))
        if len(hypotheses) != len(references):
            raise UserError(
                f"{Path(arguments.hyp).name} has {len(hypotheses):,} lines, "
                f"{Path(arguments.ref).name} has {len(references):,}: they must be line for line"
            )
        scores = score(hypotheses, references)
        _show(f"{arguments.hyp}, {len(hypotheses):,} sentences", scores)
        return 0
    return _evaluate_model(arguments)


def _check(arguments: argparse.Namespace) -> None:
    from mt.errors import UserError

    given = {name for name in ("src", "ref", "hyp") if getattr(arguments, name)}
    if given and (arguments.split or given not in ({"src", "ref"}, {"hyp", "ref"})):
        raise UserError("give --split, or --src with --ref, or --hyp with --ref")


def _evaluate_model(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from mt.cli.notes import Notes
    from mt.cli.report import log
    from mt.evaluation.evaluate import write_results
    from mt.evaluation.scores import score
    from mt.progress import track
    from mt.storage.export_record import read_record

    engine, folder = find_engine(arguments)
    config = folder.read_config()
    test_set = _test_set(arguments, folder, config)
    translator = load_translator(arguments)
    each = 16 * arguments.batch_size
    parts = [test_set.sources[i : i + each] for i in range(0, len(test_set.sources), each)]
    translations = [
        translation
        for part in track(parts, "translating", len(test_set.sources), " sentences", each)
        for translation in translator.translate(part, arguments.batch_size, arguments.prefix)
    ]
    hypotheses = [translation.text for translation in translations]
    scores = score(hypotheses, test_set.references)
    output = Path(arguments.output or folder.path / "evaluation" / test_set.name)
    record = read_record(folder.path)
    how = {
        "checkpoint": record.checkpoint
        if record
        else getattr(translator.engine, "checkpoint", None),
        "engine": engine,
        "unknown": arguments.unknown,
        "prefix": arguments.prefix,
        "paragraphs": arguments.paragraphs,
        "search": asdict(translator.search),
    }
    write_results(output, test_set, hypotheses, scores, (config.data.src, config.data.tgt), how)
    _show(f"{folder.path}, {test_set.name}, {len(hypotheses):,} sentences", scores)
    notes = Notes(translator.source_limit)
    notes.take(translations)
    notes.say()
    log.info("src, ref, hyp and scores.json are in %s", output)
    return 0


def _test_set(arguments: argparse.Namespace, folder: Any, config: Any) -> TestSet:
    from mt.cli.lines import read_lines
    from mt.errors import UserError
    from mt.evaluation.evaluate import TestSet, held_out

    if not arguments.src:
        return held_out(folder, config, arguments.split)
    sources, references = read_lines(Path(arguments.src)), read_lines(Path(arguments.ref))
    if len(sources) != len(references):
        raise UserError(
            f"{arguments.src} has {len(sources):,} lines, {arguments.ref} has {len(references):,}: "
            "they must be line for line"
        )
    return TestSet(Path(arguments.src).stem, sources, references)


def _show(what: str, scores: Mapping[str, Score]) -> None:
    print(what)
    for result in scores.values():
        print(result)
