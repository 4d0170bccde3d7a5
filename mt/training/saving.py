"""Saving: a copy of the tensors is taken at once and written while training goes on."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mt.config import KeepConfig
from mt.storage.checkpoint import (
    DamagedError,
    checkpoint_name,
    list_checkpoints,
    read_state,
    remove_checkpoint,
    write_checkpoint,
)
from mt.storage.failure import writing
from mt.storage.model_folder import ModelFolder

log = logging.getLogger("mt")
Parts = Mapping[str, Mapping[str, Tensor]]


class Saver:
    """Writes the checkpoints of a run, one at a time, and removes those that need not stay.

    An error while writing is a WriteError, raised by the first of `save`, `check`, `wait` and
    `close` that comes after it, and by no other.
    """

    def __init__(self, folder: ModelFolder, keep: KeepConfig, metric: str) -> None:
        """`metric` is the validation metric that says which checkpoints are the best."""
        self.folder = folder
        self.keep = keep
        self.metric = metric
        self._thread = ThreadPoolExecutor(1, "checkpoint")
        self._written: Future[None] | None = None  # of the checkpoint at hand
        self._copies: dict[tuple[str, str], Tensor] = {}  # used again at each save
        self.seconds: float | None = None  # that the last one took, from the copy to the end

    def save(self, step: int, parts: Parts, state: Mapping[str, Any], best: bool) -> None:
        """Copies tensors and state, and begins to write them; waits for the one before first.

        The checkpoint becomes the last, and the best if `best` says so.
        """
        self.wait()
        began = time.perf_counter()
        copies, kept = self._copy(parts), copy.deepcopy(state)
        self._written = self._thread.submit(self._write, step, copies, kept, best, began)

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""
        return self._written is not None and not self._written.done()

    def check(self) -> None:
        """Raises the error of a write that has failed; does not wait."""
        if not self.busy:
            self.wait()

    def wait(self) -> None:
        """Until all is written."""
        written, self._written = self._written, None
        if written is not None:
            written.result()

    def close(self) -> None:
        """Waits, and ends the thread."""
        try:
            self.wait()
        finally:
            self._thread.shutdown()

    def _copy(self, parts: Parts) -> dict[str, dict[str, Tensor]]:
        copies: dict[str, dict[str, Tensor]] = {}
        for stem, tensors in parts.items():
            copies[stem] = {}
            for name, tensor in tensors.items():
                place = self._copies.get((stem, name))
                if place is None:
                    place = torch.empty(tensor.shape, dtype=tensor.dtype)
                    self._copies[stem, name] = place
                copies[stem][name] = place.copy_(tensor)
        return copies

    def _write(
        self, step: int, parts: Parts, state: Mapping[str, Any], best: bool, began: float
    ) -> None:
        place = self.folder.checkpoints
        size = sum(tensor.nbytes for tensors in parts.values() for tensor in tensors.values())
        with writing(f"the checkpoint after step {step:,}", place, size):
            path = write_checkpoint(place, step, parts, state)
            self.folder.point("last", path)
            if best:
                self.point_best(path)
            self._prune()
        self.seconds = time.perf_counter() - began

    def point_best(self, checkpoint: Path) -> None:
        """Makes `best` name a checkpoint, unless none is kept for being the best."""
        if self.keep.best:
            self.folder.point("best", checkpoint)

    def _prune(self) -> None:
        """Keeps the newest and the best checkpoints that `training.keep` asks for."""
        if not self.keep.best:
            self.folder.unpoint("best")  # of a time when some were kept
        checkpoints = list_checkpoints(self.folder.checkpoints)
        pointed = {self.folder.pointer("best"), self.folder.pointer("last")}
        best = self.best_first(checkpoints)[: self.keep.best]
        kept = {*checkpoints[-self.keep.last :], *best, *pointed}
        for checkpoint in checkpoints:
            if checkpoint not in kept:
                _remove(checkpoint)

    def best_first(self, checkpoints: list[Path]) -> list[Path]:
        """Those made at a validation, the best first, which is the one that `best` names.

        It may have been left behind by less than `early_stopping.min_delta`.
        """
        named, scored = self._named_best(), []
        for checkpoint in checkpoints:
            try:
                progress = read_state(checkpoint)["progress"]
            except DamagedError:
                continue
            if progress["validated_step"] == progress["step"]:
                value = progress["scores"].get(self.metric, 0.0)
                order = value if self.metric == "loss" else -value
                scored.append((checkpoint != named, order, checkpoint))
        return [checkpoint for *_, checkpoint in sorted(scored)]

    def _named_best(self) -> Path | None:
        """The checkpoint that `best` names; that of the time of the average, if it names that."""
        named = self.folder.pointer("best")
        if named == self.folder.average:
            with suppress(DamagedError):
                step = read_state(named)["progress"]["best_step"]
                return self.folder.checkpoints / checkpoint_name(step)
        return named


def _remove(checkpoint: Path) -> None:
    """Lets a checkpoint go; one that cannot be removed is no reason to stop training."""
    try:
        remove_checkpoint(checkpoint)
    except OSError as error:
        log.warning("checkpoint %s cannot be removed: %s", checkpoint.name, error.strerror)
