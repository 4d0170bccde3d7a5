"""Which word a token stands in, and texts that repeat themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.config import TokenizerConfig
from mt.text.cleaning import normalize
from mt.text.tokenizer import UNK_ID, Tokenizer
from mt.text.words import repeats_itself, word_places
from tests.conftest import toy_pairs

LINES = [*(t for _, t in toy_pairs(120)), 'l\'uomo - che dice: "sì!" (no) costa 5,00 €.']


def tokenizer(kind: str) -> Tokenizer:
    config = TokenizerConfig.model_validate(
        {"kind": kind, "min_frequency": 1, "vocab_size": 340, "casing": "lower"}
    )
    return Tokenizer.train(LINES, "it", config)


TOKENIZERS = {kind: tokenizer(kind) for kind in ("word", "bpe", "unigram")}


def joined(tokens: list[str], places: list[int]) -> list[str]:
    """The words that tokens make which have the same place; every place is there, in order."""
    assert sorted(set(places)) == list(range(len(set(places))))
    assert places == sorted(places)
    words = [""] * len(set(places))
    for token, place in zip(tokens, places, strict=True):
        words[place] += token.removeprefix("▁")
    return words


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", [*LINES[::30], LINES[-1], "  il\u00a0gatto  ", "il", "", "!: a"])
def test_the_tokens_of_a_place_are_the_letters_of_the_word(kind: str, text: str) -> None:
    """An independent reference: Python's own split."""
    chosen, text = TOKENIZERS[kind], normalize(text)
    assert joined(chosen.tokens(text), chosen.words(text)) == text.split()


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", [*LINES[::30], LINES[-1], "il gatto.", "", '"sì!"'])
def test_said_words_are_those_of_the_text_that_comes_out(kind: str, text: str) -> None:
    chosen = TOKENIZERS[kind]
    ids = chosen.encode(text)
    assert UNK_ID not in ids
    said = chosen.decode(ids)
    assert [word.lower() for word in said.split()] == joined(
        chosen.pieces(ids), chosen.words_said(ids)
    )


def test_copied_words_and_marks_have_a_place() -> None:
    word = TOKENIZERS["word"]
    ids = word.encode("il XYZ, (QQ) gatto")
    assert ids.count(UNK_ID) == 3  # the comma too
    assert word.decode(ids, ["Xyz", ",", "+"]) == "il Xyz, (+) gatto"
    assert word.words_said(ids, ["Xyz", ",", "+"]) == [0, 1, 1, 2, 2, 2, 3]
    assert word.decode(ids) == "il <unk> <unk> (<unk>) gatto"
    assert word.words_said(ids) == [0, 1, 2, 3, 3, 3, 4]
    ids = word.encode("il XYZ gatto")
    assert word.decode(ids, ["+"]) == "il + gatto"  # a symbol has its spaces
    assert word.words_said(ids, ["+"]) == [0, 1, 2]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_bytes_belong_to_the_word_that_they_spell(kind: str) -> None:
    chosen, text = TOKENIZERS[kind], "漢字 il zßz."
    places = chosen.words(text)
    assert sum(place == 0 for place in places) >= 6
    assert set(places) == {0, 1, 2}
    assert chosen.decode(chosen.encode(text)) == text
    assert chosen.words_said(chosen.encode(text)) == places


@given(st.lists(st.text(alphabet="ab ", max_size=4), max_size=8))
def test_every_piece_that_has_letters_begins_in_its_word(pieces: list[str]) -> None:
    text = "".join(pieces)
    places = word_places(pieces, text)
    words = text.split()
    seen = ""
    for piece, place in zip(pieces, places, strict=True):
        if piece.strip():
            before = len((seen + piece[: len(piece) - len(piece.lstrip())] + "x").split())
            assert place == before - 1
            assert words[place]
        seen += piece


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("", False),
        ("a a a a", False),
        ("a a a a a", True),
        ("x a a a a a y", True),
        ("a b a b a b", False),
        ("a b a b a b a b", True),
        ("a b c a b c", False),
        ("a b c a b c a b", False),
        ("a b c a b c a b c", True),
        ("so he said a b c d a b c d a b c d", True),
        ("a b c d a b c d x a b c d", False),
        ("no, no, no", False),
        ("one two three four five six seven", False),
    ],
)
def test_what_counts_as_repetition(text: str, repeats: bool) -> None:
    assert repeats_itself(text.split()) is repeats


@given(st.lists(st.integers(0, 2), max_size=24))
def test_repetition_as_its_definition_says(tokens: list[int]) -> None:
    def there(length: int, times: int) -> bool:
        return any(
            tokens[i : i + length] * times == tokens[i : i + length * times]
            for i in range(len(tokens) - length * times + 1)
        )

    expected = there(1, 5) or there(2, 4) or any(there(n, 3) for n in range(3, 9))
    assert repeats_itself(tokens) is expected
