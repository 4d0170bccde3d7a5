"""What training saw of a test set, against counting by hand."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from mt.evaluation.evaluate import TestSet
from mt.evaluation.training_text import look_up

TRAIN = [
    ("The cat sleeps.", "Il gatto dorme."),
    ("A dog!", "Un cane!"),
    ("the the zebra", "la zebra"),
    ("12", "12"),
]


def train(tmp_path: Path, pairs: list[tuple[str, str]]) -> datasets.Dataset:
    sides = {name: [pair[i] for pair in pairs] for i, name in enumerate(("src", "tgt"))}
    datasets.Dataset.from_dict(sides).save_to_disk(str(tmp_path / "train"))
    return datasets.load_from_disk(str(tmp_path / "train"))


def test_sentences_that_are_in_both_are_found_up_to_case_and_punctuation(tmp_path: Path) -> None:
    test_set = TestSet(
        "t",
        ["the cat sleeps", "a  DOG", "the bird", "13", "A dog?"],
        ["il gatto dorme", "la cagna", "l'uccello", "13", "una cagna"],
        others=[["x", "un cane", "x", "x", "x"]],
    )
    seen = look_up(train(tmp_path, TRAIN), test_set, "en")
    assert (seen.sources, seen.pairs) == ([0, 1, 4], [0, 1])
    assert seen.frequency == {"the": 3, "cat": 1, "sleeps": 1, "a": 1, "dog": 1, "bird": 0}
    assert seen.complaint(test_set) == (
        "3 of 5 source sentences are in the training data too, up to case, digits, punctuation and "
        "spacing, 2 of them with the same translation; the scores tell less of text that is new: "
        'line 1 "the cat sleeps", line 2 "a  DOG", line 5 "A dog?"'
    )


def test_text_that_is_new_is_no_overlap(tmp_path: Path) -> None:
    test_set = TestSet("t", ["a new sentence", ""], ["una frase nuova", "x"])
    seen = look_up(train(tmp_path, TRAIN), test_set, "en")
    assert (seen.sources, seen.pairs, seen.complaint(test_set)) == ([], [], None)


def test_words_of_large_corpora_are_counted_in_rows_evenly_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.evaluation.training_text.MOST_COUNTED", 100)
    monkeypatch.setattr("mt.text.stream.ROWS_AT_ONCE", 7)  # does not divide the step of 10
    pairs = [(f"every{' tenth' if i % 10 == 0 else ''} {i}", "x") for i in range(1000)]
    test_set = TestSet("t", ["every tenth", "EVERY 999!"], ["x", "x"])
    seen = look_up(train(tmp_path, pairs), test_set, "en")
    assert seen.frequency == {"every": 100, "tenth": 100}
    assert seen.sources == [0, 1]
    assert "and" not in (seen.complaint(test_set) or "").partition(": line")[2]
    many = TestSet("t", [f"every {i}" for i in range(8)], ["y"] * 8)
    found = look_up(train(tmp_path / "b", pairs), many, "en").complaint(many)
    assert found is not None
    assert found.endswith('line 3 "every 2", and 5 more')
