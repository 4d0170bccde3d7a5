"""The page: three files and a picture, read once, and served from memory under fixed paths."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)


def page_routes() -> list[Route]:
    """A route for each file."""
    return [_route(path, *what) for path, what in FILES.items()]


def _route(path: str, name: str, kind: str) -> Route:
    content = (files(__package__) / name).read_bytes()
    headers = {
        "content-security-policy": POLICY,
        "cache-control": "no-cache",  # asked for again each time, and then mostly not sent
        "etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"',
    }

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)

    return Route(path, answer, methods=["GET"])
