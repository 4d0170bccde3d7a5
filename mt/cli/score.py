"""`mt score`: how probable given translations are to a model; figures alone on stdout."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mt.cli.engine import add_engine_options, find_engine, load_engine
from mt.cli.notes import Few
from mt.cli.search import at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mt.decoding.scoring import Scored
    from mt.decoding.translator import Translator

AT_ONCE = 16  # batches of pairs, sorted by length, between two writings
SEPARATOR = " ||| "  # of the fields of an n-best list, as Moses writes it


def add_parser(commands: Any) -> None:
    """Adds `score` to the commands."""
    parser = commands.add_parser(
        "score",
        help="how probable given translations are",
        description="Has a model read translations that are there already, and prints for each, "
        "in columns: the natural logarithm of its probability, its tokens (the end counted) and "
        "the perplexity by token. Totals go to stderr. With --n-best, the lines of the lists with "
        "the log-probability added.",
    )
    parser.add_argument("--src", metavar="FILE", required=True, help="the sources")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--tgt", metavar="FILE", help="their translations, line for line")
    which.add_argument(
        "--n-best",
        metavar="FILE",
        help="lists of them, a line each: ID ||| TEXT, and more fields if there are; ID 0 is the "
        "first source",
    )
    parser.add_argument(
        "--model", metavar="NAME|DIR", help="a name in weights/ or a folder (default: the newest)"
    )
    add_engine_options(parser)
    parser.add_argument(
        "--batch-size",
        type=at_least(int, 1),
        default=64,
        metavar="N",
        help="pairs at once; changes the speed, not the scores (default: 64)",
    )
    parser.add_argument(
        "--json", action="store_true", help="a JSON object a line, with the score of each token"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Scores; 0 when every line was."""
    from mt.decoding.scoring import score_pairs
    from mt.progress import track

    entries = _read(arguments)
    translator = _translator(arguments)
    each = AT_ONCE * arguments.batch_size
    parts = [entries[i : i + each] for i in range(0, len(entries), each)]
    totals = Totals(translator.source_limit)
    for part in track(parts, "scoring", len(entries), " pairs", each):
        pairs = [(entry.source, entry.target) for entry in part]
        scored = score_pairs(translator, pairs, arguments.batch_size)
        for entry, one in zip(part, scored, strict=True):
            totals.take(one)
            print(_as_json(entry, one) if arguments.json else _columns(entry, one))
    totals.say()
    return 0


class Entry(NamedTuple):
    """A pair to score; of n-best lists also the place of its source, and the whole line."""

    source: str
    target: str
    id: int | None = None
    line: str = ""


def _read(arguments: argparse.Namespace) -> list[Entry]:
    """What there is to score. Raises UserError."""
    from mt.cli.lines import read_lines
    from mt.errors import UserError
    from mt.wording import counted

    sources = read_lines(Path(arguments.src))
    if not sources:
        raise UserError(f"nothing to score: {arguments.src} is empty")
    if arguments.n_best:
        lines = read_lines(Path(arguments.n_best))
        return [
            _entry(line, f"{arguments.n_best}, line {i}", sources)
            for i, line in enumerate(lines, 1)
        ]
    targets = read_lines(Path(arguments.tgt))
    if len(sources) != len(targets):
        raise UserError(
            f"{arguments.src} has {counted(len(sources), 'line')}, {arguments.tgt} has "
            f"{len(targets):,}: they must be line for line"
        )
    return [Entry(*pair) for pair in zip(sources, targets, strict=True)]


def _entry(line: str, where: str, sources: Sequence[str]) -> Entry:
    """What a line of n-best lists says. Raises UserError."""
    from mt.errors import UserError

    fields = [field.strip() for field in line.split("|||")]
    if len(fields) < 2 or not fields[0].isdecimal():
        raise UserError(f"{where}: expected ID ||| TEXT, as in: 0 ||| la casa")
    place = int(fields[0])
    if place >= len(sources):
        raise UserError(
            f"{where}: source {place}, and there are {len(sources):,}, counted from 0, in --src"
        )
    return Entry(sources[place], fields[1], place, line)


def _translator(arguments: argparse.Namespace) -> Translator:
    from mt.cli.report import start_logging
    from mt.decoding.translator import Translator

    start_logging()
    engine, folder = find_engine(arguments)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    loaded = load_engine(engine, folder, config, src, tgt, arguments.device)
    return Translator(loaded, src, tgt, config)


def _columns(entry: Entry, one: Scored) -> str:
    if entry.id is not None:
        return f"{entry.line}{SEPARATOR}{one.log_probability:.6f}"
    return f"{one.log_probability:.6f}\t{len(one.tokens)}\t{one.perplexity:.4f}"


def _as_json(entry: Entry, one: Scored) -> str:
    values = {
        **({} if entry.id is None else {"id": entry.id}),
        "source": one.source,
        "target": one.target,
        "log_probability": one.log_probability,
        "perplexity": one.perplexity,
        "tokens": one.tokens,
        "token_log_probabilities": one.token_log_probabilities,
        "unknown": one.unknown,
        "source_too_long": one.source_cut,
    }
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


class Totals:
    """What is said of all pairs together, once at the end, on stderr."""

    def __init__(self, source_limit: int) -> None:
        self.source_limit = source_limit
        self.pairs = self.tokens = self.unknown = 0
        self.log_probability = 0.0
        self.words, self.cut = Few(), Few()

    def take(self, one: Scored) -> None:
        """Counts a pair in."""
        self.pairs += 1
        self.tokens += len(one.tokens)
        self.log_probability += one.log_probability
        self.unknown += len(one.unknown)
        self.words.add(one.unknown)
        if one.source_cut:
            self.cut.add([str(self.pairs)])

    def say(self) -> None:
        """Tells the totals, and what was not read as it stands."""
        from mt.cli.report import log
        from mt.decoding.scoring import perplexity
        from mt.text.tokenizer import UNK
        from mt.wording import counted

        if self.unknown:
            log.info(
                "unknown to the model, and scored as %s, %s of the words of the translations: %s",
                UNK, f"{self.unknown:,}", self.words,
            )  # fmt: skip
        if self.cut:
            log.info(
                "the source is over the model's limit of %s tokens, and its beginning alone was "
                "read: line %s",
                self.source_limit, self.cut,
            )  # fmt: skip
        log.info(
            "%s, %s: log-probability %.4f, perplexity %.4f",
            counted(self.pairs, "pair"), counted(self.tokens, "token"), self.log_probability,
            perplexity(self.log_probability, self.tokens),
        )  # fmt: skip
