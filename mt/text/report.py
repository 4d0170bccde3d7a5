"""What happened to every row of a corpus, in numbers and examples; it decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mt.wording import counted

EXAMPLES = 3


@dataclass
class Tally:
    """How many rows, and the first few of them as {file, row, text}."""

    count: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, file: str, row: int, text: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append({"file": file, "row": row, "text": text[:200]})


@dataclass
class FileReport:
    """One file, or split of a data set, that was read."""

    name: str
    form: str
    role: str  # train, valid or test
    weight: float
    sha256: str  # of the content; where the Hub is the source, its fingerprint there
    rows: int = 0
    kept: int = 0
    bad: int = 0


@dataclass
class SplitReport:
    """One split: its pairs (repetitions by weight included) and a hash that ignores their order."""

    pairs: int = 0
    hash: str = ""
    origin: str = ""  # given, or split from train


@dataclass
class DataReport:
    """Everything about a corpus that goes to data.json."""

    source: list[str]
    src: str
    tgt: str
    files: list[FileReport] = field(default_factory=list)
    read: int = 0
    kept: int = 0
    bad: Tally = field(default_factory=Tally)
    dropped: dict[str, Tally] = field(default_factory=dict)
    mended: dict[str, Tally] = field(default_factory=dict)
    splits: dict[str, SplitReport] = field(default_factory=dict)
    # "valid in train": {"same source": …, "nearly the same source": …, "same target", "same pair"}
    leaks: dict[str, dict[str, Tally]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings, ready for JSON."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """The report as a person reads it, a line at a time, without examples."""
        for name, text in self.rows():
            yield f"{name:<12} {text}"

    def rows(self) -> Iterator[tuple[str, str]]:
        """What each line is about, and what it says."""
        yield "data", f"{counted(self.kept, 'pair')} of {counted(self.read, 'row')} read"
        if self.bad.count:
            yield "bad", f"{counted(self.bad.count, 'row')}, left out: {_bad(self.bad)}"
        for reason, tally in self.dropped.items():
            yield "dropped", f"{counted(tally.count, 'row')}, {reason}: {_first(tally)}"
        for what, tally in self.mended.items():
            yield "mended", f"{counted(tally.count, 'row')}, {what}: {_first(tally)}"
        sizes = [f"{split.pairs:,} {name}" for name, split in self.splits.items()]
        yield "split", f"{', '.join(sizes)} pairs"
        for where, kinds in self.leaks.items():
            for kind, tally in kinds.items():
                if tally.count:
                    have = "has" if tally.count == 1 else "have"
                    yield "overlap", f"{where}: {counted(tally.count, 'pair')} {have} the {kind}"
        for notice in self.notices:
            yield "notice", notice


def report_from_dict(data: dict[str, Any]) -> DataReport:
    """The report that `as_dict` made `data` of."""
    plain = {k: data[k] for k in ("source", "src", "tgt", "read", "kept", "notices")}
    return DataReport(
        **plain,
        files=[FileReport(**item) for item in data["files"]],
        bad=Tally(**data["bad"]),
        dropped=_tallies(data["dropped"]),
        mended=_tallies(data["mended"]),
        splits={name: SplitReport(**split) for name, split in data["splits"].items()},
        leaks={where: _tallies(kinds) for where, kinds in data["leaks"].items()},
    )


def _tallies(data: dict[str, Any]) -> dict[str, Tally]:
    return {name: Tally(**tally) for name, tally in data.items()}


def _bad(tally: Tally) -> str:
    places = [f"{_short(e['file'])} row {e['row']}, {e['text'][:60]}" for e in tally.examples]
    return "; ".join(places) + ("; ..." if tally.count > len(places) else "")


def _first(tally: Tally) -> str:
    places = [f"{_short(e['file'])} row {e['row']}" for e in tally.examples]
    more = ", ..." if tally.count > len(places) else ""
    return ", ".join(places) + more


def _short(file: str) -> str:
    """A file without its folder; of two that are read side by side, both."""
    return " + ".join(Path(path).name for path in file.split(" + "))
