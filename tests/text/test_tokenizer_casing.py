"""Letter case: what is folded before a lookup comes back in the output."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import TokenizerConfig
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_casing import Casing

LINES = [
    "The cat sees Mary.",
    "I see the cat.",
    "Then Mary and NATO eat.",
    "He and I see Mary. The end.",
    "Yes, Mary eats.",
]


def make(casing: str) -> Tokenizer:
    return Tokenizer.train(LINES, "en", TokenizerConfig(min_frequency=1, casing=casing))


@pytest.mark.parametrize("casing", ["lower", "true"])
@pytest.mark.parametrize("text", ["The cat sees Mary.", "Mary and I see NATO. The end.", "Yes!"])
def test_written_text_comes_back(casing: str, text: str, tmp_path: Path) -> None:
    make(casing).save(tmp_path / "tokenizer_en.json")
    tokenizer = Tokenizer.load(tmp_path / "tokenizer_en.json")
    assert tokenizer.decode(tokenizer.encode(text), tokenizer.unknown(text)) == text


@pytest.mark.parametrize("casing", ["lower", "true"])
def test_capitals_throughout_are_read_as_the_words_they_are(casing: str) -> None:
    tokenizer = make(casing)
    assert tokenizer.encode("THE CAT SEES MARY.") == tokenizer.encode("The cat sees Mary.")
    assert tokenizer.unknown("THE CAT SEES MARY.") == []


def test_kept_as_written_capitals_are_other_words_and_named() -> None:
    assert make("keep").unknown("THE CAT") == ["THE", "CAT"]


@pytest.mark.parametrize("casing", ["lower", "true"])
def test_first_words_are_one_word_with_or_without_a_capital(casing: str) -> None:
    tokenizer = make(casing)
    assert tokenizer.encode("The end. The cat.") == tokenizer.encode("the end. the cat.")
    assert tokenizer.encode("yes") == tokenizer.encode("Yes")


def test_names_keep_their_capital_where_it_counts() -> None:
    tokenizer = make("true")
    assert tokenizer.tokens("Mary sees") == ["Mary", "sees"]
    assert tokenizer.normalised("The Mary. Mary") == "the Mary. Mary"
    assert tokenizer.casing.forms["mary"] == "Mary"


def test_unknown_words_are_shown_as_written() -> None:
    assert make("lower").unknown("Osaka sees DELHI") == ["Osaka", "DELHI"]


def test_a_corpus_without_capitals_gets_none() -> None:
    config = TokenizerConfig(min_frequency=1, casing="true")
    tokenizer = Tokenizer.train(["il gatto dorme .", "il cane . il topo ."], "it", config)
    assert tokenizer.decode(tokenizer.encode("il gatto . il cane")) == "il gatto. il cane"


@pytest.mark.parametrize("mode", ["keep", "lower", "true"])
@given(text=st.text())
@settings(max_examples=100, deadline=None)
def test_folding_adds_and_loses_no_character(mode: str, text: str) -> None:
    casing = Casing(mode, {"mary": "Mary"}, True)
    assert len(casing.fold(text)) == len(text)
    assert len(casing.restore(text)) == len(text)
