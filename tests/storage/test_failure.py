"""What is said of writing that failed: the place, the reason, the room, the way out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mt.storage.failure import WriteError, writing


def test_reasons_and_ways_out(tmp_path: Path) -> None:
    expected = {
        errno.EDQUOT: "make room there",
        errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
        errno.EROFS: "mount it for writing",
        errno.EACCES: "give the permission to write there",
        errno.EIO: "see to the disk",
        errno.EBUSY: "",
    }
    for number, way_out in expected.items():
        with pytest.raises(WriteError) as refused, writing("it", tmp_path, needed=3_000_000):
            raise OSError(number, os.strerror(number))
        text = str(refused.value)
        assert text.startswith(f"cannot write it in {tmp_path}: {os.strerror(number)}")
        assert ("(3.0 MB needed, " in text) == (number in (errno.EDQUOT, errno.EFBIG))
        assert refused.value.way_out == way_out
