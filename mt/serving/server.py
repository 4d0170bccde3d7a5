"""Listening, and stopping gracefully: what was accepted is answered."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from asyncio import Transport
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from mt.errors import UserError

PATIENCE = 15.0  # seconds that a connection may be open without a request being begun
MOST_CONNECTIONS = 500
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 for any free one. Raises UserError."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise UserError(
            f"--host {host} is not a name or address of this machine; leave it out for this "
            "machine alone (127.0.0.1), or give 0.0.0.0 for all its addresses"
        ) from None
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise UserError(
            f"--host {host} --port {port} cannot be listened on ({error.strerror}); choose another "
            "--port, as 5001, or 0 for any that is free"
        ) from None
    return sock


def url_of(sock: socket.socket) -> str:
    """Where a browser finds what listens on a socket."""
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Protocol(H11Protocol):
    """HTTP, with connections closed that send no whole request head for a while."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begun: Any = None
        self._check = self.loop.call_later(PATIENCE, self._close_if_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._check.cancel()
        super().connection_lost(exc)

    def _close_if_slow(self) -> None:
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.cycle is self._begun:
            self.transport.close()
            return
        self._begun = self.cycle
        self._check = self.loop.call_later(PATIENCE, self._close_if_slow)


class Server(uvicorn.Server):
    """A server that the first signal stops gracefully, and the second at once."""

    def __init__(self, app: ASGIApp, ready: Callable[[], object] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app, http=_Protocol, ws="none", loop="asyncio", lifespan="on", log_config=None,
                access_log=False, server_header=False, limit_concurrency=MOST_CONNECTIONS,
            )
        )  # fmt: skip
        # What goes wrong in the application is told there, in a line.
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        self._ready = ready
        self.stopped_by: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen, and says so."""
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stops."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self.stopped_by = self.stopped_by or sig

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Has `handle_exit` called meanwhile; which signal it was, is in `stopped_by`."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    app: ASGIApp, sock: socket.socket, ready: Callable[[], object] = lambda: None
) -> int | None:
    """Serves until a signal comes; its number."""
    server = Server(app, ready)
    asyncio.run(server.serve(sockets=[sock]))
    return server.stopped_by
