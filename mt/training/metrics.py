"""The record of a run: the same numbers to TensorBoard and to metrics.jsonl, each step once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.tensorboard.summary import image, scalar, text

from mt.data.ragged import Lengths
from mt.storage.atomic import write_text
from mt.storage.failure import writing
from mt.storage.record import METRICS_FILE, read_metrics
from mt.training.board import histograms, layout
from mt.training.event_file import EventFile
from mt.training.hparams import summaries

Pixels = NDArray[np.uint8]
OF_THE_END = ("final/", "average/")  # not there in a run that goes on


class MetricsLog:
    """Appends to runs/<name>; what an earlier one wrote after `step` or at its end goes first.

    All raises WriteError where that fails.
    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        self._folder = folder
        self._path = folder / METRICS_FILE
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            _drop_after(self._path, step)
            self._file = self._path.open("a", encoding="utf-8")
            self._board = EventFile(folder, purge_step=step + 1 if step else None)

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """One point of each curve at `step`."""
        with self._writing():
            for tag, value in values.items():
                self._board.add(scalar(tag, value), step)  # type: ignore[no-untyped-call]
            self._file.write(json.dumps({"step": step, **values}) + "\n")

    def samples(self, step: int, rows: Sequence[Mapping[str, str]]) -> None:
        """Sentences side by side, as a table under valid/samples."""
        line = json.dumps({"step": step, "valid/samples": list(rows)}, ensure_ascii=False)
        with self._writing():
            table = text("valid/samples", _table(rows))  # type: ignore[no-untyped-call]
            self._board.add(table, step)
            self._file.write(line + "\n")

    def image(self, tag: str, step: int, pixels: Pixels) -> None:
        """A picture: (height, width, 3), red, green and blue. It is not in metrics.jsonl."""
        with self._writing():
            self._board.add(image(tag, pixels, dataformats="HWC"), step)  # type: ignore[no-untyped-call]

    def begin(self, lengths: Lengths) -> None:
        """What is there once: the layout of charts, and the lengths (N, 2) of the training pairs.

        None of it is in metrics.jsonl.
        """
        with self._writing():
            for summary in (layout(), *histograms(lengths)):
                self._board.add(summary, 0)

    def settings(self, values: Mapping[str, Any], *, end: bool = False) -> None:
        """The settings of the run, once, for TensorBoard's HParams page; or that it has ended."""
        experiment, began, ended = summaries(dict(values))
        with self._writing():
            for summary in (ended,) if end else (experiment, began):
                self._board.add(summary, 0)

    def flush(self) -> None:
        """Makes what was written so far visible to readers."""
        with self._writing():
            self._file.flush()
            self._board.flush()
            for path in (self._path, self._board.path):
                path.stat()  # a file that is open can be written after it was removed

    def close(self) -> None:
        """Ends the record; what must not be lost was flushed before."""
        for file in (self._file, self._board):
            with suppress(OSError):  # told already, by what came before the end
                file.close()

    def _writing(self) -> AbstractContextManager[None]:
        return writing("the record of the run", self._folder)


def repeatable(line: Mapping[str, object]) -> dict[str, object]:
    """What of a line is the same whenever the run is made: all but clock and memory."""
    measured = ("train/tokens_per_second", "time/", "memory/")
    return {tag: value for tag, value in line.items() if not tag.startswith(measured)}


def _drop_after(path: Path, step: int) -> None:
    if not path.is_file():
        return
    kept = [
        line
        for line in read_metrics(path.parent)
        if int(str(line["step"])) <= step and not any(tag.startswith(OF_THE_END) for tag in line)
    ]
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept))


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    def cells(values: Sequence[str]) -> str:
        return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"

    header = list(rows[0])
    lines = [cells(header), cells(["---"] * len(header))]
    return "\n".join(lines + [cells(list(row.values())) for row in rows])
