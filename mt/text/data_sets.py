"""Data sets with splits of their own as inputs: saved folders, the Hub's, the phrasebook.

How the Hub is talked to is `mt.text.hub`; files are `mt.text.sources`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import datasets
import pyarrow as pa

from mt.config import DataConfig, SourceConfig
from mt.errors import UserError
from mt.text.inputs import SPLIT_NAMES, Input, columns_of, sha256_of
from mt.text.readers.arrow import check_columns, read_tables
from mt.text.rows import BATCH_ROWS, Batches, RawBatch


def phrasebook_inputs(data: DataConfig) -> list[Input]:
    """The splits of the built-in corpus; `UserError` for any languages but its two."""
    if {data.src, data.tgt} != {"en", "it"}:
        raise UserError(
            f"data.source phrasebook is English and Italian (en, it), not {data.src} and {data.tgt}"
        )
    from mt.text.phrasebook import phrasebook

    found = []
    for role, pairs in phrasebook().items():
        sides = [list(side) for side in zip(*pairs, strict=True)] or [[], []]
        src, tgt = sides if data.src == "en" else sides[::-1]
        digest = hashlib.sha256("\n".join([*src, *tgt]).encode()).hexdigest()
        name = f"phrasebook {role}"
        found.append(Input(name, "phrasebook", digest, _in_memory(src, tgt), role, unit="row"))
    return found


def _in_memory(src: list[str], tgt: list[str]) -> Callable[[], Batches]:
    def read() -> Batches:
        for start in range(0, len(src), BATCH_ROWS):
            end = min(start + BATCH_ROWS, len(src))
            yield RawBatch(range(start + 1, end + 1), [*src[start:end]], [*tgt[start:end]])

    return read


def saved_inputs(path: Path, data: DataConfig) -> list[Input]:
    """The splits of a folder that save_to_disk wrote; `UserError` when it is damaged."""
    try:
        found = datasets.load_from_disk(str(path))
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        why = " ".join(str(error).split())[:150]
        raise UserError(f"{path.absolute()}: a damaged data set ({why}); save it again") from None
    splits = {"train": found} if isinstance(found, datasets.Dataset) else found
    inputs = _data_set(splits, str(path.absolute()), "saved data set", data)
    # Its own fingerprint tells how it was made; the content of its files is safer.
    digest = sha256_of(sorted(p for p in path.rglob("*") if p.is_file()))
    return [replace(item, fingerprint=f"{digest} {item.name}") for item in inputs]


def hub_inputs(item: SourceConfig, data: DataConfig) -> list[Input]:
    """The splits of a data set of the Hub; `UserError` when it cannot be had."""
    from mt.text.hub import load_from_hub  # the Hub's client is slow to import

    name = item.source or ""
    subset, revision = item.subset or data.subset, item.revision or data.revision
    found = load_from_hub(name, subset, revision, data.src, data.tgt)
    return _data_set(found, name, "hub", data)


def _data_set(
    found: Mapping[str, datasets.Dataset], name: str, form: str, data: DataConfig
) -> list[Input]:
    """The splits of a data set that we know the meaning of, each with its role."""
    known = {split: SPLIT_NAMES[split] for split in found if split in SPLIT_NAMES}
    if not known and len(found) == 1:
        known = dict.fromkeys(found, "train")
    if not known:
        raise UserError(f"{name}: no split train, valid or test; found: {', '.join(found)}")
    return [
        _split_of(found[split], f"{name} {split}", form, role, data)
        for split, role in known.items()
    ]


def _split_of(rows: datasets.Dataset, name: str, form: str, role: str, data: DataConfig) -> Input:
    columns = columns_of(data)
    check_columns(rows.features.arrow_schema, name, columns)

    def read() -> Batches:
        tables = rows.with_format("arrow").iter(BATCH_ROWS)
        batches = (batch for table in tables for batch in table.to_batches())
        return read_tables(batches, name, columns)

    return Input(name, form, rows._fingerprint, read, role, unit="row")
