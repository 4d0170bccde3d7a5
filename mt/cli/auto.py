"""`mt train --config auto`: looks at corpus and machine, writes a config and says why it is so."""

from __future__ import annotations

import argparse
import math
import re
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mt.errors import UserError

if TYPE_CHECKING:
    from mt.config import Config
    from mt.distributed import World

AUTO = "auto"
OPTIONS = ("data", "src", "tgt", "minutes", "name")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `--config auto` needs or takes."""
    group = parser.add_argument_group(
        "--config auto",
        "Chooses a recipe by the corpus, the machine and the time, writes it to NAME.yaml for you "
        "to keep and change, and trains it.",
    )
    group.add_argument(
        "--data", nargs="+", metavar="FILE",
        help="the corpus, as data.source: a file or the common beginning of two text files, a "
        "folder, phrasebook, a Hub data set; or several",
    )  # fmt: skip
    group.add_argument("--src", metavar="CODE", help="language to translate from, as en")
    group.add_argument("--tgt", metavar="CODE", help="language to translate to, as it")
    group.add_argument(
        "--minutes", type=float, metavar="N", help="time for all, from now on; 30 if not given"
    )
    group.add_argument("--name", metavar="NAME", help="of the run; made of FILE, SRC and TGT")


def check_options(arguments: argparse.Namespace) -> None:
    """Raises UserError for options that do not go together."""
    given = [option for option in OPTIONS if getattr(arguments, option) is not None]
    if arguments.config != AUTO:
        if given:
            way = {
                "minutes": "with a file: --set training.minutes=N",
                "name": "with a file: --set name=NAME",
            }.get(given[0], "a config file says it itself, in its data section")
            raise UserError(f"--{given[0]} goes with --config auto; {way}")
        return
    missing = [f"--{option}" for option in ("data", "src", "tgt") if option not in given]
    if missing:
        raise UserError(
            f"--config auto needs {' and '.join(missing)}, as in: "
            "mt train --config auto --data corpus.tsv --src en --tgt it"
        )
    if arguments.src == arguments.tgt:
        raise UserError(f"--src and --tgt are both {arguments.src}: translation needs two")
    minutes = arguments.minutes
    if minutes is not None and not (0 < minutes < math.inf):
        raise UserError(f"--minutes {minutes:g}: must be more than 0")


def choose_config(arguments: argparse.Namespace, world: World | None, began: float) -> Config:
    """What is in NAME.yaml, which the first process writes if it is not there.

    `began` is when the command did, in seconds since 1970. Raises UserError if a file of that name
    was made for something else.
    """
    if world is None:
        return _choose_config(arguments, 1, began)
    config = _choose_config(arguments, world.size, began) if world.is_first else None
    return cast("Config", world.from_first(config))


def _choose_config(arguments: argparse.Namespace, processes: int, began: float) -> Config:
    from mt.config_file import load_config
    from mt.training.survey import asked

    sources: list[str] = arguments.data
    name = arguments.name or _name(sources[0], arguments.src, arguments.tgt)
    data = {
        "source": sources[0] if len(sources) == 1 else sources,
        "src": arguments.src,
        "tgt": arguments.tgt,
    }
    wanted = asked(name, data, tuple(arguments.overrides))
    path = Path(f"{wanted.name}.yaml")
    if path.exists():
        _check_same(path, arguments, wanted)
        _say("config", f"{path} is there: trained as it stands; --name makes another")
    else:
        _write(path, _choice(arguments, wanted, data, processes, began), arguments)
    return load_config(path, arguments.overrides)


def _choice(
    arguments: argparse.Namespace,
    wanted: Config,
    data: dict[str, Any],
    processes: int,
    began: float,
) -> Config:
    from mt.training.recipe import MINUTES, Facts, choose
    from mt.training.survey import faster, read_text, try_machine

    minutes = arguments.minutes or MINUTES
    reading = time.perf_counter()
    text = read_text(wanted)
    reading = time.perf_counter() - reading
    for line in _about(text):
        _say("corpus", line)
    machine = faster(try_machine(wanted, text), processes)
    _say("machine", str(machine))
    # Tokenizers and ids are still to be made, which takes about as long as reading did.
    seconds = 60 * minutes - (time.time() - began) - reading
    facts = Facts(
        wanted.name, data, text.pairs, text.given, text.src, text.tgt,
        machine.device.type == "cuda", machine.flops, minutes, seconds, tuple(arguments.overrides),
    )  # fmt: skip
    choice = choose(facts)
    if arguments.minutes is None:
        _say("minutes", f"{MINUTES:g}, as --minutes does not say how many")
    for line in choice.why:
        _say(*line.split(maxsplit=1))
    return choice.config


def _about(text: Any) -> list[str]:
    pairs = f"{text.pairs:,} pair{'s' if text.pairs != 1 else ''}"
    if text.given:
        pairs += f" and {' and '.join(text.given)} pairs of its own"
    sides = [
        f"{side.language}: {side.words:.1f} words a sentence, {side.types:,} different ones, "
        f"{side.script or 'no'} letters"
        for side in (text.src, text.tgt)
    ]
    return [pairs, *sides]


def _say(what: str, line: str) -> None:
    from mt.cli.report import log

    log.info("%-12s %s", what, line)


def _name(source: str, src: str, tgt: str) -> str:
    """corpus-en-it for data/corpus.tsv; of a file called train it is the folder that tells."""
    path = Path(source)
    stem = path.name.split(".")[0]
    if stem in ("train", "") and path.absolute().parent.name:
        stem = path.absolute().parent.name
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._") or "model"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{plain}-{src}-{tgt}")


def _check_same(path: Path, arguments: argparse.Namespace, wanted: Config) -> None:
    """Raises UserError if the file is for another corpus, languages, time or name."""
    from mt.config_file import load_config

    there = load_config(path, arguments.overrides)
    minutes = arguments.minutes if arguments.minutes is not None else there.training.minutes
    pairs = {
        "name": (there.name, wanted.name),
        "data.source": (there.data.source, wanted.data.source),
        "data.src": (there.data.src, wanted.data.src),
        "data.tgt": (there.data.tgt, wanted.data.tgt),
        "training.minutes": (there.training.minutes, minutes),
    }
    other = [f"{key} {_spell(a)}, not {_spell(b)}" for key, (a, b) in pairs.items() if a != b]
    if other:
        raise UserError(
            f"{path.absolute()} is there already, and has {'; '.join(other)}: it stays as it is. "
            f"Give another --name, or train it with --config {path}"
        )


def _spell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _write(path: Path, config: Config, arguments: argparse.Namespace) -> None:
    from mt.config_file import dump_settings
    from mt.storage.atomic import write_text

    head = (
        f"# Chosen by: {command(arguments)}\n"
        f"# Change what you like; mt train --config {path} trains it, and goes on with a run of its"
        "\n# name. What is not here has its default value.\n"
    )
    try:
        write_text(path, head + dump_settings(config))
    except OSError as error:
        raise UserError(f"cannot write {path.absolute()}: {error.strerror}") from None
    _say("config", f"written to {path.absolute()}: keep it, change it")


def command(arguments: argparse.Namespace) -> str:
    """The command as it was given."""
    words = ["mt", "train", "--config", AUTO, "--data", *arguments.data]
    words += ["--src", arguments.src, "--tgt", arguments.tgt]
    if arguments.minutes is not None:
        words += ["--minutes", f"{arguments.minutes:g}"]
    if arguments.name is not None:
        words += ["--name", arguments.name]
    words += [word for text in arguments.overrides for word in ("--set", text)]
    return shlex.join(words)
