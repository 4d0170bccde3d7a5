"""`mt config`: a config as it is understood, with every default; or what a config may hold."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from mt.cli.train import add_overrides


def add_parser(commands: Any) -> None:
    """Adds `config` to the commands."""
    parser = commands.add_parser(
        "config",
        help="a config with every default, or the JSON schema of configs",
        description="Checks a config and prints it as it is understood, every default written "
        "out; or prints the JSON Schema with which editors complete and check configs.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--show", metavar="FILE", help="the config, a YAML file")
    which.add_argument("--schema", action="store_true", help="the JSON Schema of all configs")
    add_overrides(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints YAML or JSON."""
    from mt.config_file import dump_config, load_config
    from mt.config_schema import json_schema
    from mt.errors import UserError

    if arguments.schema:
        if arguments.overrides:
            raise UserError("--set is for --show: the schema is the same for all configs")
        print(json.dumps(json_schema(), ensure_ascii=False, indent=2))
    else:
        print(dump_config(load_config(Path(arguments.show), arguments.overrides)), end="")
    return 0
