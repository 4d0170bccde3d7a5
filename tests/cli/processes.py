"""`mt` in processes of their own, forked from one that has everything imported: no waiting for it.

For what needs a process: signals, kills, limits. Its output goes to out.txt and err.txt.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

PATIENCE = 60.0  # seconds until a test gives up; nothing waits that long when all is well
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["mt.cli.main", "mt.cli.report", "mt.training.run", "mt.training.plan", "tensorboard"]
)


def start(*arguments: str, folder: Path, before: Callable[[], None] | None = None) -> BaseProcess:
    """Runs `mt ARGUMENTS` in `folder`; `before`, a function of a module, is called first."""
    process = _context.Process(target=_main, args=(arguments, folder, before))
    process.start()
    return process


def call(function: Callable[..., object], *arguments: object) -> int:
    """The exit code of a process that does nothing but call `function`."""
    process = _context.Process(target=function, args=arguments)
    process.start()
    return ended(process)


def ended(process: BaseProcess) -> int:
    """The exit code of `process`, once it has one; that of a signal is negative."""
    process.join(PATIENCE)
    if process.exitcode is None:
        process.kill()
        raise AssertionError("the process does not end")
    return process.exitcode


def until(condition: Callable[[], object], process: BaseProcess) -> None:
    """Waits for `condition`; an AssertionError if the process ends before."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert process.is_alive(), Path("err.txt").read_text()
        assert time.monotonic() < give_up
        time.sleep(0.002)


def _main(arguments: tuple[str, ...], folder: Path, before: Callable[[], None] | None) -> None:
    os.chdir(folder)
    for name, number, mode in (
        (os.devnull, 0, os.O_RDONLY),
        ("out.txt", 1, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ("err.txt", 2, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(name, mode, 0o644), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115

    import torch

    from mt.cli.main import main

    torch.set_num_threads(1)
    if before is not None:
        before()
    status = main(list(arguments))
    sys.stdout.flush()
    sys.exit(status)
