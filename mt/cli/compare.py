"""`mt compare`: models or files of translations on one test set, and whether chance explains it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from mt.cli.compared import lines
from mt.cli.engine import find_engine
from mt.cli.scores import add_common_options
from mt.cli.search import search_from
from mt.cli.test_set import check_references
from mt.cli.translate import add_translating_options, load_translator, translate_all

if TYPE_CHECKING:
    from mt.config import Config
    from mt.evaluation.comparison import System
    from mt.evaluation.evaluate import TestSet
    from mt.storage.model_folder import ModelFolder


def add_parser(commands: Any) -> None:
    """Adds `compare` to the commands."""
    parser = commands.add_parser(
        "compare",
        help="two models or outputs, or more: which is better, and whether that is chance",
        description="Compares models and files of translations on one test set: by default the "
        "test split of the models (or their valid split, if they have no test split). Differences "
        "are tested by paired bootstrap and by paired approximate randomisation, those of "
        "sacrebleu; of three systems or more each pair, without correction for their number. A "
        "model's evaluation that `mt evaluate` left is used where it is of the same test set, "
        "checkpoint and search; else the model translates.",
    )
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="a name in weights/, a model folder, or a file of translations; the first is the "
        "baseline",
    )
    group = parser.add_argument_group("test set (default: the test split of the models)")
    group.add_argument("--split", choices=("test", "valid"), help="which held-out pairs")
    group.add_argument("--src", metavar="FILE", help="sources, with --ref")
    group.add_argument(
        "--ref",
        metavar="FILE",
        action="append",
        help="references, alone if there is no model; again for more references of each",
    )
    add_common_options(parser, "bleu chrf", "sentences in each direction that differ most")
    add_translating_options(parser)
    parser.set_defaults(run=run)


@dataclass
class Given:
    """A system as it was given: a file and its lines, or a model."""

    name: str
    lines: list[str] | None = None
    folder: ModelFolder | None = None
    config: Config | None = None
    engine: str = ""

    @property
    def languages(self) -> tuple[str, str] | None:
        """Source and target of a model."""
        return (self.config.data.src, self.config.data.tgt) if self.config else None


def run(arguments: argparse.Namespace) -> int:
    """Compares; everything is checked before anything is translated."""
    from mt.cli.report import start_logging
    from mt.evaluation.comparison import compare
    from mt.evaluation.scores import QUICK, check_metrics

    start_logging()
    metrics = tuple(dict.fromkeys(arguments.metric or QUICK))
    check_metrics(metrics)
    _check(arguments)
    given = [_given(name, arguments) for name in arguments.systems]
    _check_models(given, arguments)
    test_set, frequency = _test_set(given, arguments)
    systems = list(_translations(given, test_set, arguments))
    languages = next((one.languages for one in given if one.languages), ("", ""))
    found = compare(systems, test_set, languages, metrics, arguments.examples, frequency)
    if arguments.json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=1, allow_nan=False))
        return 0
    for line in lines(found):
        print(line)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raises UserError for options and systems that do not go together."""
    from mt.errors import UserError

    if len(arguments.systems) < 2:
        raise UserError(
            f"only one system, {arguments.systems[0]}: give two or more, as in: mt compare A B"
        )
    if arguments.split and (arguments.src or arguments.ref):
        raise UserError("give either --split, or --src with --ref, not both")
    if arguments.src and not arguments.ref:
        raise UserError("--src needs --ref, the references for it")
    if len(arguments.systems) > len(ascii_uppercase):
        raise UserError(f"{len(arguments.systems)} systems: give {len(ascii_uppercase)} at most")


def _given(name: str, arguments: argparse.Namespace) -> Given:
    """The file or the model that `name` is. Raises UserError if it is neither."""
    from mt.cli.lines import read_lines
    from mt.errors import UserError

    if Path(name).is_file():
        return Given(name, lines=read_lines(Path(name)))
    try:
        engine, folder = find_engine(_for_model(arguments, name))
    except UserError as error:
        if Path(name).exists() or not str(error).startswith("no model"):
            raise
        raise UserError(f"{error}; nor is there a file of that name") from None
    return Given(name, folder=folder, config=folder.read_config(), engine=engine)


def _for_model(arguments: argparse.Namespace, name: str) -> argparse.Namespace:
    """The options as the functions that load a model read them."""
    return argparse.Namespace(**{**vars(arguments), "model": name, "json": False})


def _check_models(given: Sequence[Given], arguments: argparse.Namespace) -> None:
    """Raises UserError: one system twice, other languages, a wrong search, no test set."""
    from mt.errors import UserError
    from mt.evaluation.stored import translating

    seen: dict[Path, str] = {}
    for one in given:
        place = (one.folder.path if one.folder else Path(one.name)).resolve()
        if place in seen:
            twice = one.name if one.name == seen[place] else f"{seen[place]} and {one.name}"
            raise UserError(f"the same system twice: {twice} ({place}); give another one")
        seen[place] = one.name
        if one.folder and translating(one.folder) is None:
            raise UserError(
                f"{one.folder.path.absolute()} has no checkpoint yet; let `mt train` go on"
            )
        if one.config:
            search_from(_for_model(arguments, one.name), one.config)
    models = [one for one in given if one.languages]
    for one in models[1:]:
        if one.languages != models[0].languages:
            pairs = [f"{m.name} translates {'-'.join(m.languages or ())}" for m in (models[0], one)]
            raise UserError(f"not the same task: {', '.join(pairs)}")
    if not models and not arguments.ref:
        raise UserError("no model among the systems: give --ref FILE, the references")
    if models and arguments.ref and not arguments.src:
        raise UserError(f"--ref needs --src, which {models[0].name} is to translate")


def _test_set(
    given: Sequence[Given], arguments: argparse.Namespace
) -> tuple[TestSet, dict[str, int] | None]:
    """What all are compared on, and how frequent its words are in training, if that is at hand.

    Raises UserError where the models have not the same one, or a count differs.
    """
    from mt.cli.lines import read_lines
    from mt.evaluation.evaluate import TestSet, held_out

    if arguments.ref:
        files = {path: read_lines(Path(path)) for path in arguments.ref}
        sources = read_lines(Path(arguments.src)) if arguments.src else []
        _check_counts({**files, **({arguments.src: sources} if arguments.src else {})}, given)
        for path, references in files.items():
            check_references(path, references)
        first, *others = files.values()
        name = Path(arguments.src or arguments.ref[0]).stem
        return TestSet(name, sources, first, others), None
    models = [one for one in given if one.folder and one.config]
    sets = []
    for one in models:
        assert one.folder is not None
        assert one.config is not None
        sets.append(held_out(_original(one.folder), one.config, arguments.split))
    for one, other in zip(models[1:], sets[1:], strict=True):
        _check_same(models[0].name, sets[0], one.name, other)
    what = f"the {sets[0].name} split of {models[0].name}"
    _check_counts({what: sets[0].references}, given)
    check_references(what, sets[0].references)
    return sets[0], _frequency(models[0], sets[0])


def _original(folder: ModelFolder) -> ModelFolder:
    """The folder itself; of an export in a model's folder that one, if it alone has data.json."""
    from mt.storage.model_folder import ModelFolder

    return folder if folder.data_file.is_file() else ModelFolder(folder.path.parent)


def _check_same(name: str, first: TestSet, other_name: str, other: TestSet) -> None:
    from mt.errors import UserError

    way_out = "give one that all can translate with --src and --ref"
    if first.name != other.name or len(first.references) != len(other.references):
        counts = [
            f"{n} has {len(t.references):,} pairs in its {t.name} split"
            for n, t in ((name, first), (other_name, other))
        ]
        raise UserError(f"not the same test set: {', '.join(counts)}; {way_out}")
    pairs = (zip(t.sources, t.references, strict=True) for t in (first, other))
    changed = [i for i, (own, others) in enumerate(zip(*pairs, strict=True), 1) if own != others]
    if changed:
        raise UserError(
            f"not the same test set: {len(changed):,} of {len(first.references):,} pairs in the "
            f"{first.name} splits of {name} and {other_name} differ, the first is pair "
            f"{changed[0]:,}; {way_out}"
        )


def _check_counts(sides: dict[str, Any], given: Sequence[Given]) -> None:
    from mt.errors import UserError

    counts = {name: len(lines) for name, lines in sides.items()}
    counts |= {one.name: len(one.lines) for one in given if one.lines is not None}
    first, *others = counts.items()
    for other, count in others:
        if count != first[1]:
            raise UserError(
                f"{first[0]} has {first[1]:,} lines, {other} has {count:,}: they must be line for "
                "line"
            )
    if not first[1]:
        raise UserError(f"nothing to compare: {first[0]} has 0 lines")


def _frequency(model: Given, test_set: TestSet) -> dict[str, int]:
    """How often the words of the sources are in training; an overlap with training is told."""
    from mt.cli.report import log
    from mt.evaluation.evaluate import corpus_of
    from mt.evaluation.training_text import look_up

    assert model.folder is not None
    assert model.config is not None
    corpus = corpus_of(_original(model.folder), model.config)
    seen = look_up(corpus.splits["train"], test_set, model.config.data.src)
    if complaint := seen.complaint(test_set):
        log.warning("%s", complaint)
    return seen.frequency


def _translations(
    given: Sequence[Given], test_set: TestSet, arguments: argparse.Namespace
) -> Iterator[System]:
    """Each system with its translations: of the file, stored, or made now."""
    from mt.cli.report import log
    from mt.evaluation.comparison import System

    stored = [_stored(one, test_set, arguments) for one in given]
    for one, system in zip(given, stored, strict=True):
        if system is not None:
            yield system
            continue
        log.info("translating %s sentences with %s", f"{len(test_set.sources):,}", one.name)
        yield System(one.name, *_translate(one, test_set, arguments))


def _stored(one: Given, test_set: TestSet, arguments: argparse.Namespace) -> System | None:
    """The system if its translations are there already."""
    from dataclasses import asdict, replace

    from mt.evaluation.comparison import System
    from mt.evaluation.stored import stored, translating

    if one.lines is not None:
        return System(one.name, one.lines, "a file of translations")
    assert one.folder is not None
    assert one.config is not None
    assert one.languages is not None
    search = search_from(_for_model(arguments, one.name), one.config)
    how = {
        "engine": one.engine,
        "unknown": arguments.unknown,
        "prefix": arguments.prefix,
        "paragraphs": arguments.paragraphs,
        "search": asdict(replace(search, scored=False, align=False)),  # as it translates
    }
    found = stored(one.folder, test_set, one.languages, how)
    if found is None:
        return None
    lines, place = found
    return System(
        one.name, lines, f"{translating(one.folder)}, as `mt evaluate` left it in {place}"
    )


def _translate(
    one: Given, test_set: TestSet, arguments: argparse.Namespace
) -> tuple[list[str], str]:
    """Translations, and what made them."""
    from mt.evaluation.stored import translating

    assert one.folder is not None
    translator = load_translator(_for_model(arguments, one.name))
    texts = [one.text for one in translate_all(arguments, translator, test_set.sources)]
    checkpoint = getattr(translator.engine, "checkpoint", None) or translating(one.folder)
    return texts, f"{checkpoint}, translated now"
