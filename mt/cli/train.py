"""`mt train`: trains the model of a config file, or goes on where it stopped."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.auto import AUTO, add_options, check_options, choose_config
from mt.cli.failure import explain, job
from mt.cli.memory import memory_advice
from mt.errors import RunError, is_out_of_memory

if TYPE_CHECKING:
    from mt.config import Config
    from mt.distributed import World
    from mt.storage.failure import WriteError
    from mt.training.run import Run
    from mt.training.trainer import Trainer

SECONDS_BETWEEN_LINES = 10.0  # of progress, where there is no terminal


def add_parser(commands: Any) -> None:
    """Adds `train` to the commands."""
    parser = commands.add_parser(
        "train",
        help="train a model from a config file; the same command again resumes",
        description="Trains the model that a config file describes, or one that it chooses itself "
        "(--config auto). Given again, the same command goes on where the run stopped.",
    )
    add_config_options(parser)
    parser.add_argument(
        "--restart",
        action="store_true",
        help="begin anew; an earlier run of this name is moved aside, not deleted",
    )
    add_options(parser)
    parser.set_defaults(run=run)


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which config, and what to lay over it."""
    parser.add_argument("--config", required=True, metavar="FILE", help="the config, a YAML file")
    add_overrides(parser)


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The option that lays settings over a config."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="a setting to lay over the file, as training.lr=1e-4; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Trains; 0 when the run is complete, 130 or 143 when it was told to stop."""
    began = time.time()
    check_options(arguments)
    with job() as world:
        return _train_config(arguments, world, began)


def _train_config(arguments: argparse.Namespace, world: World | None, began: float) -> int:
    from mt.cli.report import only_warn, start_logging
    from mt.config_file import load_config

    if arguments.config == AUTO:
        start_logging()
        config = choose_config(arguments, world, began)
        arguments.config = f"{config.name}.yaml"
    else:
        config = load_config(Path(arguments.config), arguments.overrides)
        start_logging()
    if world is not None:
        from mt.training.resume import newest_first

        world = newest_first(world, config)
        if not world.is_first:
            only_warn()
    try:
        return _start(config, arguments, world, began)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise RunError(memory_advice(config)) from error


def _start(config: Config, arguments: argparse.Namespace, world: World | None, began: float) -> int:
    from mt.cli.report import logging_to
    from mt.distributed import ALONE
    from mt.storage.failure import WriteError
    from mt.storage.record import LOG_FILE
    from mt.training.run import Run

    world = world or ALONE
    # What torchrun starts again goes on: the earlier run was moved aside at the first start.
    (again,) = world.sum([float(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))])
    training = Run(config, arguments.restart and not again, world, began)
    record = logging_to(training.runs_folder / LOG_FILE)
    try:
        with (
            _failure_noted(training),
            closing(training),
            record if training.world.is_first else nullcontext(),
        ):
            return _run(training, arguments)
    except WriteError as error:
        raise RunError(_how_to_go_on(error, training, arguments)) from error


def _how_to_go_on(error: WriteError, training: Run, arguments: argparse.Namespace) -> str:
    newest = training.newest_step()
    if newest is None:
        left, then = f"No checkpoint is in {training.folder.path}", "begin anew with"
    else:
        left = f"Earlier checkpoints are as they were, the newest at step {newest:,}"
        then = "go on with"
    way_out = f"{error.way_out}, then " if error.way_out else ""
    return f"{error}. {left}; {way_out}{then}: {_command(training, arguments)}"


def _command(training: Run, arguments: argparse.Namespace) -> str:
    """What starts this run again."""
    command = ["mt", "train", "--config", arguments.config]
    command += [word for text in arguments.overrides for word in ("--set", text)]
    launcher = "torchrun … -m " if training.world.size > 1 else ""
    return launcher + shlex.join(command)


def _run(training: Run, arguments: argparse.Namespace) -> int:
    from mt.cli.report import log
    from mt.training.ending import finish
    from mt.training.plan import describe
    from mt.training.trainer import NotFiniteError

    trainer = training.trainer
    for line in describe(training):
        log.info("%s", line)
    if training.resumed_from is not None:
        log.info("resuming %s after step %s", training.folder.path, f"{training.resumed_from:,}")
    if trainer.done:
        finish(training)
        training.note_end("ended", _why_ended(trainer))
        log.info("nothing left to do: %s", _why_done(trainer))
        return 0
    try:
        with _stopping(trainer) as received:
            _train(trainer)
    except NotFiniteError as error:
        path = training.keep_pairs(error.rows)
        raise RunError(f"{error}. The pairs of the last step are in {path}") from None
    _close(training, arguments, received)
    if not trainer.stopped:
        return 0
    return 128 + (received[0] if received else signal.SIGTERM)  # another process had the signal


def _why_done(trainer: Trainer) -> str:
    from mt.wording import counted

    step = trainer.progress.step
    if _stopped_early(trainer):
        return f"stopped early at step {step:,}; --restart begins anew"
    made = f"{counted(step, 'step')} {'is' if step == 1 else 'are'} made"
    return f"{made} and {_limit(trainer)}; raise it to go on, or give --restart"


def _stopped_early(trainer: Trainer) -> bool:
    return trainer.progress.step < trainer.total_steps and not trainer.time_is_up


def _why_ended(trainer: Trainer) -> str:
    from mt.training.progress import watched_metric
    from mt.wording import counted

    progress, config = trainer.progress, trainer.config
    if not _stopped_early(trainer):
        return _limit(trainer)
    metric = watched_metric(config)
    return f"no better valid {metric}{_by(config)} in {counted(progress.stale, 'validation')}"


def _limit(trainer: Trainer) -> str:
    """The setting that ends a run which was not stopped early."""
    step, settings = trainer.progress.step, trainer.settings
    if step < trainer.total_steps:
        return f"training.minutes is {settings.minutes:g}"
    if settings.max_epochs is not None and step >= settings.max_epochs * trainer.steps_per_epoch:
        return f"training.epochs is {settings.max_epochs}"
    return f"training.max_steps is {settings.max_steps:,}"


def _train(trainer: Trainer) -> None:
    from tqdm import tqdm

    line = _Lines(trainer)
    bar = tqdm(
        total=_steps(trainer),
        initial=trainer.progress.step,
        unit=" steps",
        disable=not (sys.stderr.isatty() and trainer.world.is_first),
        dynamic_ncols=True,
    )
    with bar:
        for result in trainer.fit():
            line.count(result)
            bar.update()
            if bar.disable:
                line.say_now_and_then()
            else:
                bar.total = _steps(trainer)
                bar.set_postfix_str(line.figures(), refresh=False)


def _steps(trainer: Trainer) -> int | None:
    """Those of the whole run, as far as is known by now."""
    expected = trainer.expected_steps
    return round(expected) if expected < math.inf else None


class _Lines:
    """The figures of the steps since they were last said."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self._restart()

    def _restart(self) -> None:
        self.loss, self.tokens, self.since = 0.0, 0, self._now()
        self.grad_norm = 0.0  # of the last step

    def _now(self) -> float:
        """Seconds, without those of validating and saving."""
        return time.monotonic() - self.trainer.seconds_aside

    def count(self, result: Any) -> None:
        if result.finite:
            self.loss += result.loss
        self.tokens += result.tokens
        self.grad_norm = result.grad_norm

    def figures(self) -> str:
        rate = self.tokens / max(self._now() - self.since, 1e-9)
        loss, lr = self.loss / max(self.tokens, 1), self.trainer.optimizer.param_groups[-1]["lr"]
        return (
            f"loss {loss:.3f}   lr {lr:.2g}   gradient {self.grad_norm:.2g}   {rate:,.0f} tokens/s"
        )

    def say_now_and_then(self) -> None:
        from mt.cli.report import log
        from mt.progress import spell_seconds

        if self._now() - self.since < SECONDS_BETWEEN_LINES:
            return
        trainer, total = self.trainer, _steps(self.trainer)
        about = "about " * (trainer.expected_steps < trainer.total_steps)
        log.info(
            "step %s of %s%s: %s   %s left",
            f"{trainer.progress.step:,}", about, f"{total:,}" if total else "?", self.figures(),
            spell_seconds(trainer.seconds_left()),
        )  # fmt: skip
        self._restart()


@contextmanager
def _stopping(trainer: Trainer) -> Iterator[list[int]]:
    """SIGINT and SIGTERM finish the step and save; a second one ends the process at once."""
    received: list[int] = []

    def handle(number: int, _frame: object) -> None:
        if received:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        received.append(number)
        trainer.stop_requested = True

    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_stopped(training: Run, arguments: argparse.Namespace, received: list[int]) -> None:
    from mt.cli.report import log

    log.info(
        "stopped by %s after step %s, saved in %s; go on with: %s",
        _by_whom(received), f"{training.trainer.progress.step:,}", training.folder.pointer("last"),
        _command(training, arguments),
    )  # fmt: skip


def _by_whom(received: list[int]) -> str:
    return signal.Signals(received[0]).name if received else "another process"


@contextmanager
def _failure_noted(training: Run) -> Iterator[None]:
    """Puts an error that ends the run into its history; it is raised on."""
    from mt.storage.failure import WriteError

    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        with suppress(WriteError):  # the error is told; where it was the disk, that is full
            if isinstance(error, KeyboardInterrupt):
                training.note_end("stopped", "SIGINT")
            else:
                memory = is_out_of_memory(error)
                training.note_end("failed", "out of memory" if memory else explain(error)[0])
        raise


def _close(training: Run, arguments: argparse.Namespace, received: list[int]) -> None:
    from mt.training.ending import finish

    if training.trainer.done:
        finish(training)
        training.note_end("ended", _why_ended(training.trainer))
        _say_ended(training)
    else:
        training.note_end("stopped", _by_whom(received))
        _say_stopped(training, arguments, received)


def _say_ended(training: Run) -> None:
    """Says why it ended, what was best and where that is, and what it cost."""
    from mt.cli.report import log
    from mt.training.ending import best_scores
    from mt.training.progress import spell_scores
    from mt.wording import counted

    trainer, progress = training.trainer, training.trainer.progress
    early, why = _stopped_early(trainer), _why_ended(trainer)
    if early:
        why += " (training.early_stopping.patience)"
    how = "stopped early" if early else "ended"
    log.info("%s after step %s: %s", how, f"{progress.step:,}", why)
    if progress.best_step is not None:
        best = training.folder.pointer("best")
        what = "average" if best == training.folder.average else f"step {progress.best_step:,}"
        where = best or "no checkpoint that is kept (training.keep.best)"
        log.info("best: %s, valid %s, in %s", what, spell_scores(best_scores(training)), where)
    log.info("%s", _costs(trainer.costs))
    path = training.folder.path
    log.info("done: %s; now: mt translate --model %s", counted(progress.step, "step"), path)


def _by(config: Config) -> str:
    stopping = config.training.early_stopping
    least = stopping.min_delta if stopping else 0.0
    return f" by more than {least:g} (min_delta)" if least else ""


def _costs(costs: dict[str, float]) -> str:
    """The time that was not spent on steps, and memory: time: 1 % batches, ...; memory: 500 MiB."""
    shares = [f"{v:.0%} {tag[5:]}" for tag, v in costs.items() if tag.startswith("time/")]
    memory = [f"{v:,.0f} MiB" + " on the GPU" * ("gpu" in tag) for tag, v in costs.items()
              if tag.startswith("memory/")]  # fmt: skip
    peak = f"; at most {', '.join(memory)}" if memory else ""
    return f"time: {', '.join(shares)}, the rest on steps{peak}"
