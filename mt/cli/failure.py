"""What a failure comes to: the message that the user reads, and the exit status."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mt.errors import RunError, ToldError, UserError, is_out_of_memory

if TYPE_CHECKING:
    from mt.distributed import World

FAILED, MISTAKE = 1, 2
OUT_OF_MEMORY = "out of memory: free some, or lower --batch-size"


def explain(error: Exception) -> tuple[str, int]:
    """The message, without a stack trace, and the exit status."""
    if isinstance(error, UserError):
        return str(error), MISTAKE
    if isinstance(error, RunError):
        return str(error), FAILED
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where and ':'}{where}", FAILED
    return OUT_OF_MEMORY if is_out_of_memory(error) else _bug(error), FAILED


def _bug(error: Exception) -> str:
    return (
        f"this should not have happened: {type(error).__name__}: {error}. "
        "MT_DEBUG=1 shows where; please report it"
    )


@contextmanager
def job() -> Iterator[World | None]:
    """The processes that torchrun started, joined; of a failure one on each machine tells.

    None where there are no others: then nothing is imported.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield None
        return
    from mt.distributed import join_world, leave_world

    world = join_world()
    try:
        yield world
    except Exception as error:
        message, status = explain(error)
        told = world.to_tell(error, message)
        if os.environ.get("MT_DEBUG") == "1":
            raise
        if told is None:
            raise ToldError(status) from error
        raise (UserError if status == MISTAKE else RunError)(told) from error
    leave_world()  # not after a failure: NCCL would wait for those that are gone
