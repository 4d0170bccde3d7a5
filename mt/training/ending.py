"""What comes after the last step: the average of checkpoints, and the final scores."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from mt.config import AverageConfig
from mt.storage.checkpoint import (
    DamagedError,
    check,
    list_checkpoints,
    read_state,
    write_as,
)
from mt.storage.failure import writing
from mt.storage.record import read_metrics
from mt.training.averaging import Weights, average_of
from mt.training.hparams import FINAL
from mt.training.metrics import MetricsLog
from mt.training.progress import spell_scores, watched_metric
from mt.training.run import Run

log = logging.getLogger("mt")


def finish(run: Run) -> None:
    """Averages checkpoints as `training.average` says, and records the final scores.

    The training must be done. What was made before is not made again.
    """
    if run.config.training.average is not None:
        _average(run, run.config.training.average)
    if run.world.is_first:
        _record(run)


def _record(run: Run) -> None:
    """Puts the final scores in the record, unless they are there already."""
    progress = run.trainer.progress
    found = {**best_scores(run), "steps": float(progress.step)}
    values = {tag: found[tag[6:]] for tag in FINAL if tag[6:] in found}
    if run.config.training.average is not None and _made_of(run.folder.average):
        scores = read_state(run.folder.average)["progress"]["scores"]
        values.update({f"average/{name}": value for name, value in scores.items()})
    if {"step": progress.step, **values} in read_metrics(run.runs_folder):
        return
    if run.trainer.metrics is None:  # the last start ended before it was written, or averaged none
        run.trainer.metrics = MetricsLog(run.runs_folder, progress.step)
    run.trainer.metrics.scalars(progress.step, values)
    run.trainer.metrics.settings(run.hyper_parameters, end=True)
    run.trainer.metrics.flush()


def best_scores(run: Run) -> dict[str, float]:
    """Validation scores of what translates: the best checkpoint, or the average if it is better."""
    progress = run.trainer.progress
    best = run.folder.pointer("best")
    found: dict[str, float] = {}
    with suppress(DamagedError):
        if best is not None:
            found = read_state(best)["progress"]["scores"]
    if not found and progress.best is not None:
        return {watched_metric(run.config): progress.best}
    return found


def _average(run: Run, wanted: AverageConfig) -> None:
    """Writes the average, and points `best` at it if it is better than any single checkpoint.

    The checkpoints are those of the first process; all of them validate.
    """
    whole = _whole_checkpoints(run) if run.world.is_first else []
    chosen = _chosen(run, whole, wanted)
    names = [checkpoint.name for checkpoint in chosen]
    nothing_to_make = len(names) < 2 or _made_of(run.folder.average) == names
    if not run.world.from_first(nothing_to_make):
        _make(run, chosen)
    if not run.world.is_first:
        return
    if len(names) < 2:
        log.info("average      none: there are not two checkpoints to average")
    else:
        _use_the_better(run, whole)


def _make(run: Run, chosen: list[Path]) -> None:
    weights = run.world.tensors_from_first(average_of(chosen))
    scores, _ = run.trainer.score(weights)
    if run.world.is_first:
        state = run.state(replace(run.trainer.progress, scores=scores))
        _write(run, weights, {**state, "of": [checkpoint.name for checkpoint in chosen]})


def _write(run: Run, weights: Weights, state: Mapping[str, Any]) -> None:
    size = sum(tensor.nbytes for tensor in weights.values())
    with writing("the average of checkpoints", run.folder.checkpoints, size):
        write_as(run.folder.average, {"model": weights}, state)


def _use_the_better(run: Run, whole: list[Path]) -> None:
    """Points `best` at the average, or at the checkpoint that translates without one."""
    single = (run.saver.best_first(whole) if run.saver.keep.best else whole[::-1])[0]
    state = read_state(run.folder.average)
    averaged, alone = (s["progress"]["scores"] for s in (state, read_state(single)))
    metric = watched_metric(run.config)
    gain = averaged[metric] - alone[metric]
    better = gain < 0 if metric == "loss" else gain > 0
    with writing("which checkpoint is the best", run.folder.path):
        run.folder.point("best", run.folder.average if better else single)
    log.info("average      of %s: valid %s", ", ".join(state["of"]), spell_scores(averaged))
    log.info("best single  %s: valid %s", single.name, spell_scores(alone))
    log.info("used         the %s, by valid %s", "average" if better else "single one", metric)


def _whole_checkpoints(run: Run) -> list[Path]:
    """The checkpoints but those that are damaged, which are named; oldest first."""
    whole = []
    for checkpoint in list_checkpoints(run.folder.checkpoints):
        try:
            check(checkpoint)
            whole.append(checkpoint)
        except DamagedError as error:
            log.warning("damaged checkpoint %s left out: %s", checkpoint.name, error)
    return whole


def _chosen(run: Run, whole: list[Path], wanted: AverageConfig) -> list[Path]:
    """The checkpoints to average, oldest first."""
    if wanted.last is not None:
        return whole[-wanted.last :]
    return sorted(run.saver.best_first(whole)[: wanted.best])


def _made_of(average: Path) -> list[str]:
    """The names of the checkpoints that an average was made of; none if there is no whole one."""
    try:
        check(average)
        return list(read_state(average)["of"])
    except DamagedError:
        return []
