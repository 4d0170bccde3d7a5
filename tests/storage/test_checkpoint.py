"""Checkpoints: read back exactly, in the order of their steps, and never when they are damaged."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.storage import checkpoint as storage
from mt.storage.checkpoint import (
    DamagedError,
    check,
    checkpoint_name,
    list_checkpoints,
    read_part,
    read_state,
    remove_checkpoint,
    write_checkpoint,
)

PARTS = {
    "model": {
        "a": torch.arange(12.0).reshape(3, 4).T,  # not contiguous
        "b": torch.tensor([1.5, -0.0, float("inf")], dtype=torch.bfloat16),
        "c": torch.tensor(7),
        "empty": torch.zeros(0, 3),
    },
    "optimizer": {"exp_avg/a": torch.full((4, 3), 1e-30)},
}
STATE = {"progress": {"step": 12, "best": 0.1 + 0.2, "scores": {"bleu": 3}}, "metric": "loss"}


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("touch PWNED",)


@pytest.fixture
def written(here: Path) -> Path:
    (here / "checkpoints").mkdir()
    return write_checkpoint(here / "checkpoints", 12, PARTS, STATE)


def everything_fails(checkpoint: Path, file: str, how: str) -> None:
    stem = "model" if file == "state.json" else file.partition(".")[0]
    for read in (check, lambda path: read_part(path, stem)):
        with pytest.raises(DamagedError) as damaged:
            read(checkpoint)
        assert str(damaged.value) == f"{checkpoint / file} {how}"


def test_what_is_read_is_what_was_written(written: Path) -> None:
    check(written)
    for stem, tensors in PARTS.items():
        found = read_part(written, stem)
        assert found.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert found[name].dtype == tensor.dtype
            assert torch.equal(found[name], tensor)
    state = read_state(written)
    assert {key: state[key] for key in STATE} == STATE
    assert sorted(p.name for p in written.iterdir()) == [
        "model.safetensors", "optimizer.safetensors", "state.json",
    ]  # fmt: skip


def test_the_order_is_that_of_the_steps(tmp_path: Path) -> None:
    steps = [99, 100, 5, 123_456_789, 1000, 20]
    for step in steps:
        (tmp_path / checkpoint_name(step)).mkdir()
    (tmp_path / "step-7").mkdir()  # as an earlier version might have named it
    for other in (".step-00000200.tmp", "damaged-step-00000300-1", "step-x", "step-1.old"):
        (tmp_path / other).mkdir()
    assert list_checkpoints(tmp_path) == [
        tmp_path / ("step-7" if step == 7 else checkpoint_name(step))
        for step in sorted([*steps, 7])
    ]
    assert list_checkpoints(tmp_path / "nothing") == []


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_file_that_was_cut_off(written: Path, file: str, share: float) -> None:
    path = written / file
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    everything_fails(written, file, "does not match its checksum")


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors"])
@pytest.mark.parametrize("seed", range(5))
def test_a_single_bit_that_changed(written: Path, file: str, seed: int) -> None:
    content = bytearray((written / file).read_bytes())
    chance = random.Random(seed)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    (written / file).write_bytes(content)
    everything_fails(written, file, "does not match its checksum")


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_file_that_is_gone(written: Path, file: str) -> None:
    (written / file).unlink()
    everything_fails(written, file, "is missing")


def test_a_whole_part_does_not_excuse_another(written: Path) -> None:
    (written / "optimizer.safetensors").unlink()
    read_part(written, "model")
    with pytest.raises(DamagedError, match=r"optimizer\.safetensors is missing"):
        check(written)


def test_no_bit_of_the_state_can_change_unnoticed(written: Path) -> None:
    path = written / "state.json"
    content = path.read_bytes()
    for i in range(len(content)):
        damaged = bytearray(content)
        damaged[i] ^= 1 << (i % 8)
        path.write_bytes(damaged)
        with pytest.raises(DamagedError, match=r"state\.json (does not match|is not readable)"):
            read_state(written)
    path.write_bytes(content)
    check(written)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"3", b"{}", b"\xff\xfe", b'{"files": {}}']
)
def test_a_state_that_is_something_else(written: Path, content: bytes) -> None:
    (written / "state.json").write_bytes(content)
    with pytest.raises(DamagedError, match=r"state\.json"):
        check(written)


@pytest.mark.parametrize("forged", [False, True], ids=["as found", "with a forged checksum"])
def test_a_pickle_is_not_run(written: Path, forged: bool) -> None:
    bomb = pickle.dumps(Bomb())
    (written / "model.safetensors").write_bytes(bomb)
    if forged:
        content = json.loads((written / "state.json").read_text())
        content["files"]["model.safetensors"] = hashlib.sha256(bomb).hexdigest()
        del content["checksum"]
        content["checksum"] = storage._checksum(content)
        (written / "state.json").write_text(json.dumps(content))
        check(written)
    with pytest.raises(DamagedError, match=r"model\.safetensors (does not match|is not readable)"):
        read_part(written, "model")
    assert not Path("PWNED").exists()
    pickle.loads(bomb)  # the bomb is a real one
    assert Path("PWNED").exists()


@pytest.mark.parametrize(
    "crash_in",
    [
        "safetensors.torch.save_file",
        "mt.storage.checkpoint.sha256",
        "mt.storage.checkpoint.write_text",
        "mt.storage.checkpoint._sync_file",
    ],
)
def test_an_error_while_saving_leaves_the_earlier_ones_and_no_half_one(
    written: Path, monkeypatch: pytest.MonkeyPatch, crash_in: str
) -> None:
    def crash(*_: object) -> None:
        raise OSError("disk full")

    folder = written.parent
    with monkeypatch.context() as patch:
        patch.setattr(crash_in, crash)
        with pytest.raises(OSError, match="disk full"):
            write_checkpoint(folder, 13, PARTS, STATE)
    assert list(folder.iterdir()) == [written]
    check(written)
    later = write_checkpoint(folder, 14, PARTS, STATE)
    assert sorted(folder.iterdir()) == [written, later]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """What the system lets this process write, in bytes: the nearest thing to a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [100, 700], ids=["tensors", "state"])
def test_what_the_system_refuses_is_an_error_with_its_number(written: Path, size: int) -> None:
    """The library that writes tensors has it in its text alone."""
    long = {**STATE, "more": "x" * 1000}
    folder = written.parent
    with largest_file(size), pytest.raises(OSError, match="File too large") as refused:
        write_checkpoint(folder, 13, PARTS, long)
    assert refused.value.errno == errno.EFBIG
    assert list(folder.iterdir()) == [written]


def test_a_folder_that_was_removed_is_not_made_again(written: Path) -> None:
    folder = written.parent
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError):
        write_checkpoint(folder, 13, PARTS, STATE)
    assert not folder.exists()


def test_a_checkpoint_loses_its_name_before_it_is_taken_apart(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = write_checkpoint(written.parent, 13, PARTS, STATE)
    with monkeypatch.context() as patch:
        patch.setattr(storage.shutil, "rmtree", lambda *_, **__: None)  # killed at this instant
        remove_checkpoint(written)
    assert list_checkpoints(written.parent) == [later]
    last = write_checkpoint(written.parent, 14, PARTS, STATE)
    assert sorted(written.parent.iterdir()) == [later, last]


def test_half_written_folders_are_ignored_and_cleaned_away(written: Path) -> None:
    folder = written.parent
    half = folder / ".step-00000013.tmp"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    assert list_checkpoints(folder) == [written]
    again = write_checkpoint(folder, 13, PARTS, STATE)
    check(again)
    assert sorted(folder.iterdir()) == [written, again]


def test_the_same_step_again_takes_the_place_of_the_first(written: Path) -> None:
    other = {**PARTS, "model": {"a": torch.ones(2)}}
    assert write_checkpoint(written.parent, 12, other, STATE) == written
    assert torch.equal(read_part(written, "model")["a"], torch.ones(2))
