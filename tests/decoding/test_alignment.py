"""Alignment: pairs of words count in whole lines, whatever parts the lines were read in."""

from __future__ import annotations

import pytest

from mt.config_file import config_from_dict
from mt.decoding.alignment import source_tokens, word_pairs
from mt.decoding.alternative import Alternative
from mt.decoding.engine import Hypothesis
from mt.decoding.translator import Translation
from mt.text.tokenizer import Tokenizer
from tests.conftest import toy_config, toy_pairs

SUBWORDS = {"kind": "bpe", "vocab_size": 320, "min_frequency": 1}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    settings = config_from_dict({**toy_config(), "tokenizer": SUBWORDS}, "test").tokenizer
    return Tokenizer.train([s for s, _ in toy_pairs(120)], "en", settings)


def read(tokenizer: Tokenizer, parts: list[str]) -> Alternative:
    """A translation that repeats what it reads, token for token."""
    one_by_one = []
    for part in parts:
        ids = list(map(int, tokenizer.encode(part)))
        aligned = list(range(1, len(ids) + 1))
        one_by_one.append(Alternative(part, Hypothesis(ids, 0.0, False, alignment=aligned)))
    ids = [i for one in one_by_one for i in one.hypothesis.ids]
    whole = Hypothesis(ids, 0.0, False, alignment=list(range(1, len(ids) + 1)))
    return Alternative(" ".join(parts), whole, parts=one_by_one)


def pairs(tokenizer: Tokenizer, source: str, parts: list[str]) -> list[tuple[int, int]]:
    translation = Translation(source, parts=parts)
    said = read(tokenizer, parts)
    assert len(source_tokens(translation, tokenizer)) == len(said.hypothesis.ids)
    return word_pairs(translation, said, tokenizer, tokenizer)


def test_parts_between_words(tokenizer: Tokenizer) -> None:
    parts = ["the cat sleeps.", "the dog", "the dog sings well"]
    assert pairs(tokenizer, " ".join(parts), parts) == [(i, i) for i in range(9)]


def test_a_part_that_begins_within_a_word(tokenizer: Tokenizer) -> None:
    """The source has one word where the translation, put together with spaces, has three."""
    found = pairs(tokenizer, "the catcatcat sleeps", ["the", "cat", "cat", "cat", "sleeps"])
    assert found == [(0, 0), (1, 1), (1, 2), (1, 3), (2, 4)]


def test_parts_without_spaces_between_them(tokenizer: Tokenizer) -> None:
    """As in Japanese: the end of one part and the start of the next are one word."""
    said = read(tokenizer, ["the cat", "sleeps now"])
    said.text = "the catsleeps now"
    translation = Translation("the cat sleeps now", parts=["the cat", "sleeps now"])
    found = word_pairs(translation, said, tokenizer, tokenizer)
    assert found == [(0, 0), (1, 1), (2, 1), (3, 2)]


def test_a_part_that_says_nothing(tokenizer: Tokenizer) -> None:
    said = read(tokenizer, ["the cat", "sleeps"])
    said.parts.insert(1, Alternative("", Hypothesis([], 0.0, False)))
    translation = Translation("the cat sleeps", parts=["the cat", "sleeps"])
    assert word_pairs(translation, said, tokenizer, tokenizer) == [(0, 0), (1, 1), (2, 2)]
