"""`mt` in processes of their own, forked from one that has everything imported: no waiting for it.

For what needs a process: signals, kills, limits. Its output goes to out.txt and err.txt; that of
process 1 of a job to out-1.txt and err-1.txt.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

PATIENCE = 120.0  # seconds until a test gives up; nothing waits that long when all is well
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["mt.cli.main", "mt.cli.report", "mt.training.run", "mt.training.plan", "tensorboard"]
)


def start(
    *arguments: str,
    folder: Path,
    before: Callable[[], None] | None = None,
    settings: Mapping[str, str] | None = None,
) -> BaseProcess:
    """Runs `mt ARGUMENTS` in `folder`, with `settings` in its environment.

    `before`, a function of a module, is called first.
    """
    process = _context.Process(target=_main, args=(arguments, folder, before, settings or {}))
    process.start()
    return process


class Job:
    """The processes of one job, as torchrun starts them, but with everything imported."""

    def __init__(
        self, *folders: Path, arguments: Sequence[str], before: Callable[[], None] | None = None
    ) -> None:
        """One process in each of `folders`; those in the same one are on one machine."""
        from torch.distributed import TCPStore

        # Kept by none of them, as torchrun keeps it: it is there whoever ends first.
        self.board = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        machines = list(dict.fromkeys(folders))
        self.folders = folders
        self.processes = []
        for rank, folder in enumerate(folders):
            settings = {
                "RANK": rank, "WORLD_SIZE": len(folders), "GROUP_RANK": machines.index(folder),
                "LOCAL_RANK": folders[:rank].count(folder), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": self.board.port, "TORCHELASTIC_USE_AGENT_STORE": True,
                "TORCHELASTIC_RUN_ID": "job",
            }  # fmt: skip
            texts = {name: str(value) for name, value in settings.items()}
            self.processes.append(start(*arguments, folder=folder, before=before, settings=texts))

    def finish(self) -> list[tuple[int, str]]:
        """The exit code of each process, and what it said."""
        codes = [ended(process) for process in self.processes]
        said = [(f / f"err-{i}.txt").read_text() for i, f in enumerate(self.folders)]
        return list(zip(codes, said, strict=True))


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


def _main(
    arguments: tuple[str, ...],
    folder: Path,
    before: Callable[[], None] | None,
    settings: Mapping[str, str],
) -> None:
    os.chdir(folder)
    os.environ.update(settings)
    mark = f"-{settings['RANK']}" if settings else ""
    for name, number, mode in (
        (os.devnull, 0, os.O_RDONLY),
        (f"out{mark}.txt", 1, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (f"err{mark}.txt", 2, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
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
