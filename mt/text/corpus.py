"""A corpus: the pairs that a config names, cleaned and split, on disk and ready to be read.

Leaves and order of the work: `sources` finds the files, `readers` read them, `staging` cleans,
`splits` decides, and here the result is written once and found again while nothing has changed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import datasets
import pyarrow as pa

from mt.config import DataConfig
from mt.errors import RunError, UserError
from mt.text.inputs import Input
from mt.text.report import DataReport, report_from_dict
from mt.text.sources import find_inputs
from mt.text.split_files import SplitWriter
from mt.text.splits import TRAIN, Codes, assign_splits
from mt.text.staging import ROLES, Staging, file_reports
from mt.wording import counted

log = logging.getLogger("mt")
VERSION = 2  # of what is written to the cache; a new one leaves the old folders unused
REPORT = "report.json"
# Settings that do not change which pairs there are.
NOT_CONTENT = {"source", "train", "valid", "test", "max_length", "subset", "revision"}


@dataclass(frozen=True)
class Corpus:
    """The splits "train", "valid" and "test", each perhaps empty, and how they came about.

    Columns: `src` and `tgt`, normalised; `row`, from 1, in the file with the index `file` of
    `report.files`; in valid and test also `ref`, the target text exactly as it stood there, and
    `document`, what `data.group_by` says of it, or null.
    """

    splits: dict[str, datasets.Dataset]
    report: DataReport


def load_corpus(data: DataConfig) -> Corpus:
    """The corpus of `data`, from the cache if its sources and settings are unchanged.

    Raises `UserError` for sources that are missing, unreadable, in an unknown form, without the
    columns asked for, or with too many bad rows, and for a corpus without training pairs.
    """
    inputs = find_inputs(data)
    folder = cache_folder() / _fingerprint(data, inputs)
    if folder.is_dir():
        try:
            return _open(folder)
        except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
            log.warning("the prepared corpus %s is damaged; it is made again", folder)
            shutil.rmtree(folder, ignore_errors=True)
    _build(data, inputs, folder)
    return _open(folder)


def cache_folder() -> Path:
    """Where prepared corpora lie: in the cache of the `datasets` library (HF_DATASETS_CACHE)."""
    return Path(datasets.config.HF_DATASETS_CACHE) / "mt-corpora"


def _fingerprint(data: DataConfig, inputs: list[Input]) -> str:
    """Of everything that the result depends on."""
    parts = {
        "version": VERSION,
        "settings": data.model_dump(exclude=NOT_CONTENT),
        "inputs": [[i.name, i.form, i.role, i.weight, i.fingerprint] for i in inputs],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _open(folder: Path) -> Corpus:
    report = report_from_dict(json.loads((folder / REPORT).read_text(encoding="utf-8")))
    splits = {}
    for role in ROLES:
        splits[role] = datasets.Dataset.from_file(str(folder / f"{role}.arrow"))
        # Stable, so that what is computed from a split is found in the cache again.
        splits[role]._fingerprint = f"{folder.name}-{role}"
        if len(splits[role]) != report.splits[role].pairs:
            raise ValueError(f"{role}.arrow is not whole")
    return Corpus(splits, report)


def _build(data: DataConfig, inputs: list[Input], folder: Path) -> None:
    report = DataReport([i.name for i in inputs], data.src, data.tgt, file_reports(inputs))
    with _temporary_folder(folder) as work, tempfile.TemporaryDirectory(dir=work) as scratch:
        staging = Staging(Path(scratch), data, report)
        staging.fill(inputs)
        codes, leaks = assign_splits(staging, data, report)
        _check_not_empty(codes, report)
        SplitWriter(work, inputs, report, leaks).write(staging, codes)
        if not report.splits["train"].pairs:
            raise UserError("data.source: the weights leave no training pair; raise them")
        _add_notices(data, report)
        text = json.dumps(report.as_dict(), ensure_ascii=False, indent=1)
        (work / REPORT).write_text(text, encoding="utf-8")


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    """A folder that takes its final name when all is well; `UserError` if it cannot be written."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="unfinished-", dir=folder.parent))
    except OSError as error:
        raise UserError(
            f"cannot write the data cache {folder.parent}: {error.strerror}; "
            "set HF_DATASETS_CACHE to a folder that can be written"
        ) from None
    try:
        yield work
        if not (folder / REPORT).is_file():  # another process may have been faster
            work.rename(folder)
    except OSError as error:
        if not (folder / REPORT).is_file():
            raise RunError(
                f"cannot write the data cache {folder}: {error.strerror or error}"
            ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_not_empty(codes: Codes, report: DataReport) -> None:
    for file in report.files:
        if file.role != "train" and not file.kept:
            raise UserError(
                f"{file.name}: no {file.role} pairs in it ({counted(file.rows, 'row')} read)"
            )
    if (codes == TRAIN).any():
        return
    rows = f"{counted(report.read, 'row')} read"
    reasons = [f"{tally.count:,} {reason}" for reason, tally in report.dropped.items()]
    bad = [f"{report.bad.count:,} bad"] if report.bad.count else []
    raise UserError(
        f"no training pairs in {', '.join(report.source)}: {', '.join([rows, *bad, *reasons])}"
    )


def _add_notices(data: DataConfig, report: DataReport) -> None:
    for role, size in (("valid", data.valid_size), ("test", data.test_size)):
        if size and not report.splits[role].pairs:
            what = "validation" if role == "valid" else role
            report.notices.append(
                f"no {what} pairs: too few different source texts to split off a share of {size:g}"
            )
