"""Sockets: where it listens, slow connections, and a stop that finishes what it took."""

from __future__ import annotations

import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from mt.decoding.engine import Hypothesis
from mt.decoding.translator import Translator
from mt.errors import UserError
from mt.serving import server as serving
from mt.serving.models import ServedModel
from mt.serving.server import listen, url_of
from tests.conftest import KNOWN, SENTENCES
from tests.serving.conftest import Client, Said, served


class Gate:
    """An engine that begins when it may."""

    def __init__(self, translator: Translator) -> None:
        self.engine = translator.engine
        self.may = threading.Event()
        self.begun = threading.Event()

    def search(self, *arguments: object) -> list[list[Hypothesis]]:
        self.begun.set()
        assert self.may.wait(30)
        return self.engine.search(*arguments)  # type: ignore[arg-type]


def gated(toy: ServedModel) -> tuple[ServedModel, Gate]:
    gate = Gate(toy.translator)
    translator = toy.translator.with_search(toy.translator.search)
    translator.engine = gate  # type: ignore[assignment]
    return ServedModel("toy", "torch", translator), gate


def connect(client: Client) -> socket.socket:
    address = urlsplit(client.url)
    return socket.create_connection((address.hostname, address.port or 0), timeout=20)


def test_a_port_that_is_in_use_and_a_host_that_is_not_there() -> None:
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert url_of(sock) == f"http://127.0.0.1:{port}/"
        with pytest.raises(UserError, match=rf"--port {port} .*Address already in use.*5001"):
            listen("127.0.0.1", port)
    with pytest.raises(UserError, match=r"--host no\.such\.host\.invalid is not a name"):
        listen("no.such.host.invalid", 0)
    with listen("0.0.0.0", 0) as sock:
        assert url_of(sock).startswith("http://127.0.0.1:")


def test_a_stop_answers_all_that_was_accepted(toy: ServedModel) -> None:
    model, gate = gated(toy)
    answers: dict[int, Said] = {}
    sentences = [english for english, _ in KNOWN[:12]]
    with served([model]) as client:

        def ask(n: int) -> None:
            answers[n] = client.translate(sentences[n])

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        give_up = time.monotonic() + 20
        while b"mt_requests_open 13.0" not in client.get("/metrics").body:  # and this one
            assert time.monotonic() < give_up
        threading.Timer(0.3, gate.may.set).start()
    # It was told to stop while all of them waited, and has ended.
    for thread in threads:
        thread.join(10)
    assert {n: said.json["translatedText"] for n, said in answers.items()} == {
        n: SENTENCES[sentence] for n, sentence in enumerate(sentences)
    }


@pytest.mark.parametrize("head", [b"", b"POST /translate HTTP/1.1\r\nHost: x\r\n"])
def test_a_connection_that_says_nothing_whole_is_closed(
    toy: ServedModel, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(serving, "PATIENCE", 0.2)
    with served([toy]) as client, connect(client) as connection:
        connection.sendall(head)
        assert connection.recv(100) == b""


def test_a_connection_that_is_used_stays(toy: ServedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PATIENCE", 0.3)
    with served([toy]) as client, connect(client) as connection:
        for _ in range(4):
            time.sleep(0.15)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            said = b""
            while b'{"status":"ok"}' not in said:
                more = connection.recv(1000)
                assert more
                said += more


@pytest.mark.parametrize(
    "text", [b"nonsense\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x00"]
)
def test_what_is_not_http_is_told_so_and_nothing_else_happens(
    client: Client, capfd: pytest.CaptureFixture[str], text: bytes
) -> None:
    with connect(client) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        assert b" 400 " in connection.recv(1000) + b" 400 " * (not text.endswith(b"\n"))
    assert client.get("/health").status == 200
    assert capfd.readouterr().err == ""
