"""One writer at a time in a model folder."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mt.errors import UserError
from mt.storage.lock import LOCK_FILE, FolderLock, lock_owner

HOLD = (
    "import pathlib, sys\n"
    "from mt.storage.lock import FolderLock\n"
    "lock = FolderLock(pathlib.Path(sys.argv[1]))\n"
    "print('held', flush=True)\n"
    "sys.stdin.read()\n"
)


def test_a_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    for _ in range(2):  # being refused changes nothing
        with pytest.raises(UserError) as refused:
            FolderLock(tmp_path)
        assert str(refused.value) == (
            f"{tmp_path} is being trained by another process (process {os.getpid()}); "
            "wait for it, stop it, or choose another name"
        )
    lock.release()
    FolderLock(tmp_path).release()


def test_who_holds_the_lock_can_be_seen_and_looking_keeps_nobody_out(tmp_path: Path) -> None:
    assert lock_owner(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    lock = FolderLock(tmp_path)
    assert lock_owner(tmp_path) == f"process {os.getpid()}"
    lock.release()
    assert lock_owner(tmp_path) is None
    with (tmp_path / LOCK_FILE).open() as looking:  # as another process does, for a moment
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.03, lambda: fcntl.flock(looking, fcntl.LOCK_UN)).start()
        FolderLock(tmp_path).release()


def test_the_lock_goes_with_its_process_however_that_ends(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(UserError, match=f"process {holder.pid}"):
        FolderLock(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    FolderLock(tmp_path).release()
