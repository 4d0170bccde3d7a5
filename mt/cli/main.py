"""The `mt` command: finds the subcommand, and turns every ending into an exit status.

Nothing heavy is imported here: `mt --help` and usage errors answer at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from mt import __version__
from mt.cli.failure import FAILED, explain
from mt.cli.parser import Parser
from mt.errors import ToldError

COMMANDS = (  # each a file in mt/cli
    "train", "translate", "evaluate", "compare", "runs", "score", "data", "export", "serve",
    "config", "completion",
)  # fmt: skip


def build_parser(command: str | None = None) -> Parser:
    """The parser of all commands, or only of the one that is named."""
    parser = Parser(
        prog="mt",
        description="Trains translation models from one config file and translates with them.",
        epilog="`mt COMMAND --help` tells more.",
    )
    parser.add_argument("--version", action="version", version=f"mt {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name in (command,) if command in COMMANDS else COMMANDS:
        import_module(f"mt.cli.{name}").add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 on success, 1 if it failed, 2 for a mistake of the user."""
    _use_utf8()
    _choose_waiting()
    try:
        given = sys.argv[1:] if arguments is None else arguments
        parsed = build_parser(given[0] if given else None).parse_args(given)
        status: int = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has gone, as in `mt translate … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else FAILED
    except KeyboardInterrupt:
        print("mt: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except ToldError as error:
        return error.status
    except Exception as error:
        if os.environ.get("MT_DEBUG") == "1":
            raise
        message, failed = explain(error)
        print(f"mt: {message}", file=sys.stderr)
        return failed


def _choose_waiting() -> None:
    """On a machine that is busy already, threads that wait sleep instead of spinning.

    Spinning is a third faster for small models, and several times slower as soon as other processes
    want the cores (docs/decisions.md). It does not change any result.
    """
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1) / 2
    if busy:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _use_utf8() -> None:
    """UTF-8 whatever the locale says, and LF line ends."""
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
