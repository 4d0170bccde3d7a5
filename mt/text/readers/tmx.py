"""TMX, the exchange format of translation memories, as pairs, a unit at a time; nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError, iterparse

from mt.errors import UserError
from mt.text.readers.lines import open_bytes
from mt.text.rows import BATCH_ROWS, Batches, Columns, RawBatch

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_tmx(path: Path, columns: Columns) -> Batches:
    """The pairs of a `.tmx` file, `en` taking `en-US` and `EN_gb` too.

    A unit without one of the sides has a None there. `UserError` for broken XML, with its line,
    and when no unit has both languages: those found are listed.
    """
    if columns.group:
        raise UserError(f"{path.absolute()}: data.group_by is for tables; TMX has no columns")
    languages: set[str] = set()
    complete = False
    batch, first = _empty(), 1
    with open_bytes(path) as stream:
        for number, unit in enumerate(_units(path, stream), 1):
            texts = _texts(unit)
            languages.update(texts)
            src, tgt = (_choose(texts, name) for name in columns.names)
            complete = complete or (src is not None and tgt is not None)
            batch.src.append(src)
            batch.tgt.append(tgt)
            if len(batch.src) == BATCH_ROWS:
                yield _numbered(batch, first)
                batch, first = _empty(), number + 1
    if languages and not complete:
        raise UserError(
            f"{path.absolute()}: no unit has both {' and '.join(columns.names)}; languages found: "
            f"{', '.join(sorted(languages))}. Set data.src and data.tgt to two of them"
        )
    yield _numbered(batch, first)


def _empty() -> RawBatch:
    return RawBatch([], [], [])


def _numbered(batch: RawBatch, first: int) -> RawBatch:
    batch.rows = range(first, first + len(batch.src))
    return batch


def _units(path: Path, stream: IO[bytes]) -> Iterator[Element]:
    """The `tu` elements, each forgotten after use."""
    body: Element | None = None
    try:
        for event, element in iterparse(stream, events=("start", "end")):
            if event == "start" and _name(element) == "body":
                body = element
            elif event == "end" and _name(element) == "tu":
                yield element
                if body is not None:
                    body.clear()
    except ParseError as error:
        line = error.position[0]
        reason = str(error).split(":")[0]
        raise UserError(
            f"{path.absolute()}, line {line}: not well-formed XML ({reason}); is the file whole?"
        ) from None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _texts(unit: Element) -> dict[str, str]:
    """The first text of each language, inline markup taken out but its text kept."""
    texts: dict[str, str] = {}
    for variant in unit:
        language = variant.get(XML_LANG) or variant.get("lang")
        segment = next((child for child in variant if _name(child) == "seg"), None)
        if _name(variant) == "tuv" and language and segment is not None:
            texts.setdefault(language, "".join(segment.itertext()))
    return texts


def _choose(texts: dict[str, str], wanted: str) -> str | None:
    """The text in exactly the language, else in one of its regional forms."""
    plain = {code.lower().replace("_", "-"): text for code, text in reversed(texts.items())}
    code = wanted.lower().replace("_", "-")
    if code in plain:
        return plain[code]
    return next((plain[c] for c in reversed(plain) if c.startswith(f"{code}-")), None)
