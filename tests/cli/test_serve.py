"""`mt serve`: what it says, what it refuses, and how it stops."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.cli import processes
from tests.conftest import SENTENCES, Result
from tests.serving.conftest import Client

Mt = Callable[..., Result]
CAT = "the cat sleeps today."


@contextmanager
def serving(*options: str) -> Iterator[tuple[Client, BaseProcess]]:
    """A server in a process, and its client."""
    process = processes.start("serve", "--port", "0", *options, folder=Path.cwd())
    try:
        processes.until(lambda: "Ctrl-C" in said(), process)
        yield Client(re.findall(r"http://\S+:\d+/", said())[0]), process
    finally:
        process.kill()
        process.join()


def said() -> str:
    return Path("err.txt").read_text("utf-8") if Path("err.txt").exists() else ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_says_where_it_is_and_a_signal_stops_it(
    trained: Path, number: signal.Signals, status: int
) -> None:
    with serving() as (client, process):
        assert client.url.startswith("http://127.0.0.1:")
        assert said() == (
            "model        toy, en to it, on torch\n"
            f"page         {client.url}\n"
            f"API          {client.url}translate, and more; described at /openapi.json\n"
            "Ctrl-C stops it\n"
        )
        assert client.translate(CAT).json == {"translatedText": SENTENCES[CAT]}
        assert process.pid
        os.kill(process.pid, number)
        assert processes.ended(process) == status
    assert said().endswith("stopped; all that was accepted is answered\n")
    assert Path("out.txt").read_text() == ""


def test_an_export_is_served_as_well(trained: Path, mt: Mt) -> None:
    pytest.importorskip("ctranslate2")
    assert mt("export", "--format", "ctranslate2").status == 0
    Path("keys.txt").write_text("one\n\n two \n")
    options = ["--engine", "ctranslate2", "--host", "0.0.0.0", "--cors", "none"]
    with serving(*options, "--beam-size", "2", "--api-keys", "keys.txt") as (client, _):
        assert "model        toy, en to it, on ctranslate2\n" in said()
        assert "anyone" not in said()
        answer = client.translate(CAT, alternatives=3, api_key="two").json
        assert answer["translatedText"] == SENTENCES[CAT]
        assert len({SENTENCES[CAT], *answer["alternatives"]}) == 4
        how = {"q": CAT, "source": "en", "target": "it", "api_key": "one"}
        [sentence] = client.post("/mt/translate", **how).json["sentences"]
        assert len(sentence["alternatives"][0]["alignment"]) == 5
        refused = client.post("/mt/attention", **how)
        assert (refused.status, "choose --engine torch" in refused.error) == (422, True)
        assert client.translate(CAT).status == 403


def test_it_says_that_anyone_may_ask(trained: Path) -> None:
    with serving("--host", "0.0.0.0", "--model", "toy") as (client, _):
        assert "open         anyone who reaches this machine may ask; --api-keys" in said()
        assert client.get("/health").status == 200


def refused(result: Result) -> str:
    """The one line of a mistake."""
    assert result.status == 2
    assert result.out == ""
    [line] = result.err.splitlines()
    return line.removeprefix("mt: ")


def test_without_a_model(here: Path, mt: Mt) -> None:
    assert refused(mt("serve", "--port", "0")).startswith(f"no trained model in {here}/weights; ")
    assert "no model nosuch" in refused(mt("serve", "--port", "0", "--model", "nosuch"))


def test_a_port_in_use(trained: Path, mt: Mt) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        assert f"--port {port} cannot be listened on" in refused(mt("serve", "--port", port))


def test_a_damaged_model(trained: Path, mt: Mt) -> None:
    for weights in Path("weights/toy/checkpoints").glob("*/model.safetensors"):
        weights.write_bytes(weights.read_bytes()[:-1])
    result = mt("serve", "--port", "0")
    assert result.status == 2
    assert result.err.splitlines()[-1].startswith("mt: every checkpoint in ")


def test_models_that_do_the_same(trained: Path, mt: Mt) -> None:
    shutil.copytree("weights/toy", "weights/other")
    result = mt("serve", "--port", "0", "--model", "toy", "--model", "weights/other")
    assert refused(result) == (
        "toy and other both translate en to it; serve one of them, or the other at another --port"
    )


def test_keys_that_are_not_there(trained: Path, mt: Mt) -> None:
    Path("keys.txt").write_text("\n \n")
    assert "has no key in it" in refused(mt("serve", "--port", "0", "--api-keys", "keys.txt"))
    assert "nosuch" in refused(mt("serve", "--port", "0", "--api-keys", "nosuch"))


def test_without_the_extra(here: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mt.errors.find_spec", lambda name: None)
    assert refused(mt("serve")) == (
        'uvicorn is not installed; get it with: pip install "mt[serve]"'
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "99999"], "expected a number from 0 to 65535, not 99999"),
        (["--port", "-1"], "expected a number from 0 to 65535"),
        (["--timeout", "0"], "expected a number over 0, not 0"),
        (["--queue", "0"], "expected a whole number of 1 or more, not 0"),
        (["--prefix", "x"], "unrecognized arguments: --prefix"),
    ],
)
def test_options_that_are_wrong(mt: Mt, options: list[str], message: str) -> None:
    result = mt("serve", *options)
    assert result.status == 2
    assert message in result.err
