"""What the commands say on stderr while they work, and where else it goes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mt.storage.failure import writing

log = logging.getLogger("mt")


class _StderrHandler(logging.Handler):
    """Lines that do not tear a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        bars = sys.modules.get("tqdm")  # without it there is no bar, and it takes time to import
        write = bars.tqdm.write if bars else print
        write(self.format(record), file=sys.stderr)
        sys.stderr.flush()


def start_logging() -> None:
    """Messages of the package to stderr, one plain line each; those of libraries only if dire."""
    log.setLevel(logging.INFO)
    log.propagate = False
    if not log.handlers:
        log.addHandler(_StderrHandler())
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    for name in ("datasets", "huggingface_hub", "sacrebleu", "filelock", "urllib3", "httpx"):
        logging.getLogger(name).setLevel(logging.ERROR)


class _LogFile(logging.FileHandler):
    """Lines in a file. One that cannot be written is a WriteError, where it was said."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        with writing("the log", Path(self.baseFilename).parent):
            raise  # the error that is being handled


def only_warn() -> None:
    """Of several processes one tells what goes on; this one does not."""
    log.setLevel(logging.WARNING)


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """The same messages, with the time, appended to a file. Raises WriteError, and so do they."""
    with writing("the log", path.parent):
        handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%Y-%m-%d %H:%M:%S"))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        with suppress(OSError):  # a line that was not written, and was told so
            handler.close()
