"""What comes after the last step: the average of checkpoints, and the final scores."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mt.config import AverageConfig
from mt.storage.checkpoint import (
    DamagedError,
    check,
    checkpoint_name,
    list_checkpoints,
    read_state,
    write_as,
)
from mt.training.averaging import average_of
from mt.training.hparams import FINAL
from mt.training.metrics import MetricsLog, read_metrics
from mt.training.run import Run
from mt.training.trainer import spell_scores, watched_metric

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
    """Writes the average, and points `best` at it if it is better than any single checkpoint."""
    checkpoints = _chosen(run, wanted)
    names = [checkpoint.name for checkpoint in checkpoints]
    if len(checkpoints) < 2:
        log.info("average      none: there are not two checkpoints to average")
        return
    if _made_of(run.folder.average) == names:
        return
    weights = average_of(checkpoints)
    scores, _ = run.trainer.score(weights)
    if not run.world.is_first:
        return
    progress = run.trainer.progress
    state = run.state(replace(progress, scores=scores))
    path = write_as(run.folder.average, {"model": weights}, {**state, "of": names})
    metric = watched_metric(run.config)
    assert progress.best is not None, "the last step is validated"
    assert progress.best_step is not None
    single = run.folder.checkpoints / checkpoint_name(progress.best_step)
    gain = scores[metric] - progress.best
    better = gain < 0 if metric == "loss" else gain > 0
    run.folder.point("best", single)
    log.info("average      of %s: valid %s", ", ".join(names), spell_scores(scores))
    log.info("best single  %s: valid %s", single.name, spell_scores(best_scores(run)))
    if better:
        run.folder.point("best", path)
    log.info("used         the %s, by valid %s", "average" if better else "single one", metric)


def _chosen(run: Run, wanted: AverageConfig) -> list[Path]:
    """The checkpoints to average; those that are damaged are named and left out."""
    checkpoints = []
    for checkpoint in list_checkpoints(run.folder.checkpoints):
        try:
            check(checkpoint)
            checkpoints.append(checkpoint)
        except DamagedError as error:
            log.warning("damaged checkpoint %s left out: %s", checkpoint.name, error)
    if wanted.last is not None:
        return checkpoints[-wanted.last :]
    return sorted(run.best_first(checkpoints)[: wanted.best])


def _made_of(average: Path) -> list[str]:
    """The names of the checkpoints that an average was made of; none if there is no whole one."""
    try:
        check(average)
        return list(read_state(average)["of"])
    except DamagedError:
        return []
