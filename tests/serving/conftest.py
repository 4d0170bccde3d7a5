"""A server of the toy model, in a thread of this process, and how to ask it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
import torch

from mt.decoding.torch_engine import open_translator
from mt.decoding.translator import Translator
from mt.serving.api import Settings, application
from mt.serving.models import Models, ServedModel
from mt.serving.server import Server, listen, url_of
from mt.storage.model_folder import ModelFolder

PATIENCE = 30.0
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Said(NamedTuple):
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        assert self.headers["content-type"] == "application/json"
        [(name, message)] = self.json.items()
        assert name == "error"
        assert "Traceback" not in message
        return message


class Client:
    """Asks a server, with a connection of its own each time."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        said = Said(answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()})
        connection.close()
        return said

    def get(self, path: str, **headers: str) -> Said:
        return self.ask("GET", path, **headers)

    def post(self, path: str, **fields: Any) -> Said:
        return self.ask("POST", path, json.dumps(fields), **JSON)

    def send(self, path: str, body: bytes, kind: str = "application/json") -> Said:
        return self.ask("POST", path, body, Content_Type=kind)

    def form(self, path: str, **fields: Any) -> Said:
        return self.ask("POST", path, urlencode(fields, doseq=True), **FORM)

    def translate(self, q: Any, **fields: Any) -> Said:
        return self.post("/translate", **{"q": q, "source": "en", "target": "it", **fields})


@contextmanager
def served(models: list[ServedModel], settings: Settings | None = None) -> Iterator[Client]:
    """A server in a thread; at the end it is stopped as by a signal, and must end."""
    with listen("127.0.0.1", 0) as sock:
        ready = threading.Event()
        app = application(Models(models), settings or Settings())
        server = Server(app, ready.set)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([sock])))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            yield Client(url_of(sock))
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.fixture(scope="session")
def translator(training_folder: Path) -> Translator:
    folder = ModelFolder(training_folder / "weights" / "toy")
    return open_translator(folder, torch.device("cpu"))


@pytest.fixture(scope="session")
def toy(translator: Translator) -> ServedModel:
    return ServedModel("toy", "torch", translator)


@pytest.fixture(scope="session")
def client(toy: ServedModel) -> Iterator[Client]:
    with served([toy]) as found:
        yield found
