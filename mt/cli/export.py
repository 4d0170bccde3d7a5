"""`mt export`: a model for another engine; the figures of --check alone on stdout."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.engine import ENGINES, load_engine

if TYPE_CHECKING:
    from mt.decoding.translator import Translator
    from mt.evaluation.evaluate import TestSet
    from mt.storage.model_folder import ModelFolder


def add_parser(commands: Any) -> None:
    """Adds `export` to the commands."""
    parser = commands.add_parser(
        "export",
        help="write a model for CTranslate2, ONNX runtimes or transformers",
        description="Writes a folder for another engine, with all that it needs to translate. "
        "`mt translate --engine ctranslate2` runs it without torch: it starts in a fraction of "
        "the time.",
    )
    parser.add_argument(
        "--format", required=True, choices=("ctranslate2", "onnx", "transformers"), help="for what"
    )
    parser.add_argument(
        "--model", metavar="NAME|DIR", help="a name in weights/ or a folder (default: the newest)"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="where it goes (default: a folder in the model's)"
    )
    parser.add_argument(
        "--quantization",
        default="float32",
        metavar="KIND",
        help="how numbers are kept; with ctranslate2 also int8, int16, float16 and others "
        "(default: float32)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="translate the valid split before and after, compare, and fail if they differ much",
    )
    parser.add_argument(
        "--least-identical",
        type=_share,
        metavar="SHARE",
        help="with --check: how many translations must be the same (default: 0.995 with float32; "
        "else at most 0.3 BLEU may be lost)",
    )
    parser.set_defaults(run=run)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, not {text}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Exports; 0 when it is written and, if asked for, close enough."""
    _check_options(arguments)

    from mt.cli.report import log, start_logging
    from mt.evaluation.evaluate import held_out
    from mt.export.export import export
    from mt.storage.model_folder import find_model

    start_logging()
    folder = find_model(arguments.model)
    test_set = held_out(folder, folder.read_config(), "valid") if arguments.check else None
    output = Path(arguments.output) if arguments.output else None
    before = _quantization(output or folder.path / arguments.format)
    exported = export(folder, arguments.format, output, arguments.quantization)
    log.info("exported to %s, as %s", exported.path, arguments.quantization)
    if before not in (None, arguments.quantization):
        log.info("it replaces the one as %s; with --output DIR there is room for both", before)
    if test_set:
        _compare(arguments, folder, exported, test_set)
    return 0


def _quantization(place: Path) -> str | None:
    """The numbers of the export that is there, None if there is none that can be read."""
    from mt.errors import UserError
    from mt.storage.export_record import read_record

    try:
        record = read_record(place)
    except UserError:
        return None
    return record.quantization if record else None


def _check_options(arguments: argparse.Namespace) -> None:
    from mt.errors import UserError

    if arguments.least_identical is not None and not arguments.check:
        raise UserError("--least-identical is for --check: give both")
    if arguments.check and arguments.format not in ENGINES:
        raise UserError(
            f"--check needs an engine that `mt` runs, which it has not for --format "
            f"{arguments.format}; export without --check"
        )


def _compare(
    arguments: argparse.Namespace, folder: ModelFolder, exported: ModelFolder, test_set: TestSet
) -> None:
    from mt.export.check import LEAST_IDENTICAL, compare
    from mt.wording import counted

    before, after = _translator("torch", folder), _translator(arguments.format, exported)
    comparison = compare(test_set, before, after, batch_size=64)
    print(f"{exported.path}, valid, {counted(comparison.sentences, 'sentence')}, greedy search")
    for line in comparison.lines():
        print(line)
    least = arguments.least_identical
    if least is None and arguments.quantization == "float32":
        least = LEAST_IDENTICAL
    comparison.demand(least)


def _translator(engine: str, folder: ModelFolder) -> Translator:
    from mt.decoding.engine import Search
    from mt.decoding.translator import Translator

    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    loaded = load_engine(engine, folder, config, src, tgt, "cpu")
    search = Search(max_length_ratio=config.decoding.max_length_ratio, scored=False)
    return Translator(loaded, src, tgt, config, search=search)
