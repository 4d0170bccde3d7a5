"""What is seen of a corpus before a recipe is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.text.scripts import main_script
from mt.training.recipe import HELD_OUT, Side
from mt.training.survey import asked, read_text
from tests.conftest import toy_pairs, write_jsonl


def test_pairs_lengths_and_words(here: Path) -> None:
    write_jsonl(here / "toy.jsonl", toy_pairs(100))
    text = read_text(asked("toy", {"source": "toy.jsonl", "src": "en", "tgt": "it"}, ()))
    sources = [a for a, _ in toy_pairs(100)]
    assert (text.pairs, text.given) == (100, ())
    assert text.src.words == pytest.approx(sum(len(a.split()) for a in sources) / 100)
    assert text.src.characters == pytest.approx(sum(map(len, sources)) / 100)
    assert text.src.types == len({word for a in sources for word in a.rstrip(".").split()})
    assert text.src.long == max(map(len, sources))
    assert (text.src.script, text.tgt.language) == ("Latin", "it")


def test_a_folder_brings_its_own_splits_and_what_is_held_out_counts(here: Path) -> None:
    (here / "c").mkdir()
    pairs = [(f"a cat number {i} and {'x' * (i % 7)}", f"gatto {i}") for i in range(1500)]
    pairs = [(f"{a} {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}", b)
             for i, (a, b) in enumerate(pairs)]  # fmt: skip
    write_jsonl(here / "c/train.jsonl", pairs[:1400])
    write_jsonl(here / "c/valid.jsonl", pairs[1400:])
    text = read_text(asked("c", {"source": "c", "src": "en", "tgt": "it"}, ()))
    assert text.given == ("valid",)
    assert text.pairs == 1400 > HELD_OUT


def test_scripts() -> None:
    assert main_script("Hello мир, this is Latin") == "Latin"
    assert main_script("Привет, world!") == "Cyrillic"
    assert main_script("12 + 3") == ""


def test_text_without_spaces_is_known_by_its_words() -> None:
    assert Side("it", 12, 64, 200, 9, "Latin").spaced
    assert not Side("zh", 1.1, 24, 80, 9, "Han").spaced
