"""`mt train --config auto`: what it writes, what it refuses, and that it goes on like any run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mt.cli.auto import _name
from mt.config_file import load_config
from mt.storage.checkpoint import list_checkpoints
from mt.training import survey
from tests.conftest import Result, toy_pairs, write_jsonl

Mt = Callable[..., Result]
AUTO = ("train", "--config", "auto", "--src", "en", "--tgt", "it")
SHORT = ("--set", "training.max_steps=3")  # and so a shorter warm-up


@pytest.fixture
def corpus(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(survey, "TRIAL_STEPS", 1)
    return write_jsonl(here / "toy.jsonl", toy_pairs(100))


def test_it_writes_a_config_trains_it_and_the_same_command_goes_on(corpus: Path, mt: Mt) -> None:
    command = (*AUTO, "--data", "toy.jsonl", "--minutes", "2", *SHORT)
    first = mt(*command)
    assert first.status == 0, first.err
    said = first.err.splitlines()
    assert said[0] == "corpus       100 pairs"
    assert said[1].startswith("corpus       en: 4.0 words a sentence, ")
    assert any(line.startswith("machine      ") and "GFLOP/s" in line for line in said)
    assert any(line.startswith("model        tiny: 128 wide, 2 + 2 layers") for line in said)
    path = Path("toy-en-it.yaml")
    assert f"config       written to {path.absolute()}: keep it, change it" in said
    assert "done: 3 steps; now: mt translate --model weights/toy-en-it" in said

    text = path.read_text("utf-8")
    assert text.startswith(f"# Chosen by: mt {' '.join(AUTO[:3])} --data toy.jsonl --src en")
    assert "minutes: 2\n" in text
    config = load_config(path)
    assert config.training.minutes == 2
    assert (config.training.max_steps, config.training.warmup_steps) == (3, 1)
    assert config.data.valid_size == 5

    again = mt(*command)
    assert again.status == 0
    assert "config       toy-en-it.yaml is there: trained as it stands" in again.err
    assert "nothing left to do: 3 steps are made and training.max_steps is 3" in again.err
    # The file says it as well as the command does, and may be changed.
    path.write_text(text.replace("max_steps: 3", "max_steps: 4"), "utf-8")
    more = mt("train", "--config", path)
    assert more.status == 0, more.err
    assert list_checkpoints(Path("weights/toy-en-it/checkpoints"))[-1].name == "step-00000004"

    for change, complaint in (
        (("--minutes", "3"), "has training.minutes 2, not 3"),
        (("--data", "other.jsonl"), "has data.source toy.jsonl, not other.jsonl"),
    ):
        other = mt(*AUTO, "--data", "toy.jsonl", "--name", "toy-en-it", *change)
        assert other.status == 2
        assert complaint in other.err
        assert "Give another --name, or train it with --config toy-en-it.yaml" in other.err
    assert path.read_text("utf-8") == text.replace("max_steps: 3", "max_steps: 4")


def test_one_pair(here: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "TRIAL_STEPS", 1)
    write_jsonl(here / "one.jsonl", [("good morning.", "buongiorno.")])
    result = mt(*AUTO, "--data", "one.jsonl", *SHORT)
    assert result.status == 0, result.err
    assert "corpus       1 pair\n" in result.err
    assert "minutes      30, as --minutes does not say how many" in result.err
    assert "validation   none" in result.err


def test_no_time_is_one_line_and_leaves_no_file(corpus: Path, mt: Mt) -> None:
    result = mt(*AUTO, "--data", "toy.jsonl", "--minutes", "0.001")
    assert result.status == 2
    assert result.err.splitlines()[-1].startswith("mt: --minutes 0.001 is too little: reading and ")
    assert not list(Path().glob("*.yaml"))
    assert not Path("weights").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--config", "a.yaml", "--data", "x"], "--data goes with --config auto; a config file"),
        (["--config", "a.yaml", "--minutes", "3"], "--set training.minutes=N"),
        (["--config", "a.yaml", "--name", "n"], "--set name=NAME"),
        (["--config", "auto"], "--config auto needs --data and --src and --tgt, as in: mt train"),
        (["--config", "auto", "--data", "x", "--tgt", "it"], "--config auto needs --src, as in"),
        ([*AUTO[1:], "--data", "x", "--tgt", "en"], "--src and --tgt are both en"),
        ([*AUTO[1:], "--data", "x", "--minutes", "0"], "--minutes 0: must be more than 0"),
        ([*AUTO[1:], "--data", "x", "--minutes", "nan"], "--minutes nan: must be more than 0"),
        ([*AUTO[1:], "--data", "x.tsv"], "x.tsv"),
        (
            [*AUTO[1:], "--data", "x", "--src", "e n"],
            "--src: data.src (e n): expected a language",
        ),
        ([*AUTO[1:], "--data", "x", "--name", "a/b"], "--name: name (a/b): expected a plain fol"),
        ([*AUTO[1:], "--data", "x", "--set", "training.lr=x"], "--set training.lr=x: training.lr"),
        ([*AUTO[1:], "--data", "toy.jsonl", "--tgt", "de"], "de"),
        ([*AUTO[1:], "--data", "toy.jsonl", "--src", "el"], "no training pairs in"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_mistakes(corpus: Path, mt: Mt, arguments: list[str], complaint: str) -> None:
    if "el" in arguments:  # which is not written like this
        write_jsonl(corpus, toy_pairs(30), src="el")
        text = corpus.read_text("utf-8").replace("the ", "the long long way of the ")
        corpus.write_text(text, "utf-8")
    result = mt("train", *arguments)
    assert result.status == 2
    assert complaint in result.err
    assert result.err.count("mt: ") == 1
    assert not list(Path().glob("*.yaml"))


def test_names(here: Path) -> None:
    assert _name("data/corpus.tsv.gz", "en", "it") == "corpus-en-it"
    assert _name("europarl/train.jsonl", "en", "it") == "europarl-en-it"
    assert _name("phrasebook", "it", "en") == "phrasebook-it-en"
    assert _name("Helsinki-NLP/opus_books", "en", "it") == "opus_books-en-it"
    assert _name("my corpus (2)", "en", "it") == "my-corpus-2-en-it"
    assert _name("???", "en", "it") == "model-en-it"


def test_several_sources_and_both_directions(corpus: Path, mt: Mt) -> None:
    write_jsonl(Path("more.jsonl"), [(a.upper(), b.upper()) for a, b in toy_pairs(40)])
    result = mt(
        "train", "--config", "auto", "--data", "toy.jsonl", "more.jsonl", "--src", "it", "--tgt",
        "en", "--minutes", "2", *SHORT,
    )  # fmt: skip
    assert result.status == 0, result.err
    config = load_config(Path("toy-it-en.yaml"))
    assert config.data.source == ["toy.jsonl", "more.jsonl"]
    assert "140 pairs" in result.err
