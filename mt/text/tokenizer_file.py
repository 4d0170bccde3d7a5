"""Tokenizer files: what is read from one and what may be wrong with it; no text is encoded here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import tokenizers

from mt.errors import UserError

WAY_OUT = "copy the model's folder again as a whole, or train anew with `mt train --restart`"


def read(path: Path) -> dict[str, Any]:
    """The JSON of a tokenizer. Raises UserError: missing, unreadable, damaged."""
    data = _parse(path)
    # Nothing is matched ahead of the vocabulary: a control word that someone types stays text.
    data["added_tokens"] = []
    data["truncation"] = data["padding"] = data["post_processor"] = None
    return data


def check_special(path: Path, library: tokenizers.Tokenizer, special: tuple[str, ...]) -> None:
    """Raises UserError unless ids 0, 1, 2, 3 are the tokens `special`, in this order."""
    ids = {token: library.token_to_id(token) for token in special}
    if list(ids.values()) != list(range(len(special))):
        found = ", ".join(f"{token} {'missing' if i is None else i}" for token, i in ids.items())
        raise UserError(
            f"{path.absolute()}: the special tokens must be ids 0 to 3 in the order "
            f"{' '.join(special)}; found: {found}; use a tokenizer trained with them, or {WAY_OUT}"
        )


def settings(data: dict[str, Any]) -> dict[str, Any]:
    """What the file says beyond the library's own format: language, kind, casing."""
    section = data.get("pre_tokenizer")
    found = section.get("mt") if isinstance(section, dict) else None
    return found if isinstance(found, dict) else {}


def language_of(path: Path) -> str:
    """`it` of `tokenizer_it.json`; empty where the name says nothing."""
    found = re.fullmatch(r"tokenizer_(.+)", path.stem)
    return found[1] if found else ""


def _parse(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path.absolute()}: there is no such tokenizer file; {WAY_OUT}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{path.absolute()}: the tokenizer cannot be read ({reason})") from None
    except ValueError as error:
        raise damaged(path, str(error)) from None
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise damaged(path, "it holds no model")
    return data


def damaged(path: Path, reason: str) -> UserError:
    """What is raised for a file that is no tokenizer."""
    return UserError(f"{path.absolute()}: the tokenizer is empty or damaged ({reason}); {WAY_OUT}")
