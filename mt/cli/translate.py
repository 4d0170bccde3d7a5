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
    from mt.decoding.translator import Translation, Translator

MOST_NOTES = 20  # of one kind; the rest is counted


def add_parser(commands: Any) -> None:
    """Adds `translate` to the commands."""
    parser = commands.add_parser(
        "translate",
        help="translate sentences, a file, standard input, or at a prompt",
        description="Translates with the newest model in weights/, or the one named. One line in "
        "gives one line out. Without sentences or --input it reads standard input, or asks for "
        "sentences at a terminal. A sentence that begins with a dash goes after --.",
    )
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="what to translate")
    add_model_options(parser)
    parser.add_argument("--input", metavar="FILE", help="a text file, line by line; - for stdin")
    parser.add_argument("--output", metavar="FILE", help="where translations go, instead of stdout")
    parser.add_argument(
        "--n-best", type=at_least(int, 1), metavar="N", help="so many of a sentence; with --json"
    )
    add_output_options(parser)
    add_attention_options(parser)
    parser.set_defaults(run=run)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which model translates, and how."""
    parser.add_argument(
        "--model", metavar="NAME|DIR", help="a name in weights/ or a folder (default: the newest)"
    )
    add_engine_options(parser)
    parser.add_argument(
        "--unknown",
        choices=("mark", "copy", "ban"),
        default="copy",
        help="for a word the model cannot say: a mark, the source word it looks at most, or the "
        "next likely word (default: copy)",
    )
    parser.add_argument(
        "--batch-size",
        type=at_least(int, 1),
        default=64,
        metavar="N",
        help="sentences at once; changes the speed, not the translations (default: 64)",
    )
    add_search_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Translates; 0 when every line was."""
    from mt.cli.lines import open_input, windows
    from mt.errors import UserError

    if arguments.sentences and arguments.input:
        raise UserError("give either sentences or --input, not both")
    check_output_options(arguments)
    check_attention_options(arguments)
    if arguments.sentences:
        source: Iterator[list[str]] = iter([[_text(word) for word in arguments.sentences]])
        return _translate(arguments, source)
    if arguments.input not in (None, "-"):
        _check_not_the_same(arguments)
        with open_input(Path(arguments.input)) as handle:
            return _translate(arguments, windows(handle, str(Path(arguments.input).absolute())))
    if arguments.input is None and sys.stdin.isatty():
        return _prompt(load_translator(arguments), arguments)
    return _translate(arguments, windows(sys.stdin.fileno(), "standard input"))


def _check_not_the_same(arguments: argparse.Namespace) -> None:
    from mt.errors import UserError

    source, target = Path(arguments.input), Path(arguments.output or "")
    if arguments.output and source.exists() and target.exists() and source.samefile(target):
        raise UserError(f"--output {target.absolute()} is the input: it would be overwritten")


def load_translator(arguments: argparse.Namespace) -> Translator:
    """The translator that the options ask for. Raises UserError."""
    from dataclasses import replace

    from mt.cli.report import start_logging
    from mt.decoding.translator import Translator

    start_logging()
    engine, folder = find_engine(arguments)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    loaded = load_engine(engine, folder, config, src, tgt, arguments.device)
    wanted = {name for name in ("json", "scores", "alignments") if getattr(arguments, name, False)}
    search = replace(
        search_from(arguments, config),
        scored=bool(wanted & {"json", "scores"}),
        align=bool(wanted & {"json", "alignments"}),
    )
    return Translator(loaded, src, tgt, config, arguments.unknown, search)


def _text(argument: str) -> str:
    """A sentence from the command line as the bytes that were typed, read as UTF-8."""
    from mt.errors import UserError

    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"the sentence {argument!a} is not UTF-8") from None


def _translate(arguments: argparse.Namespace, source: Iterator[list[str]]) -> int:
    translator = load_translator(arguments)
    line = line_format(arguments, translator)
    notes = Notes(translator.source_limit)
    with _output(arguments.output) as write:
        for sentences in source:
            translations = translator.translate(sentences, arguments.batch_size, arguments.prefix)
            notes.take(translations)
            if arguments.attention:
                draw_attention(arguments, translator, translations[0])
            write("".join(f"{line(translation)}\n" for translation in translations))
    notes.say()
    return 0


@contextmanager
def _output(path: str | None) -> Iterator[Callable[[str], object]]:
    """Writes to stdout, or to a file that has its name only once it is complete."""
    from mt.errors import UserError
    from mt.storage.atomic import output_file

    if path is None:

        def write(text: str) -> None:
            sys.stdout.write(text)
            sys.stdout.flush()

        yield write
        return
    target = Path(path)
    if target.is_dir():
        raise UserError(f"--output {target.absolute()} is a folder, not a file")
    if not target.absolute().parent.is_dir():
        raise UserError(f"--output {target.absolute()}: there is no such folder")
    with output_file(target) as temporary:
        file: IO[str]
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            yield file.write


class Notes:
    """What a person should know of translations, said once at the end, on stderr."""

    def __init__(self, source_limit: int) -> None:
        self.source_limit = source_limit
        self.line = 0
        self.unknown: dict[str, None] = {}  # a dict keeps the order, a set does not
        self.copied: dict[str, None] = {}
        self.marked = 0
        self.too_long: list[tuple[int, int]] = []
        self.cut: list[int] = []
        self.repeated: list[int] = []

    def take(self, translations: Sequence[Translation]) -> None:
        """Notes what is worth noting of the next lines."""
        for translation in translations:
            self.line += 1
            self.unknown.update(dict.fromkeys(translation.unknown))
            words = (word for word in translation.copied if any(map(str.isalnum, word)))
            self.copied.update(dict.fromkeys(words))
            self.marked += translation.marked
            if translation.source_limit is not None:
                self.too_long.append((self.line, translation.source_tokens))
            if translation.cut:
                self.cut.append(self.line)
            if translation.repeated:
                self.repeated.append(self.line)

    def say(self) -> None:
        """Tells all notes."""
        from mt.cli.report import log
        from mt.text.tokenizer import UNKNOWN_MARK

        if self.unknown:
            log.info("unknown to the model: %s", some(list(self.unknown)))
        if self.copied:
            log.info("copied, for want of a word in the vocabulary: %s", some(list(self.copied)))
        if self.marked:
            log.info(
                "marked %s, for want of a word in the vocabulary: %s", UNKNOWN_MARK, self.marked
            )
        for line, tokens in self.too_long[:MOST_NOTES]:
            log.info(
                "line %s: %s tokens, over the model's limit of %s; the rest was not translated",
                line, tokens, self.source_limit,
            )  # fmt: skip
        if len(self.too_long) > MOST_NOTES:
            log.info("%s more lines were over the limit", len(self.too_long) - MOST_NOTES)
        if self.cut:
            log.info(
                "cut at the longest allowed length, without an end: line %s",
                some([str(line) for line in self.cut]),
            )
        if self.repeated:
            log.info(
                "says the same again and again: line %s",
                some([str(line) for line in self.repeated]),
            )


def some(words: list[str]) -> str:
    """The first words of a list, and how many more there are."""
    more = f", and {len(words) - MOST_NOTES} more" if len(words) > MOST_NOTES else ""
    return ", ".join(words[:MOST_NOTES]) + more


def _prompt(translator: Translator, arguments: argparse.Namespace) -> int:
    """Asks for sentences until the end of input."""
    import contextlib

    from mt.errors import UserError

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - gives input() history and line editing
    print("Type a sentence; Ctrl-D ends.", file=sys.stderr)
    while True:
        try:
            sentence = _text(_ask())
        except EOFError:
            print(file=sys.stderr)
            return 0
        except (UnicodeDecodeError, UserError):
            print("that was not UTF-8", file=sys.stderr)
            continue
        notes = Notes(translator.source_limit)
        translations = translator.translate([sentence], prefix=arguments.prefix)
        notes.take(translations)
        print(line_format(arguments, translator)(translations[0]), flush=True)
        notes.say()


def _ask() -> str:
    """A line that a person types; the prompt is never among results that go elsewhere."""
    if sys.stdout.isatty():
        return input("> ")
    print("> ", end="", file=sys.stderr, flush=True)
    return input()
