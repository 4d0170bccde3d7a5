"""What an exported folder says of itself in export.json: for which engine, and of which weights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from mt import __version__
from mt.errors import UserError
from mt.storage import atomic

Format = Literal["ctranslate2", "onnx", "transformers"]
FORMATS: tuple[Format, ...] = get_args(Format)
FILE = "export.json"


@dataclass(frozen=True)
class ExportRecord:
    """The file's content."""

    format: Format
    quantization: str
    checkpoint: str  # the name of the one that was exported
    tokenizers: dict[str, Any]  # as `ModelFolder.tokenizer_state` describes them
    # What the config says of data, model and decoding, as plain values, and its `config_mark`.
    config: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Puts the record into an exported folder."""
        atomic.write_text(folder / FILE, json.dumps(asdict(self), indent=2) + "\n")


def read_record(folder: Path) -> ExportRecord | None:
    """The record of an exported folder, None if `folder` is none. Raises UserError if damaged."""
    path = folder / FILE
    try:
        record = ExportRecord(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError):
        raise UserError(f"{path.absolute()} is damaged; run `mt export` again") from None
    if record.format not in FORMATS:
        raise UserError(f"{path.absolute()}: unknown format {record.format}")
    return record


def config_mark(path: Path) -> str | None:
    """What only this content of a config file has, as this version of `mt` reads it."""
    try:
        return hashlib.sha256(__version__.encode() + b"\n" + path.read_bytes()).hexdigest()
    except OSError:
        return None
