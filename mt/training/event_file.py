"""The file that TensorBoard reads, written in the thread that has something to say."""

from __future__ import annotations

import itertools
import os
import socket
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

_numbers = itertools.count()  # of the files of this process


class EventFile:
    """Events of one run. Raises OSError where writing fails.

    TensorBoard's own writer has a thread that prints a stack trace where it fails.
    """

    def __init__(self, folder: Path, purge_step: int | None = None) -> None:
        """TensorBoard drops what earlier files have from `purge_step` on."""
        self.path = folder / event_file_name()
        self._file = self.path.open("ab")
        self._records = RecordWriter(self._file)
        self._write(Event(file_version="brain.Event:2"))
        if purge_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._write(Event(session_log=start, step=purge_step))
        self.flush()

    def add(self, summary: Summary, step: int) -> None:
        """A point of a curve, or a text, made by `torch.utils.tensorboard.summary`."""
        self._write(Event(summary=summary, step=step))

    def flush(self) -> None:
        """Lets readers see what was added."""
        self._file.flush()

    def close(self) -> None:
        """Ends the file; adds nothing."""
        self._file.close()

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())


def event_file_name() -> str:
    """A name that TensorBoard knows, later than those before it."""
    owner = f"{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
    return f"events.out.tfevents.{int(time.time()):010d}.{owner}"
