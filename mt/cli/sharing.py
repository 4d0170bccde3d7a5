"""One large file translated by several processes, on one machine or more, started by torchrun.

The input is cut into parts of so many lines. Process r of n translates every n-th part from the
r-th on and writes each into a folder beside the output; the first process waits for all parts and
joins them. What the processes know of each other is in that folder, so machines must share it.
Parts that a lost job has finished stay, under the fingerprint of all that they depend on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mt.cli.lines import Lines, decode, open_input
from mt.cli.notes import Note, Notes
from mt.errors import RunError, UserError
from mt.wording import counted

if TYPE_CHECKING:
    from mt.decoding.translator import Translation

SMALLEST_PART = 512  # lines
LOOK_EVERY = 0.2  # seconds
UNSEEN = 60.0  # seconds that the first process, done with its own parts, waits for a sign of others
STUCK = 1800.0  # seconds that it waits for the next part
# What an output does not depend on: the same command on other devices goes on from its parts.
IRRELEVANT = ("input", "output", "device", "run")


@dataclass(frozen=True)
class Work:
    """What is done with the lines of a part."""

    translate: Callable[[list[str]], list[Translation]]
    form: Callable[[Translation], str]  # the line of a translation
    source_limit: int  # tokens
    replace: bool  # whether bytes that are not UTF-8 are replaced; else they are refused


@dataclass(frozen=True)
class Place:
    """This process among all that torchrun started."""

    rank: int
    size: int
    local_rank: int
    job: str

    @classmethod
    def of_environment(cls) -> Place:
        """What torchrun told; alone if there is none."""
        told = os.environ.get
        return cls(
            int(told("RANK", "0")), int(told("WORLD_SIZE", "1")), int(told("LOCAL_RANK", "0")),
            f"{told('TORCHELASTIC_RUN_ID', '')}-{told('MASTER_PORT', '')}",
        )  # fmt: skip

    def device(self, engine: str, device: str) -> str:
        """The GPU that is this process's own, where GPUs are what `device` asks for."""
        if self.size == 1 or device not in ("auto", "cuda"):
            return device
        if device == "auto" and not _has_gpu(engine):
            return device
        return f"cuda:{self.local_rank}"


def _has_gpu(engine: str) -> bool:
    from mt.errors import require

    if engine == "torch":
        import torch

        return torch.cuda.is_available()
    if engine == "ctranslate2":
        require("ctranslate2", "export")
        import ctranslate2

        return bool(ctranslate2.get_cuda_device_count() > 0)
    return False


def check_can_share(arguments: argparse.Namespace) -> None:
    """Raises UserError unless there is a file to share out, and one to write."""
    if arguments.input in (None, "-") or not arguments.output:
        raise UserError(
            "several processes share out a file: give --input FILE and --output FILE, or start one"
        )
    source = Path(arguments.input)
    if not source.is_file():
        why = "is no file that could be shared out" if source.exists() else "is not there"
        raise UserError(f"--input {source.absolute()} {why}")


def fingerprint(arguments: argparse.Namespace, model: Path, checkpoint: Path | None) -> str:
    """A hash of input, model and options: all that the output depends on."""
    options = {name: v for name, v in vars(arguments).items() if name not in IRRELEVANT}
    total = hashlib.sha256(json.dumps(options, sort_keys=True, default=str).encode())
    files = [path for path in sorted(model.iterdir()) if _counts(path)]
    if checkpoint:
        files.append(checkpoint / "state.json")  # has the checksums of the weights
    for path in [Path(arguments.input), *files]:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:16]


def _counts(path: Path) -> bool:
    """Whether a file of a model folder says how it translates; not what training leaves there."""
    kept = path.name.startswith(".") or path.name in ("best", "last", "data.json", "README.txt")
    return path.is_file() and not kept


class SharedFile:
    """An input that is translated in parts, by this process and others."""

    def __init__(self, source: Path, target: Path, place: Place, mark: str, lines: int) -> None:
        """`lines` of a part; `mark` is the fingerprint."""
        self.source, self.target, self.place, self.mark = source, target, place, mark
        self.lines = max(SMALLEST_PART, lines)
        self.folder = target.with_name(f".{target.name}.parts")
        self._parts = 0  # of the whole input, once it was read

    @contextmanager
    def taking_part(self) -> Iterator[None]:
        """Leaves a sign for the others; if it ends badly, the first process says what is kept."""

        def stop(*_: object) -> None:
            raise RunError("stopped: a process of the job was lost, or it was told to end")

        before = signal.getsignal(signal.SIGTERM)
        if self.place.rank == 0:
            signal.signal(signal.SIGTERM, stop)
        try:
            self._come()
            if done := self._done():
                self._log(
                    f"going on from {counted(done, 'finished part')} in {self.folder.absolute()}"
                )
            yield
        except BaseException:
            self._leave()
            raise
        finally:
            signal.signal(signal.SIGTERM, before)

    def _come(self) -> None:
        while True:
            self.folder.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # another process has left, and the folder with it
                return self._put(self._here(self.place.rank), [self.place.job, self.mark])

    def _leave(self) -> None:
        """Says what is kept; a folder with nothing in it goes. With the first process all end."""
        done = self._done()
        if not done:
            last = self.place.rank == 0
            for sign in self.folder.glob("process-*.json"):
                if last or sign == self._here(self.place.rank):
                    sign.unlink(missing_ok=True)
            with suppress(OSError):  # not empty: others are there, or parts of another command
                self.folder.rmdir()
            return
        parts, where = counted(done, "finished part"), self.folder.absolute()
        self._log(
            f"{parts} {'is' if done == 1 else 'are'} kept in {where}; the same command goes on "
            f"from {'it' if done == 1 else 'them'}"
        )

    def translate(self, work: Work) -> Notes:
        """Translates this process's parts, in `taking_part`; the first one joins and notes all.

        Raises UserError for text that is not UTF-8, if that is refused, and RunError if another
        process does not do its share.
        """
        notes = Notes(work.source_limit)
        for number, lines in self._own_parts():
            self._translate(number, lines, work)
        if self.place.rank == 0:
            self._wait()
            self._join(notes)
        return notes

    def _own_parts(self) -> Iterator[tuple[int, list[bytes]]]:
        with open_input(self.source) as handle:
            source = Lines(handle)
            while lines := source.take(self.lines, patient=True):
                number, self._parts = self._parts, self._parts + 1
                own = number % self.place.size == self.place.rank
                if own and not self._part(number).exists():
                    yield number, lines

    def _translate(self, number: int, lines: list[bytes], work: Work) -> None:
        before = number * self.lines
        notes: list[tuple[int, Note]] = []

        def replaced(line: int) -> None:
            notes.append((line, Note(replaced=True)))

        where = str(self.source.absolute())
        text = decode(lines, where, before, replaced if work.replace else None)
        found = work.translate(text)
        for i, translation in enumerate(found, 1):
            notes.append((before + i, Note.of(translation, work.source_limit)))
        noted = [(line, asdict(note)) for line, note in notes if note != Note()]
        self._put(
            self._part(number),
            {"text": "".join(f"{work.form(one)}\n" for one in found), "notes": noted},
        )

    def _wait(self) -> None:
        """Until all parts are there. Raises RunError."""
        began = last = time.monotonic()
        missing = self._missing()
        while missing:
            self._check_others(time.monotonic() - began)
            if time.monotonic() - last > STUCK:
                raise RunError(
                    f"no part of {self.target.absolute()} was finished for {STUCK / 60:.0f} minutes"
                )
            time.sleep(LOOK_EVERY)
            before, missing = missing, self._missing()
            last = time.monotonic() if missing != before else last

    def _missing(self) -> list[int]:
        there = {path.name for path in self.folder.iterdir()}
        return [n for n in range(self._parts) if self._part(n).name not in there]

    def _check_others(self, waited: float) -> None:
        for rank in range(1, self.place.size):
            try:
                job, mark = json.loads(self._here(rank).read_text(encoding="utf-8"))
            except FileNotFoundError:
                job, mark = "", ""
            if job != self.place.job and waited > UNSEEN:
                raise RunError(
                    f"process {rank} of {self.place.size} has left no sign in "
                    f"{self.folder.absolute()}: is it on a disk that all machines share?"
                )
            if job == self.place.job and mark != self.mark:
                raise RunError(
                    f"process {rank} of {self.place.size} has another input, model or options; "
                    "let nothing change them meanwhile, and start again"
                )

    def _join(self, notes: Notes) -> None:
        from mt.storage.atomic import output_file

        with (
            output_file(self.target) as temporary,
            temporary.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for number in range(self._parts):
                part = json.loads(self._part(number).read_text(encoding="utf-8"))
                file.write(part["text"])
                for line, note in part["notes"]:
                    notes.add(line, Note(**note))
        shutil.rmtree(self.folder, ignore_errors=True)

    def _done(self) -> int:
        return sum(1 for _ in self.folder.glob(f"{self.mark}-*"))

    def _put(self, path: Path, content: object) -> None:
        from mt.storage.atomic import write_text

        write_text(path, json.dumps(content, ensure_ascii=False))

    def _part(self, number: int) -> Path:
        return self.folder / f"{self.mark}-{number:06}.json"

    def _here(self, rank: int) -> Path:
        return self.folder / f"process-{rank}.json"

    def _log(self, text: str) -> None:
        from mt.cli.report import log

        log.info("%s", text)
