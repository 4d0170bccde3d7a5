"""`mt train`: trains the model of a config file, or goes on where it stopped."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.cli.failure import job
from mt.cli.memory import memory_advice
from mt.errors import RunError, is_out_of_memory

if TYPE_CHECKING:
    from mt.config import Config
    from mt.distributed import World
    from mt.training.run import Run
    from mt.training.trainer import Trainer

SECONDS_BETWEEN_LINES = 10.0  # of progress, where there is no terminal


def add_parser(commands: Any) -> None:
    """Adds `train` to the commands."""
    parser = commands.add_parser(
        "train",
        help="train a model from a config file; the same command again resumes",
        description="Trains the model that a config file describes. Given again, the same command "
        "goes on where the run stopped.",
    )
    add_config_options(parser)
    parser.add_argument(
        "--restart",
        action="store_true",
        help="begin anew; an earlier run of this name is moved aside, not deleted",
    )
    parser.set_defaults(run=run)


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which config, and what to lay over it."""
    parser.add_argument("--config", required=True, metavar="FILE", help="the config, a YAML file")
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
    with job() as world:
        return _train_config(arguments, world)


def _train_config(arguments: argparse.Namespace, world: World | None) -> int:
    from mt.config_file import load_config

    config = load_config(Path(arguments.config), arguments.overrides)

    from mt.cli.report import only_warn, start_logging

    start_logging()
    if world is not None:
        from mt.training.run import newest_first

        world = newest_first(world, config)
        if not world.is_first:
            only_warn()
    try:
        return _start(config, arguments, world)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise RunError(memory_advice(config)) from error


def _start(config: Config, arguments: argparse.Namespace, world: World | None) -> int:
    from mt.cli.report import logging_to
    from mt.distributed import ALONE
    from mt.training.run import Run

    world = world or ALONE
    # What torchrun starts again goes on: the earlier run was moved aside at the first start.
    (again,) = world.sum([float(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))])
    training = Run(config, arguments.restart and not again, world)
    record = logging_to(training.runs_folder / "train.log")
    try:
        with record if training.world.is_first else nullcontext():
            return _run(training, arguments)
    finally:
        training.close()


def _run(training: Run, arguments: argparse.Namespace) -> int:
    from mt.cli.report import log
    from mt.training.plan import describe
    from mt.training.trainer import NotFiniteError

    trainer = training.trainer
    for line in describe(training):
        log.info("%s", line)
    if training.resumed_from is not None:
        log.info("resuming %s after step %s", training.folder.path, f"{training.resumed_from:,}")
    if trainer.done:
        log.info("nothing left to do: %s", _why_done(trainer))
        return 0
    try:
        with _stopping(trainer) as received:
            _train(trainer)
    except NotFiniteError as error:
        path = training.keep_pairs(error.rows)
        raise RunError(f"{error}. The pairs of the last step are in {path}") from None
    _close(training, arguments)
    if not trainer.stopped:
        return 0
    return 128 + (received[0] if received else signal.SIGTERM)  # another process had the signal


def _why_done(trainer: Trainer) -> str:
    step, settings = trainer.progress.step, trainer.settings
    if step < trainer.total_steps:
        return f"stopped early at step {step:,}; --restart begins anew"
    limit = f"training.max_steps is {settings.max_steps:,}" if settings.max_steps else ""
    if settings.max_epochs is not None and step >= settings.max_epochs * trainer.steps_per_epoch:
        limit = f"training.epochs is {settings.max_epochs}"
    return f"{step:,} steps are made and {limit}; raise it to go on, or give --restart"


def _train(trainer: Trainer) -> None:
    from tqdm import tqdm

    line = _Lines(trainer)
    bar = tqdm(
        total=trainer.total_steps,
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
                bar.set_postfix_str(line.figures(), refresh=False)


class _Lines:
    """The figures of the steps since they were last said."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.first_step, self.began = trainer.progress.step, time.monotonic()
        self._restart()

    def _restart(self) -> None:
        self.loss, self.tokens, self.since = 0.0, 0, self._now()

    def _now(self) -> float:
        """Seconds, without those of validating and saving."""
        return time.monotonic() - self.trainer.seconds_aside

    def count(self, result: Any) -> None:
        if result.finite:
            self.loss += result.loss
        self.tokens += result.tokens

    def figures(self) -> str:
        rate = self.tokens / max(self._now() - self.since, 1e-9)
        return f"loss {self.loss / max(self.tokens, 1):.3f}   {rate:,.0f} tokens/s"

    def say_now_and_then(self) -> None:
        from mt.cli.report import log
        from mt.training.plan import spell_seconds

        if self._now() - self.since < SECONDS_BETWEEN_LINES:
            return
        step, total = self.trainer.progress.step, self.trainer.total_steps
        pace = (time.monotonic() - self.began) / (step - self.first_step)
        left = spell_seconds(pace * (total - step))
        log.info("step %s of %s: %s   %s left", f"{step:,}", f"{total:,}", self.figures(), left)
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


def _close(training: Run, arguments: argparse.Namespace) -> None:
    from mt.cli.report import log

    trainer, folder = training.trainer, training.folder.path
    if trainer.stopped and not trainer.done:
        command = ["mt", "train", "--config", arguments.config]
        command += [word for text in arguments.overrides for word in ("--set", text)]
        launcher = "torchrun … -m " if trainer.world.size > 1 else ""
        log.info(
            "stopped and saved after step %s; go on with: %s",
            f"{trainer.progress.step:,}", launcher + shlex.join(command),
        )  # fmt: skip
        return
    progress = trainer.progress
    if progress.step < trainer.total_steps:
        log.info("stopped early: no gain in %s validations", progress.stale)
    if progress.best_step is not None:
        log.info("best at step %s, kept in %s", f"{progress.best_step:,}", folder)
    log.info("done: %s steps; now: mt translate --model %s", f"{progress.step:,}", folder)
