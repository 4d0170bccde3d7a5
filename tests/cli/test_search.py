"""The options that say how to search: what each does, and what is refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.config import DecodingConfig
from mt.decoding.engine import Search
from tests.conftest import KNOWN, SENTENCES, Result

Mt = Callable[..., Result]
CAT = "the cat sleeps today."
WHOLE = "".join(f"{target}\n" for _, target in KNOWN)


def test_a_search_without_a_config_is_that_of_a_config_without_settings() -> None:
    assert Search() == Search.of(DecodingConfig())


@pytest.mark.parametrize("size", ["1", "7", "64"])
def test_a_beam_says_what_the_model_knows_in_any_batch(trained: Path, mt: Mt, size: str) -> None:
    done = mt("translate", "--beam-size", "4", "--batch-size", size, *SENTENCES)
    assert done == Result(0, WHOLE, "")


def test_the_config_says_how_wide_the_beam_is(trained: Path, mt: Mt) -> None:
    config = trained / "weights" / "toy" / "config.yaml"
    config.write_text(config.read_text().replace("beam_size: 1", "beam_size: 3000"))
    refused = mt("translate", CAT).err
    assert "a beam of 3000 (--beam-size, decoding.beam_size) is wider than the target" in refused
    assert mt("translate", "--beam-size", "2", CAT).out == SENTENCES[CAT] + "\n"


def test_an_old_config_knows_no_beam_and_is_greedy(trained: Path, mt: Mt) -> None:
    config = trained / "weights" / "toy" / "config.yaml"
    before, _, _ = config.read_text().partition("decoding:")
    config.write_text(before + "decoding:\n  max_length_ratio: 2.0\n")
    assert mt("translate", CAT) == Result(0, SENTENCES[CAT] + "\n", "")


def test_samples_come_again_with_their_seed_and_only_then(trained: Path, mt: Mt) -> None:
    def drawn(seed: int) -> str:
        return mt("translate", "--sample", "--temperature", "3", "--seed", str(seed), CAT).out

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1
    cold = ("translate", "--sample", "--top-k", "1", "--top-p", "0.5", *SENTENCES)
    assert mt(*cold).out == WHOLE


def test_a_process_of_its_own_draws_the_same(trained: Path, mt: Mt) -> None:
    """Its torch is imported without a part that drawing numbers needs."""
    words = ["translate", "--sample", "--temperature", "3", "--seed", "4", CAT]
    command = [sys.executable, "-m", "mt", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, mt(*words).out), done.stderr


def test_a_sample_has_no_beam_whatever_the_config_says(trained: Path, mt: Mt) -> None:
    config = trained / "weights" / "toy" / "config.yaml"
    config.write_text(config.read_text().replace("beam_size: 1", "beam_size: 4"))
    assert mt("translate", "--sample", "--top-k", "1", CAT).out == SENTENCES[CAT] + "\n"


def test_lengths_prefix_and_repetition(trained: Path, mt: Mt) -> None:
    assert len(mt("translate", "--min-length", "12", CAT).out.split()) >= 11
    cut = mt("translate", "--max-length-ratio", "0.01", "--min-length", "30", CAT)
    assert "cut at the longest allowed length, without an end: line 1" in cut.err
    assert mt("translate", "--prefix", "il cane", CAT).out.startswith("il cane ")
    once = mt("translate", "--min-length", "12", "--no-repeat-ngram", "1", CAT).out.split()
    assert len(set(once)) == len(once)
    assert mt("translate", "--repetition-penalty", "1.1", CAT).out == SENTENCES[CAT] + "\n"


def test_alternatives_begin_differently_and_the_first_is_the_best(trained: Path, mt: Mt) -> None:
    said = json.loads(mt("translate", "--json", "--alternatives", "3", CAT).out)
    begun = [one["tokens"][0] for one in said["alternatives"]]
    assert len(begun) == len(set(begun)) == 3
    assert said["translation"] == said["alternatives"][0]["text"] == SENTENCES[CAT]


def test_evaluate_takes_the_same_options(trained: Path, mt: Mt) -> None:
    assert "BLEU 100.0" in mt("evaluate", "--beam-size", "3", "--length-penalty", "1").out
    assert "BLEU 100.0" not in mt("evaluate", "--prefix", "il cane").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--beam-size", "0"], "--beam-size: expected a whole number of 1 or more, not 0"),
        (["--beam-size", "4000"], "a beam of 4000 (--beam-size, decoding.beam_size) is wider"),
        (["--length-penalty", "-1"], "--length-penalty: expected a number of 0 or more, not -1"),
        (["--length-penalty", "nan"], "--length-penalty: expected a number of 0 or more, not nan"),
        (["--n-best", "2"], "--n-best needs --json"),
        (["--sample", "--beam-size", "4"], "--sample with --beam-size 4: a draw has no beam"),
        (["--temperature", "2"], "--temperature needs --sample"),
        (["--top-k", "2"], "--top-k needs --sample"),
        (["--top-p", "0.5"], "--top-p needs --sample"),
        (["--seed", "2"], "--seed needs --sample"),
        (["--sample", "--temperature", "0"], "--temperature: expected a number over 0, not 0"),
        (["--sample", "--top-p", "1.5"], "--top-p: expected a number over 0, and at most 1, not"),
        (["--repetition-penalty", "0.5"], "expected a number of 1 or more, not 0.5"),
        (["--prefix", "zzz cane"], "the prefix has words that the model does not know: zzz"),
        (["--prefix", "il cane " * 20], "the prefix has 40 tokens, over the model's limit of 22"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    trained: Path, mt: Mt, options: list[str], words: str
) -> None:
    refused = mt("translate", *options, CAT)
    assert (refused.status, refused.out) == (2, "")
    assert words in refused.err
