"""What became of a run: a line at each start and each end, in runs/<name>/history.jsonl.

It is about processes and their time. Nothing of it is read when a run goes on.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isinf
from pathlib import Path
from typing import Any, Literal, get_args

from mt.storage.failure import writing
from mt.storage.record import LOG_FILE, METRICS_FILE

HISTORY_FILE = "history.jsonl"
# All is trained; told to stop; an error ended it; the process was gone without a word.
How = Literal["ended", "stopped", "failed", "killed"]


@dataclass
class Start:
    """One process that trained, or several under torchrun: from when to when, and how it ended.

    Times are seconds since 1970; `ended` is None for as long as no end was written.
    """

    began: float
    step: int  # updates made before it
    total: int | None  # and those to make in all; None if time decides
    facts: dict[str, Any] = field(default_factory=dict)
    ended: float | None = None
    how: How | None = None
    why: str = ""


class History:
    """Appends to the history of a run; WriteError where that fails."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._began = False  # by this process

    def begin(self, began: float, step: int, total: float, facts: Mapping[str, Any]) -> None:
        """Notes a start, and first that the one before was killed if it has no end.

        `total`: steps to be made in all, infinite if time decides.
        """
        starts = read_history(self._folder)
        if starts and starts[-1].ended is None:
            last = last_sign(self._folder) or starts[-1].began
            self._append({"killed": spell_time(last), "step": step, "why": ""})
        who = {"process": os.getpid(), "machine": platform.node()}
        steps = {"step": step, "total": None if isinf(total) else total}
        self._append({"began": spell_time(began), **steps, **who, **facts})
        self._began = True

    def end(self, how: How, step: int, why: str) -> None:
        """Notes how the last start ended, unless that is there.

        If it was of a process that is gone, it ended when that one wrote last.
        """
        starts = read_history(self._folder)
        if starts and starts[-1].ended is None:
            last = last_sign(self._folder) or starts[-1].began
            when = time.time() if self._began else last
            self._append({how: spell_time(when), "step": step, "why": why})

    def _append(self, values: Mapping[str, Any]) -> None:
        with writing("the record of the run", self._folder):
            path = self._folder / HISTORY_FILE
            cut_off = path.is_file() and path.read_bytes()[-1:] not in (b"\n", b"")
            with path.open("a", encoding="utf-8") as file:
                file.write("\n" * cut_off + json.dumps(values, ensure_ascii=False) + "\n")


def read_history(folder: Path) -> list[Start]:
    """The starts of a run, oldest first; none if it has no history. Lines cut off are left out."""
    try:
        lines = (folder / HISTORY_FILE).read_bytes().split(b"\n")
    except OSError:
        return []
    starts: list[Start] = []
    for line in lines:
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if "began" in values:
            began = read_time(values.pop("began"))
            starts.append(Start(began, values.pop("step"), values.pop("total"), values))
        for how in get_args(How):
            if how in values and starts:
                last = starts[-1]
                last.ended, last.how, last.why = read_time(values[how]), how, values["why"]
    return starts


def last_sign(folder: Path) -> float | None:
    """When a run last wrote something to its record, None if it never did."""
    files = [folder / METRICS_FILE, folder / LOG_FILE, *folder.glob("events.out.tfevents.*")]
    return max((path.stat().st_mtime for path in files if path.is_file()), default=None)


def spell_time(seconds: float) -> str:
    """2026-11-30T23:15:04.125+00:00"""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def read_time(text: str) -> float:
    """What `spell_time` wrote. Raises ValueError."""
    return datetime.fromisoformat(text).timestamp()
