"""From the names in the config to what is to be read: files and folders here, the rest beside.

How a form is read is in `mt.text.readers`; data sets and the phrasebook are `mt.text.data_sets`.
"""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from mt.config import DataConfig, SourceConfig, Sources
from mt.errors import UserError
from mt.text.data_sets import hub_inputs, phrasebook_inputs, saved_inputs
from mt.text.inputs import SPLIT_NAMES, Input, columns_of, sha256_of
from mt.text.readers import READERS, read_text_pair
from mt.text.readers.lines import COMPRESSED, form_of

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def find_inputs(data: DataConfig) -> list[Input]:
    """Everything that the config names, in its order; `UserError` for what is not there.

    Files given as data.valid or data.test take the place of splits that a source brings along.
    """
    main = [found for item in _listed(data.source or data.train) for found in _find(item, data)]
    inputs = [found for found in main if found.role == "train" or not getattr(data, found.role)]
    for role in ("valid", "test"):
        for item in _listed(getattr(data, role)):
            inputs += _as_role(role, list(_find(item, data)))
    if not any(found.role == "train" for found in inputs):
        names = ", ".join(found.name for found in main)
        raise UserError(f"{names}: no training pairs among the splits; give a file as data.train")
    return inputs


def _listed(sources: Sources | None) -> list[SourceConfig]:
    items = sources if isinstance(sources, list) else [] if sources is None else [sources]
    return [SourceConfig(source=item) if isinstance(item, str) else item for item in items]


def _as_role(role: str, found: list[Input]) -> list[Input]:
    """The split of that name, if the source brings several; else all of it."""
    named = [item for item in found if item.role == role]
    return named or [replace(item, role=role) for item in found]


def _find(item: SourceConfig, data: DataConfig) -> Iterator[Input]:
    for found in _find_unweighted(item, data):
        yield replace(found, weight=item.weight)


def _find_unweighted(item: SourceConfig, data: DataConfig) -> Iterable[Input]:
    if item.source is None:
        sides = (Path(side or "").expanduser() for side in (item.src_file, item.tgt_file))
        return [_text_pair(*sides)]
    name = item.source
    if name == "phrasebook":
        return phrasebook_inputs(data)
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path, data)
    if path.is_file():
        return [_file(path, data)]
    if pair := _pair_of_prefix(path, data):
        return [pair]
    if any(mark in name for mark in "*?["):
        return _pattern(name, path, data)
    if _looks_like_hub_id(name, path):
        return hub_inputs(item, data)
    raise _nothing_there(name, path, data)


def _file(path: Path, data: DataConfig) -> Input:
    form = form_of(path)
    if form in READERS:
        reader, unit = READERS[form]
        columns = columns_of(data)
        name, digest = str(path.absolute()), sha256_of([path])
        return Input(name, form[1:], digest, lambda: reader(path, columns), unit=unit)
    if form[1:] in (data.src, data.tgt) and (pair := _pair_of_prefix(_prefix(path), data)):
        return pair
    raise UserError(
        f"{path.absolute()}: cannot tell its form by its extension; known: "
        f"{', '.join(READERS)}, or two text files named after their languages "
        f"(NAME.{data.src} and NAME.{data.tgt}), each plain or {', '.join(COMPRESSED)}"
    )


def _prefix(path: Path) -> Path:
    return Path(str(path)[: str(path).rfind(form_of(path))])


def _pair_of_prefix(prefix: Path, data: DataConfig) -> Input | None:
    """The text pair NAME.<src> and NAME.<tgt>, each perhaps compressed."""
    sides = [_side(prefix, language) for language in (data.src, data.tgt)]
    if sides[0] and sides[1]:
        return _text_pair(sides[0], sides[1])
    return None


def _side(prefix: Path, language: str) -> Path | None:
    names = (f"{prefix}.{language}{packed}" for packed in ("", *COMPRESSED))
    return next((Path(name) for name in names if Path(name).is_file()), None)


def _text_pair(src: Path, tgt: Path) -> Input:
    name = f"{src.absolute()} + {tgt.absolute()}"
    return Input(name, "text", sha256_of([src, tgt]), lambda: read_text_pair(src, tgt))


def _pattern(name: str, path: Path, data: DataConfig) -> list[Input]:
    paths = [Path(found) for found in sorted(glob.glob(str(path)))]  # noqa: PTH207
    if not paths:
        raise UserError(f"no file matches {name} (looked for {path.absolute()})")
    return [_file(found, data) for found in paths if found.is_file()]


def _folder(path: Path, data: DataConfig) -> list[Input]:
    """A data set saved to disk, or a folder of files, whose names say which split they are."""
    if (path / "state.json").is_file() or (path / "dataset_dict.json").is_file():
        return saved_inputs(path, data)
    names = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    pairs = {_prefix(p) for p in names if form_of(p) == f".{data.src}"}
    found = {p: _file(p, data) for p in names if form_of(p) in READERS}
    found |= {p: pair for p in pairs if (pair := _pair_of_prefix(p, data))}
    if not found:
        raise UserError(
            f"{path.absolute()}: neither a data set saved with save_to_disk nor files in a form "
            f"that is known ({', '.join(READERS)}, or NAME.{data.src} with NAME.{data.tgt})"
        )
    return [replace(found[p], role=_role_of_name(p)) for p in sorted(found)]


def _role_of_name(path: Path) -> str:
    """train, valid or test, by how the file's name begins; train if it says nothing."""
    word = re.match(r"[a-z]*", path.name.lower())
    return SPLIT_NAMES.get(word[0] if word else "", "train")


def _looks_like_hub_id(name: str, path: Path) -> bool:
    known = form_of(path) in READERS or path.suffix in COMPRESSED
    return bool(HUB_ID.fullmatch(name)) and not known and not path.parent.is_dir()


def _nothing_there(name: str, path: Path, data: DataConfig) -> UserError:
    shown = path.absolute()
    if form_of(path) in READERS or path.suffix in COMPRESSED or "/" in name:
        also = f" (nor {path.name}.{data.src} with {path.name}.{data.tgt}, nor a Hub id)"
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return UserError(f"no such file: {shown}{'' if form_of(path) in READERS else also}{hint}")
    near = difflib.get_close_matches(name, ["phrasebook"], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return UserError(
        f"data.source {name}: no such file ({shown}), nor text files {path.name}.{data.src} and "
        f"{path.name}.{data.tgt}, nor a Hub id, which is NAMESPACE/NAME, nor phrasebook{hint}"
    )
