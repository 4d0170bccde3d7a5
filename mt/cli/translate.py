"""`mt translate`: sentences, a file, standard input or a prompt; translations alone on stdout."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mt.cli.attention import add_attention_options, check_attention_options, draw_attention
from mt.cli.engine import add_engine_options, find_engine, load_engine
from mt.cli.output import add_output_options, check_output_options, line_format
from mt.cli.search import add_search_options, at_least, search_from

if TYPE_CHECKING:
    from mt.cli.lines import Note
    from mt.cli.sharing import Place
    from mt.decoding.translator import Translation, Translator

PART_BATCHES = 8  # of a part that one of several processes translates


def add_parser(commands: Any) -> None:
    """Adds `translate` to the commands."""
    parser = commands.add_parser(
        "translate",
        help="translate sentences, a file, standard input, or at a prompt",
        description="Translates with the newest model in weights/, or the one named. One line in "
        "gives one line out. Without sentences or --input it reads standard input, or asks for "
        "sentences at a terminal. A sentence that begins with a dash goes after --. Several "
        "processes share out a large file: torchrun --nproc-per-node 4 -m mt translate --input "
        "FILE --output FILE.",
    )
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="what to translate")
    add_model_options(parser)
    parser.add_argument("--input", metavar="FILE", help="a text file, line by line; - for stdin")
    parser.add_argument("--output", metavar="FILE", help="where translations go, instead of stdout")
    parser.add_argument(
        "--n-best",
        type=at_least(int, 1),
        metavar="N",
        help="so many of a sentence; with --json. A line in parts has the best alone",
    )
    parser.add_argument(
        "--alternatives",
        type=at_least(int, 1),
        metavar="N",
        help="so many whose first tokens differ, the best of each, where --n-best may differ in a "
        "comma; with --json",
    )
    parser.add_argument(
        "--errors",
        choices=("strict", "replace"),
        default="strict",
        help="what to do with bytes that are not UTF-8: refuse the line, or replace them by "
        "U+FFFD (default: strict)",
    )
    add_output_options(parser)
    add_attention_options(parser)
    parser.set_defaults(run=run)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which model translates, and how."""
    parser.add_argument(
        "--model", metavar="NAME|DIR", help="a name in weights/ or a folder (default: the newest)"
    )
    add_translating_options(parser)


def add_translating_options(parser: argparse.ArgumentParser) -> None:
    """The options that say how a model translates."""
    add_engine_options(parser)
    add_unknown_option(parser)
    parser.add_argument(
        "--batch-size",
        type=at_least(int, 1),
        default=64,
        metavar="N",
        help="sentences at once; changes the speed, not the translations (default: 64)",
    )
    parser.add_argument(
        "--paragraphs",
        action="store_true",
        help="translate every sentence of a line by itself; without, only lines over the model's "
        "limit are cut",
    )
    add_search_options(parser)


def add_unknown_option(parser: argparse.ArgumentParser) -> None:
    """The option that says what stands for words that the model has not."""
    parser.add_argument(
        "--unknown",
        choices=("mark", "copy", "ban"),
        default="copy",
        help="for a word the model cannot say: a mark, the source word it looks at most, or the "
        "next likely word (default: copy)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Translates; 0 when every line was."""
    from mt.cli.lines import NotUtf8Error
    from mt.errors import UserError

    try:
        return _run(arguments)
    except NotUtf8Error as error:
        raise UserError(f"{error}, or give --errors replace") from None


def _run(arguments: argparse.Namespace) -> int:
    from mt.cli.lines import open_input
    from mt.cli.prompt import ask
    from mt.cli.sharing import Place
    from mt.errors import UserError

    if arguments.sentences and arguments.input:
        raise UserError("give either sentences or --input, not both")
    check_output_options(arguments)
    check_attention_options(arguments)
    if (place := Place.of_environment()).size > 1:
        return _translate_together(arguments, place)
    if arguments.sentences:
        return _translate(arguments, [os.fsencode(sentence) for sentence in arguments.sentences])
    if arguments.input not in (None, "-"):
        _check_not_the_same(arguments)
        with open_input(Path(arguments.input)) as handle:
            return _translate(arguments, handle)
    if sys.stdin is None:
        raise UserError("standard input is closed; give sentences or --input FILE")
    if arguments.input is None and sys.stdin.isatty():
        translator = load_translator(arguments)
        return ask(translator, line_format(arguments, translator), arguments.prefix)
    return _translate(arguments, sys.stdin.fileno())


def _check_not_the_same(arguments: argparse.Namespace) -> None:
    from mt.errors import UserError

    source, target = Path(arguments.input), Path(arguments.output or "")
    if arguments.output and source.exists() and target.exists() and source.samefile(target):
        raise UserError(f"--output {target.absolute()} is the input: it would be overwritten")


def load_translator(arguments: argparse.Namespace) -> Translator:
    """The translator that the options ask for. Raises UserError."""
    from dataclasses import replace

    from mt.cli.sharing import Place
    from mt.decoding.translator import Translator

    place = Place.of_environment()
    _start_logging(place)
    engine, folder = find_engine(arguments)
    config = folder.read_config() if engine == "torch" else folder.settings()
    src, tgt = folder.tokenizers(config)
    if engine == "torch":
        from mt.model.quick_torch import import_torch

        import_torch()
    loaded = load_engine(engine, folder, config, src, tgt, place.device(engine, arguments.device))
    wanted = {name for name in ("json", "scores", "alignments") if getattr(arguments, name, False)}
    search = replace(
        search_from(arguments, config),
        scored=bool(wanted & {"json", "scores"}),
        align=bool(wanted & {"json", "alignments"}),
    )
    return Translator(
        loaded, src, tgt, config, arguments.unknown, search, paragraphs=arguments.paragraphs
    )


def translate_all(
    arguments: argparse.Namespace, translator: Translator, sources: Sequence[str]
) -> list[Translation]:
    """The translations of sentences that are all there, with its progress told."""
    from mt.progress import track

    each = 16 * arguments.batch_size
    parts = [sources[i : i + each] for i in range(0, len(sources), each)]
    return [
        translation
        for part in track(parts, "translating", len(sources), " sentences", each)
        for translation in translator.translate(part, arguments.batch_size, arguments.prefix)
    ]


def _translate(arguments: argparse.Namespace, source: int | list[bytes]) -> int:
    """Translates sentences of the command line, or what there is to read of a file descriptor."""
    from mt.cli.notes import Notes

    translator = load_translator(arguments)
    line = line_format(arguments, translator)
    notes = Notes(translator.source_limit)
    replaced = notes.replaced if arguments.errors == "replace" else None
    with _output(arguments.output) as write:
        for window in _windows(arguments, source, replaced):
            done: list[Translation] = []
            for translation in translator.stream(window, arguments.batch_size, arguments.prefix):
                if arguments.attention:
                    draw_attention(arguments, translator, translation)
                write(f"{line(translation)}\n")
                done.append(translation)
            notes.take(done)
    notes.say()
    return 0


def _windows(
    arguments: argparse.Namespace, source: int | list[bytes], replaced: Note | None
) -> Iterator[list[str]]:
    from mt.cli.lines import decode, windows

    if isinstance(source, list):
        return iter([decode(source, "the sentences given", 0, replaced)])
    given = arguments.input not in (None, "-")
    where = str(Path(arguments.input).absolute()) if given else "standard input"
    return windows(source, where, replaced)


def _start_logging(place: Place) -> None:
    """Of several processes the first one tells what goes on."""
    from mt.cli.report import only_warn, start_logging

    start_logging()
    if place.rank:
        only_warn()


def _translate_together(arguments: argparse.Namespace, place: Place) -> int:
    """This process's share of a file that several processes translate."""
    from mt.cli.sharing import SharedFile, Work, check_can_share, fingerprint

    _start_logging(place)
    check_can_share(arguments)
    _check_not_the_same(arguments)
    _check_target(Path(arguments.output))
    mark = fingerprint(arguments, *_model_files(arguments))
    lines = PART_BATCHES * arguments.batch_size
    shared = SharedFile(Path(arguments.input), Path(arguments.output), place, mark, lines)
    with shared.taking_part():
        translator = load_translator(arguments)
        form = line_format(arguments, translator)

        def translate(sentences: list[str]) -> list[Translation]:
            return translator.translate(sentences, arguments.batch_size, arguments.prefix)

        replace = arguments.errors == "replace"
        notes = shared.translate(Work(translate, form, translator.source_limit, replace))
    if place.rank == 0:
        notes.say()
    return 0


def _model_files(arguments: argparse.Namespace) -> tuple[Path, Path | None]:
    """The folder of the model, and the checkpoint in it that translates; none in an export."""
    from mt.storage.checkpoint import list_checkpoints

    _, folder = find_engine(arguments)
    newest = list_checkpoints(folder.checkpoints)[::-1]
    return folder.path, folder.pointer("best") or (newest[0] if newest else None)


@contextmanager
def _output(path: str | None) -> Iterator[Callable[[str], object]]:
    """Writes to stdout, or to a file that has its name only once it is complete."""
    from mt.storage.atomic import output_file

    if path is None:

        def write(text: str) -> None:
            sys.stdout.write(text)
            sys.stdout.flush()

        yield write
        return
    target = Path(path)
    _check_target(target)
    with output_file(target) as temporary:
        file: IO[str]
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            yield file.write


def _check_target(target: Path) -> None:
    from mt.errors import UserError

    if target.is_dir():
        raise UserError(f"--output {target.absolute()} is a folder, not a file")
    if not target.absolute().parent.is_dir():
        raise UserError(f"--output {target.absolute()}: there is no such folder")
