"""The exceptions that the command line shows as a short message, and how to know one other kind."""

from __future__ import annotations

from importlib.util import find_spec


class UserError(Exception):
    """A mistake that the user can mend.

    The message names the file, key, row or value at fault and the way out. The command line
    prints it without a stack trace and exits with status 2.
    """


class RunError(Exception):
    """A failure while running (disk full, loss not finite): same short message, status 1."""


def require(library: str, extra: str) -> None:
    """Raises UserError unless a library is there that one of this package's extras brings."""
    if find_spec(library) is None:
        raise UserError(f'{library} is not installed; get it with: pip install "mt[{extra}]"')


class ToldError(Exception):
    """A failure of a job of several processes that another one of them tells of: `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` is Python's, the system's or torch's way to say that memory is used up."""
    text = str(error).lower()
    said = ("out of memory", "can't allocate memory", "cannot allocate memory")
    return isinstance(error, MemoryError) or any(words in text for words in said)
