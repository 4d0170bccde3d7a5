"""The real client of the Hub against a small Hub on the loopback address, and without any."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mt.text.hub import _directions
from tests.text.fake_hub import GATED_REPO, FakeHub, parquet_bytes, readme, serve

PAIRS = [
    (f"The {n} cats sleep {w}.", f"I {n} gatti dormono {w}.")
    for n, w in enumerate(["well", "here", "now", "today", "often", "alone"])
]
# What a user's process does: the client reads its settings when it is imported.
SCRIPT = """
import json, sys
from mt.config import DataConfig
from mt.errors import UserError
from mt.text.corpus import load_corpus
for line in sys.argv[1:]:
    try:
        found = load_corpus(DataConfig(**json.loads(line)))
        print(json.dumps([[list(s["src"]), list(s["tgt"])] for s in found.splits.values()]))
    except UserError as error:
        print(json.dumps(str(error)))
"""


class Answers(NamedTuple):
    results: list[Any]
    stderr: str
    seconds: float


def ask(home: Path, *questions: dict[str, Any], **environment: str) -> Answers:
    """The pairs of train, valid and test, or the message, for each config, in one process."""
    defaults = {"source": "Lab/books", "src": "en", "tgt": "it", "valid_size": 0}
    lines = [json.dumps({**defaults, **question}) for question in questions]
    clear = {k: v for k, v in os.environ.items() if not k.upper().startswith(("HF_", "HTTP"))}
    clear = {k: v for k, v in clear.items() if not k.upper().endswith("_PROXY")}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *lines],
        env={**clear, "HF_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(questions)
    return Answers(results, done.stderr, time.monotonic() - start)


def train(result: Any) -> list[tuple[str, str]]:
    assert isinstance(result, list), result
    return list(zip(*result[0], strict=True))


@pytest.fixture(scope="module")
def hub() -> Iterator[tuple[FakeHub, str]]:
    fake = FakeHub()
    french = parquet_bytes([(a, "Les chats dorment.") for a, _ in PAIRS], "en", "fr")
    for revision, count in (("v1", 2), ("v2", 6)):
        files = {
            "README.md": readme(["en-it", "en-fr"]),
            "en-it/train-0.parquet": parquet_bytes(PAIRS[:count]),
            "en-fr/train-0.parquet": french,
        }
        fake.add("Lab/books", revision, files)
    splits = [("train", PAIRS[:4]), ("validation", PAIRS[4:5]), ("test", PAIRS[5:])]
    parts = {f"data/{name}-0.parquet": parquet_bytes(pairs) for name, pairs in splits}
    fake.add("Lab/splits", "v1", parts)
    with serve(fake) as address:
        yield fake, address


@pytest.fixture(scope="module")
def filled(
    hub: tuple[FakeHub, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Answers]:
    """A cache that the questions of a whole session at the Hub have filled, and the answers."""
    home = tmp_path_factory.mktemp("hub")
    answers = ask(
        home,
        {},
        {"src": "it", "tgt": "en"},
        {"subset": "it-en"},
        {"subset": "en-fr", "tgt": "fr"},
        {"source": "Lab/splits"},
        {"tgt": "de"},
        {"subset": "xx-yy"},
        {"revision": "v9"},
        {"source": "Lab/nothing"},
        {"source": GATED_REPO},
        HF_ENDPOINT=hub[1],
    )
    return home, answers


def test_pairs_from_the_hub(filled: tuple[Path, Answers]) -> None:
    assert train(filled[1].results[0]) == PAIRS


def test_either_direction_of_the_pair(filled: tuple[Path, Answers]) -> None:
    assert train(filled[1].results[1]) == [(b, a) for a, b in PAIRS]
    assert train(filled[1].results[2]) == PAIRS
    assert train(filled[1].results[3])[0] == (PAIRS[0][0], "Les chats dorment.")


def test_splits_of_the_hub_are_kept_and_one_subset_needs_no_name(
    filled: tuple[Path, Answers],
) -> None:
    result = filled[1].results[4]
    assert train(result) == PAIRS[:4]
    assert [result[1], result[2]] == [
        [[PAIRS[4][0]], [PAIRS[4][1]]],
        [[PAIRS[5][0]], [PAIRS[5][1]]],
    ]


def test_a_pair_that_is_not_there_lists_the_nearest(filled: tuple[Path, Answers]) -> None:
    for message, asked in (
        (filled[1].results[5], "en-de or de-en"),
        (filled[1].results[6], "xx-yy"),
    ):
        assert f"Lab/books has no subset {asked}" in message
        assert "en-it" in message
        assert "en-fr" in message


def test_what_the_hub_does_not_give_out(filled: tuple[Path, Answers]) -> None:
    revision, nothing, gated = filled[1].results[7:]
    assert "Lab/books on the Hub has no revision v9" in revision
    assert "Lab/nothing: no such data set on the Hub" in nothing
    assert "Lab/gated on the Hub is gated" in gated
    for message in (nothing, gated):
        assert "--set data.source=phrasebook" in message
    assert not any("\n" in str(message) for message in (revision, nothing, gated))


def test_nothing_but_our_own_message_is_said(filled: tuple[Path, Answers]) -> None:
    assert filled[1].stderr == ""


def test_revision_is_honoured(hub: tuple[FakeHub, str], tmp_path: Path) -> None:
    found = ask(tmp_path, {"revision": "v1"}, {"revision": "v2"}, HF_ENDPOINT=hub[1])
    assert [len(train(result)) for result in found.results] == [2, 6]


def test_cache_serves_when_the_hub_is_dead(filled: tuple[Path, Answers]) -> None:
    """Of another session, in either direction; but never another revision or pair."""
    dead = "http://127.0.0.1:9"
    asked = [
        {},
        {"src": "it", "tgt": "en"},
        {"source": "Lab/splits"},
        {"revision": "v1"},
        {"tgt": "de"},
    ]
    found = ask(filled[0], *asked, HF_ENDPOINT=dead)
    assert train(found.results[0]) == PAIRS
    assert train(found.results[1]) == [(b, a) for a, b in PAIRS]
    assert train(found.results[2]) == PAIRS[:4]
    assert "cannot reach the Hub" in found.results[3]
    assert "Lab/books at revision v1" in found.results[3]
    assert "de" in found.results[4]
    assert found.seconds < 60


@pytest.mark.parametrize(
    "environment",
    [
        {"HTTPS_PROXY": "http://127.0.0.1:9"},
        {"HF_ENDPOINT": "http://127.0.0.1:9"},
        {"HF_HUB_OFFLINE": "1"},
        {"HF_DATASETS_OFFLINE": "1"},
    ],
)
def test_no_network(tmp_path: Path, environment: dict[str, str]) -> None:
    found = ask(tmp_path, {"source": "Helsinki-NLP/opus_books"}, **environment)
    (message,) = found.results
    assert "cannot reach the Hub" in message
    assert "Helsinki-NLP/opus_books (en-it or it-en)" in message
    assert ("offline mode is set" in message) == (
        len(environment) == 1 and "=1" in str_of(environment)
    )
    assert "--set data.source=FILE" in message
    assert "not in the cache" in message
    assert "\n" not in message
    assert found.stderr == ""
    assert found.seconds < 60


def str_of(environment: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in environment.items())


def test_hub_that_dies_while_it_answers(hub: tuple[FakeHub, str], tmp_path: Path) -> None:
    """The name is there, its file is not: an error of the client, told in one message."""
    hub[0].add("Lab/broken", "v1", {"README.md": b"# empty\n"})
    (message,) = ask(tmp_path, {"source": "Lab/broken"}, HF_ENDPOINT=hub[1]).results
    assert "cannot load Lab/broken from the Hub" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ("en-it", ["en-it", "it-en"]),
        ("en_it", ["en_it", "it_en"]),
        ("plain", ["plain"]),
        ("zh-pt_BR", ["zh-pt_BR", "pt_BR-zh"]),
    ],
)
def test_directions(subset: str, expected: list[str]) -> None:
    assert _directions(subset) == expected
