"""Answers as JSON, errors among them, and what every answer has."""

from __future__ import annotations

import json
import logging
import os
import time
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mt.serving.metrics import Metrics
from mt.serving.requests import Refusal

log = logging.getLogger("mt")
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Answer(JSONResponse):
    """JSON in UTF-8; halves of surrogate pairs, which have no UTF-8, as question marks."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


async def refused(request: Request, error: Exception) -> Response:
    """An error as LibreTranslate gives it."""
    if isinstance(error, Refusal):
        return Answer({"error": error.message}, error.status, error.headers)
    assert isinstance(error, HTTPException)
    words = HTTPStatus(error.status_code)
    return Answer({"error": f"{words.phrase}: {words.description}"}, words, error.headers)


class Outermost:
    """Counts requests, adds what every answer has, and lets no error through."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str]) -> None:
        self.app = app
        self.metrics = metrics
        self.paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                names = {name for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.encode() not in names
                ]
            await send(message)

        path = scope["path"] if scope["path"] in self.paths else "other"
        with self.metrics.open.track_inprogress():
            try:
                await self.app(scope, receive, watched)
            except Exception as error:
                log.error(
                    "mt: %s could not be answered: %s: %s", path, type(error).__name__, error,
                    exc_info=os.environ.get("MT_DEBUG") == "1",
                )  # fmt: skip
                if not status:
                    failure = Answer({"error": "the server failed at this; it is in its log"}, 500)
                    await failure(scope, receive, watched)
            finally:
                self.metrics.request(path, status or 500, began)
