"""`mt serve`: models over HTTP, for LibreTranslate's clients and for a browser."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.engine import add_engine_options, find_engine
from mt.cli.search import add_search_options, at_least, more_than_0
from mt.cli.translate import add_unknown_option, load_translator

if TYPE_CHECKING:
    from mt.serving.api import Settings
    from mt.serving.models import ServedModel

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def add_parser(commands: Any) -> None:
    """Adds `serve` to the commands."""
    parser = commands.add_parser(
        "serve",
        help="a page to translate on, and an HTTP API that LibreTranslate's clients speak",
        description="Serves the newest model in weights/, or those named, to this machine alone "
        "unless --host says otherwise. Ctrl-C stops it; what was accepted is answered first.",
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME|DIR",
        help="a name in weights/ or a folder (default: the newest); again for another pair of "
        "languages",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen; 0.0.0.0 is all addresses of this machine (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=5000,
        metavar="N",
        help="0 for any that is free (default: 5000)",
    )
    parser.add_argument(
        "--api-keys", metavar="FILE", help="answer only who has one of the keys in FILE, one a line"
    )
    parser.add_argument(
        "--cors",
        default="*",
        metavar="ORIGIN",
        help="whose pages may ask from a browser, as https://example.org; none for only the "
        "server's own (default: *, as LibreTranslate)",
    )
    add_engine_options(parser)
    add_unknown_option(parser)
    parser.add_argument(
        "--whole-lines",
        action="store_true",
        help="translate a line at once; without, sentence by sentence",
    )
    _add_limits(parser)
    add_search_options(parser, prefix=False)
    parser.set_defaults(run=run)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")

    def add(name: str, kind: Any, default: float, metavar: str, text: str) -> None:
        shown = f"{default:,}" if isinstance(default, int) else f"{default:g}"
        group.add_argument(
            name, type=kind, default=default, metavar=metavar, help=f"{text} (default: {shown})"
        )

    whole = at_least(int, 1)
    add("--max-characters", whole, 10_000, "N", "of all texts of a request")
    add("--max-lines", whole, 500, "N", "of all texts of a request")
    add("--max-body", whole, 1 << 20, "BYTES", "of a request")
    add("--max-alternatives", at_least(int, 0), 10, "N", "that a request may ask for")
    add("--timeout", more_than_0, 30.0, "SECONDS", "until an answer is given up")
    add("--queue", whole, 100, "N", "requests that may wait; one more is answered 429")
    add("--batch-tokens", whole, 2_048, "N", "source tokens decoded together; 1 for one by one")
    add("--window", at_least(float, 0), 5.0, "MS", "milliseconds that a request waits for company")


def port(text: str) -> int:
    """The number of a port."""
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 65535, not {text}")
    return int(text)


def run(arguments: Namespace) -> int:
    """Serves until it is told to stop; 130 or 143 then."""
    from mt.errors import require

    require("uvicorn", "serve")
    require("starlette", "serve")
    require("prometheus_client", "serve")
    from mt.cli.report import log, start_logging
    from mt.serving.api import application
    from mt.serving.models import Models
    from mt.serving.server import listen, serve, url_of

    start_logging()
    settings = _settings(arguments)
    with listen(arguments.host, arguments.port) as sock:
        models = Models([_load(arguments, name) for name in arguments.model or [None]])
        app = application(models, settings)
        url = url_of(sock)

        def ready() -> None:
            for model in models:
                log.info(
                    "%-12s %s, %s to %s, on %s", "model", model.name, model.source, model.target,
                    model.engine,
                )  # fmt: skip
            log.info("%-12s %s", "page", url)
            log.info("%-12s %stranslate, and more; described at /openapi.json", "API", url)
            if arguments.host not in LOOPBACK and not settings.keys:
                log.warning(
                    "%-12s anyone who reaches this machine may ask; --api-keys FILE asks for a key",
                    "open",
                )
            log.info("Ctrl-C stops it")

        number = serve(app, sock, ready)
    log.info("stopped; all that was accepted is answered")
    return 128 + number if number else 0


def _load(arguments: Namespace, name: str | None) -> ServedModel:
    """A model, which has translated a word by then. Raises UserError."""
    from mt.serving.models import ServedModel

    own = Namespace(**{**vars(arguments), "model": name, "paragraphs": False})
    engine, folder = find_engine(own)
    translator = load_translator(own)
    translator.translate(["1"])
    named = folder.path.absolute()
    called = named.parent.name if named.name == engine else named.name
    return ServedModel(called, engine, translator, arguments.whole_lines)


def _settings(arguments: Namespace) -> Settings:
    from mt.serving.api import Settings
    from mt.serving.requests import Limits

    return Settings(
        Limits(
            body=arguments.max_body,
            characters=arguments.max_characters,
            lines=arguments.max_lines,
            alternatives=arguments.max_alternatives,
            seconds=arguments.timeout,
        ),
        batch_tokens=arguments.batch_tokens,
        window=arguments.window / 1000,
        queue=arguments.queue,
        keys=_keys(arguments.api_keys),
        origin=None if arguments.cors == "none" else arguments.cors,
    )


def _keys(file: str | None) -> tuple[str, ...]:
    from mt.cli.lines import read_lines
    from mt.errors import UserError

    if file is None:
        return ()
    keys = tuple(filter(None, (line.strip() for line in read_lines(Path(file)))))
    if not keys:
        raise UserError(f"--api-keys {Path(file).absolute()} has no key in it; put one on a line")
    return keys
