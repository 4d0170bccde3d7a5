"""`mt evaluate`: translates a test set and scores it; scores alone on stdout."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.engine import find_engine
from mt.cli.scores import add_report_options, show, write
from mt.cli.test_set import (
    add_test_set_options,
    check_counts,
    check_pair,
    documents_of,
    languages_without_model,
    read_test_set,
)
from mt.cli.translate import add_model_options, load_translator, translate_all

if TYPE_CHECKING:
    from mt.config import Config
    from mt.decoding.translator import Translator
    from mt.evaluation.evaluate import TestSet
    from mt.evaluation.report import Wanted
    from mt.evaluation.training_text import Seen
    from mt.storage.model_folder import ModelFolder
    from mt.text.corpus import Corpus

# What of `add_model_options` says how to translate.
OF_DECODING = (
    "engine", "device", "unknown", "batch_size", "paragraphs", "beam_size", "length_penalty",
    "patience", "sample", "temperature", "top_k", "top_p", "seed", "min_length", "max_length_ratio",
    "no_repeat_ngram", "repetition_penalty", "prefix", "checkpoint",
)  # fmt: skip


def add_parser(commands: Any) -> None:
    """Adds `evaluate` to the commands."""
    parser = commands.add_parser(
        "evaluate",
        help="scores of a model, or of translations in a file",
        description="Translates the test split of a model (or its valid split, if it has no test "
        "split; or --src) and scores it against the references with sacrebleu: BLEU, chrF and "
        "TER, with signatures and 95 %% confidence intervals, and what else there is to know: by "
        "length, by rare words, worst and typical examples. With --hyp and --ref it scores "
        "translations that are there already; --src and --model beside them tell more of them.",
    )
    add_test_set_options(parser)
    parser.add_argument("--hyp", metavar="FILE", help="translations to score, with --ref")
    add_report_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--checkpoint",
        metavar="NAME",
        help="which one translates: best, last, or a name in checkpoints/ (default: best)",
    )
    parser.set_defaults(run=run, default_of=parser.get_default)


def run(arguments: argparse.Namespace) -> int:
    """Scores; 0 when there is a score."""
    from mt.cli.report import start_logging
    from mt.evaluation.report import Wanted
    from mt.evaluation.scores import USUAL, check_metrics

    _check(arguments)
    metrics = list(dict.fromkeys(arguments.metric or USUAL))
    check_metrics(metrics)
    if arguments.output:
        check_folder(Path(arguments.output))
    start_logging()
    wanted = Wanted(metrics, arguments.confidence_n, arguments.examples)
    if arguments.hyp:
        return _score_files(arguments, wanted)
    return _evaluate_model(arguments, wanted)


def _check(arguments: argparse.Namespace) -> None:
    from mt.errors import UserError

    given = {name for name in ("src", "ref", "hyp") if getattr(arguments, name)}
    allowed = ({"src", "ref"}, {"hyp", "ref"}, {"src", "hyp", "ref"})
    if given and (arguments.split or given not in allowed):
        raise UserError("give --split, or --src with --ref, or --hyp with --ref")
    if not arguments.hyp:
        return
    idle = [name for name in OF_DECODING if getattr(arguments, name) != arguments.default_of(name)]
    if idle:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise UserError(
            f"{options}: with --hyp nothing is translated; leave it out, or --hyp, to translate"
        )
    if arguments.model and not arguments.src:
        raise UserError("--model with --hyp needs --src: it tells of the source words alone")


def check_folder(folder: Path) -> None:
    """Raises UserError unless results can be written into `folder`, or it can be made."""
    from mt.training.checks import check_writable

    check_writable(folder)


def _score_files(arguments: argparse.Namespace, wanted: Wanted) -> int:
    """Of translations that are there already."""
    from mt.evaluation.report import make_report
    from mt.evaluation.results import content_of
    from mt.storage.model_folder import find_model

    test_set, hypotheses = read_test_set(arguments)
    assert hypotheses is not None
    languages, seen = languages_without_model(arguments), None
    content: dict[str, Any] = {}
    if arguments.model:
        folder = find_model(arguments.model)
        config = folder.read_config()
        check_pair(arguments, config, folder.path)
        languages = config.data.src, config.data.tgt
        seen = _seen(folder, config, test_set, None)
        content["model"] = str(folder.path)
    report = make_report(test_set, hypotheses, languages, wanted, seen.frequency if seen else None)
    content |= content_of(test_set, languages, report, seen)
    what = f"{arguments.hyp}, {len(hypotheses):,} sentences"
    show(arguments, what, test_set, report, None, content)
    if arguments.output:
        write(Path(arguments.output), test_set, hypotheses, languages, content)
    return 0


def _evaluate_model(arguments: argparse.Namespace, wanted: Wanted) -> int:
    from dataclasses import asdict

    from mt.cli.notes import Notes
    from mt.evaluation.facts import facts_of
    from mt.evaluation.report import make_report
    from mt.evaluation.results import content_of

    engine, folder = find_engine(arguments)
    config = folder.read_config()
    check_pair(arguments, config, folder.path)
    test_set, corpus = _test_set(arguments, folder, config)
    output = Path(arguments.output or folder.path / "evaluation" / test_set.name)
    check_folder(output)
    translator = load_translator(arguments)
    seen = _seen(folder, config, test_set, corpus)
    began = time.perf_counter()
    translations = translate_all(arguments, translator, test_set.sources)
    facts = facts_of(translations, time.perf_counter() - began)
    hypotheses = [translation.text for translation in translations]
    languages = config.data.src, config.data.tgt
    report = make_report(test_set, hypotheses, languages, wanted, seen.frequency if seen else None)
    content = {
        "model": str(folder.path),
        "checkpoint": _checkpoint(translator, folder),
        **content_of(test_set, languages, report, seen),
        **asdict(facts),
        "engine": engine,
        "unknown": arguments.unknown,
        "prefix": arguments.prefix,
        "paragraphs": arguments.paragraphs,
        "search": asdict(translator.search),
    }
    what = f"{folder.path}, {test_set.name}, {len(hypotheses):,} sentences"
    show(arguments, what, test_set, report, facts, content)
    notes = Notes(translator.source_limit)
    notes.take(translations)
    notes.say()
    write(output, test_set, hypotheses, languages, content)
    return 0


def _test_set(
    arguments: argparse.Namespace, folder: ModelFolder, config: Config
) -> tuple[TestSet, Corpus | None]:
    """What to translate, and the corpus that it is of, if it is of one."""
    from dataclasses import replace

    from mt.cli.lines import read_lines
    from mt.evaluation.evaluate import corpus_of, split_of

    if arguments.src:
        return read_test_set(arguments)[0], None
    corpus = corpus_of(folder, config)
    test_set = split_of(corpus, folder, arguments.split)
    if path := arguments.documents:
        sides = {f"the {test_set.name} split": list(test_set.sources), path: read_lines(Path(path))}
        check_counts(sides)
        test_set = replace(test_set, documents=documents_of(path, sides))
    return test_set, corpus


def _seen(
    folder: ModelFolder, config: Config, test_set: TestSet, corpus: Corpus | None
) -> Seen | None:
    """What training saw of a test set; an overlap is told. None where the data is not at hand."""
    from mt.cli.report import log
    from mt.errors import UserError
    from mt.evaluation.evaluate import corpus_at_hand
    from mt.evaluation.training_text import look_up

    try:
        corpus = corpus or corpus_at_hand(folder, config)
    except UserError as error:
        log.warning(
            "whether the test set overlaps the training data, and how frequent its words are there "
            "is not known: %s", error,
        )  # fmt: skip
        return None
    seen = look_up(corpus.splits["train"], test_set, config.data.src)
    if complaint := seen.complaint(test_set):
        log.warning("%s", complaint)
    return seen


def _checkpoint(translator: Translator, folder: ModelFolder) -> str | None:
    from mt.storage.export_record import read_record

    record = read_record(folder.path)
    return record.checkpoint if record else getattr(translator.engine, "checkpoint", None)
