"""An option that names a file to write."""

from __future__ import annotations

from pathlib import Path

from mt.errors import UserError


def output_path(option: str, value: str) -> Path:
    """The file that `option` names. Raises UserError if it cannot be one."""
    path = Path(value)
    if not value.strip():
        raise UserError(f"{option} is empty: give the name of a file")
    if path.is_dir():
        raise UserError(f"{option} {path.absolute()} is a folder, not a file")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{option} {path.absolute()}: there is no such folder")
    return path
