"""A checkpoint on disk: `step-00001200/` with safetensors files and a state.json of checksums.

Reading one never runs code. It knows nothing of what the tensors are for.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.storage.atomic import sha256, sync_folder, write_text

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
STATE_FILE = "state.json"
MOST_HEADER = 100_000_000  # bytes; the format allows no more


class DamagedError(Exception):
    """A checkpoint is not what was written: says which file of which checkpoint, and how."""


def checkpoint_name(step: int) -> str:
    """The folder name of the checkpoint after `step` updates."""
    return f"step-{step:08d}"


def list_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in `folder`, oldest first; by number, not by letters."""
    if not folder.is_dir():
        return []
    named = [path for path in folder.iterdir() if re.fullmatch(r"step-\d+", path.name)]
    return sorted(named, key=step_of)


def step_of(checkpoint: Path) -> int:
    """The step that a checkpoint is named after."""
    return int(checkpoint.name.removeprefix("step-"))


def write_checkpoint(
    folder: Path, step: int, parts: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> Path:
    """Writes the checkpoint after `step` updates into `folder`, as `write_as` does."""
    return write_as(folder / checkpoint_name(step), parts, state)


def write_as(
    final: Path, parts: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> Path:
    """Writes `parts` (file stem to tensors) and `state`; it has its name only once it is whole.

    Raises OSError, and leaves nothing half written then if that can be. The folder that `final` is
    in must be there: one that was removed is not made again.
    """
    folder = final.parent
    building = folder / f".{final.name}.tmp"
    # Of a process that was killed meanwhile:
    for unfinished in (*folder.glob(".*.tmp"), *folder.glob(".*.old")):
        shutil.rmtree(unfinished, ignore_errors=True)
    building.mkdir()
    try:
        checksums = {
            f"{stem}.safetensors": _write_part(building / f"{stem}.safetensors", tensors)
            for stem, tensors in parts.items()
        }
        content = {"format": FORMAT, **state, "files": checksums}
        content["checksum"] = _checksum(content)
        write_text(building / STATE_FILE, json.dumps(content, indent=2) + "\n")
        if final.exists():  # the same step again, after a damaged copy of it was set aside or kept
            remove_checkpoint(final)
        building.replace(final)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    sync_folder(folder)
    return final


def remove_checkpoint(checkpoint: Path) -> None:
    """Deletes a checkpoint, which has its name for as long as it is whole. Raises OSError."""
    going = checkpoint.with_name(f".{checkpoint.name}.old")
    checkpoint.replace(going)
    shutil.rmtree(going)


def _write_part(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Writes tensors so that they last; the checksum of their file. Raises OSError."""
    from safetensors import SafetensorError  # here: a folder may be read without torch
    from safetensors.torch import save_file

    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:  # which has the system's number in its text alone
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
    _sync_file(path)
    return sha256(path)


def read_state(checkpoint: Path) -> dict[str, Any]:
    """The state.json of a checkpoint, checked against its own checksum. Raises DamagedError."""
    path = checkpoint / STATE_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing") from None
    except (OSError, ValueError):
        raise DamagedError(f"{path} is not readable") from None
    if not isinstance(content, dict) or content.pop("checksum", None) != _checksum(content):
        raise DamagedError(f"{path} does not match its checksum")
    return content


def read_part(checkpoint: Path, stem: str, device: str = "cpu") -> dict[str, Tensor]:
    """The tensors of one file of a checkpoint, checked. Raises DamagedError."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = checkpoint / f"{stem}.safetensors"
    expected = read_state(checkpoint)["files"].get(path.name)
    try:
        if sha256(path) != expected:
            raise DamagedError(f"{path} does not match its checksum")
        return load_file(path, device=device)
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing") from None
    except (OSError, SafetensorError):
        raise DamagedError(f"{path} is not readable") from None


def read_shapes(path: Path) -> dict[str, list[int]]:
    """The shapes of the tensors in a safetensors file, by name, from its header alone.

    Raises DamagedError if it is not there or has not the length that it should have; what is in
    the tensors is not looked at. The header is JSON, after its length in 8 bytes.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MOST_HEADER:
                raise ValueError
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        end = max((tensor["data_offsets"][1] for tensor in header.values()), default=0)
        if path.stat().st_size != 8 + length + end:
            raise DamagedError(f"{path} has not the length that it was written with")
        return {name: list(tensor["shape"]) for name, tensor in header.items()}
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DamagedError(f"{path} is not readable") from None


def check(checkpoint: Path) -> None:
    """Raises DamagedError unless every file of the checkpoint is as it was written."""
    for name, expected in read_state(checkpoint)["files"].items():
        path = checkpoint / name
        if not path.is_file():
            raise DamagedError(f"{path} is missing")
        if sha256(path) != expected:
            raise DamagedError(f"{path} does not match its checksum")


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
