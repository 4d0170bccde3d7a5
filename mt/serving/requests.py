"""What a request says: its body within the limits, its fields with their types, or a refusal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

MOST_FIELDS = 1_000
# Of a body that is too large so many times the limit is read and thrown away: who is still writing
# when the connection is closed does not see the answer.
READ_ON = 8
SHOWN = 40  # characters of a wrong value in an answer


@dataclass(frozen=True)
class Limits:
    """What a request may ask for."""

    body: int = 1 << 20  # bytes
    characters: int = 10_000  # of all texts of a request
    lines: int = 500  # of all texts of a request; between HTML tags: passages
    alternatives: int = 10
    seconds: float = 30.0  # until the body is there, and then until the answer is


class Refusal(Exception):  # noqa: N818
    """What is answered instead: a status, a sentence, and headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


async def read_fields(request: Request, limits: Limits) -> dict[str, Any]:
    """The fields of a JSON object or of a form. Raises Refusal: 400, 408, 413, 415."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "application/x-www-form-urlencoded"):
        given = f"not {_shown(kind)}" if kind else "and the request names none"
        raise Refusal(
            415,
            "the Content-Type must be application/json or application/x-www-form-urlencoded, "
            f"{given}",
        )
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _body(request, limits.body)
    except TimeoutError:
        raise Refusal(408, f"the body was not there after {limits.seconds:g} s") from None
    return _json_fields(body) if kind == "application/json" else _form_fields(body)


async def _body(request: Request, limit: int) -> bytes:
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > READ_ON * limit:
        raise _too_large(limit)
    body, size = bytearray(), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= limit:
                body += chunk
            elif size > READ_ON * limit:
                raise _too_large(limit)
    except ClientDisconnect:
        raise Refusal(400, "the body ended too early") from None
    if size > limit:
        raise _too_large(limit)
    return bytes(body)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body is over the limit of {limit:,} bytes", {"connection": "close"})


def _json_fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "Invalid request: the body is not JSON in UTF-8") from None
    if not isinstance(fields, dict):
        raise Refusal(400, "Invalid request: the body must be a JSON object")
    return fields


def _form_fields(body: bytes) -> dict[str, Any]:
    """Of a field that comes more than once, as `q` may, a list."""
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Refusal(
            400, f"Invalid request: the body is not a form in UTF-8 of up to {MOST_FIELDS} fields"
        ) from None
    fields: dict[str, Any] = {}
    for name, value in pairs:
        # A browser sends line ends as CR LF, whatever was typed.
        value = value.replace("\r\n", "\n")
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def text_of(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A field that is a string. Raises Refusal if it is missing, without default, or is not one."""
    value = fields.get(name)
    if value is None or value == "":
        if default is not None:
            return default
        raise Refusal(400, f"Invalid request: missing {name} parameter")
    if not isinstance(value, str):
        raise Refusal(400, f"Invalid request: {name} parameter must be a string")
    return value


def texts_of(fields: Mapping[str, Any], limits: Limits) -> tuple[list[str], bool]:
    """The texts of `q`, and whether it was a list. Raises Refusal."""
    q = fields.get("q")
    if q is None or q == "" or q == []:
        raise Refusal(400, "Invalid request: missing q parameter")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "Invalid request: q parameter must be a string or a list of strings")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Refusal(
            400,
            f"Invalid request: q parameter ({characters:,} characters) exceeds text limit "
            f"({limits.characters:,})",
        )
    if len(texts) > limits.lines:
        raise too_many_lines(len(texts), limits)
    return texts, isinstance(q, list)


def too_many_lines(count: int, limits: Limits) -> Refusal:
    """What is said of so many lines."""
    return Refusal(
        400, f"Invalid request: q parameter ({count:,} lines) exceeds line limit ({limits.lines:,})"
    )


def count_of(fields: Mapping[str, Any], name: str, most: int, default: int = 0) -> int:
    """A field that is a whole number from 0 to `most`, or digits. Raises Refusal."""
    value = fields.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if value is None or value == "":
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(400, f"Invalid request: {name} parameter is not a number")
    if not 0 <= value <= most:
        raise Refusal(400, f"Invalid request: {name} parameter must be from 0 to {most}")
    return value


def choice_of(fields: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """A field that is one of some words, the first if it is missing. Raises Refusal."""
    value = text_of(fields, name, choices[0])
    if value not in choices:
        raise Refusal(
            400, f"{_shown(value)} {name} is not supported; it may be {' or '.join(choices)}"
        )
    return value


def _shown(value: str) -> str:
    return value if len(value) <= SHOWN else value[:SHOWN] + "…"


def language_of(fields: Mapping[str, Any], name: str) -> str:
    """The code of a language, short enough to be said again. Raises Refusal."""
    return _shown(text_of(fields, name))
