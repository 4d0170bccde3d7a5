"""Honest splits: by content, whole groups, no leak that is not told."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import DataConfig
from mt.errors import UserError
from mt.evaluation.evaluate import first_of
from mt.text.buckets import Buckets
from mt.text.corpus import Corpus, load_corpus
from mt.text.hashing import hash_pairs, hash_texts, near_keys
from mt.text.splits import _fitting

pytestmark = pytest.mark.usefixtures("cache")
Pairs = list[tuple[str, str]]

SYLLABLES = [c + v for c in "bcdfglm" for v in "ae"]


def word(number: int) -> str:
    digits = [number // 14**k % 14 for k in range(3)]
    return "".join(SYLLABLES[d] for d in digits)


FROZEN = ["The bebeba sleeps.", "The gababa sleeps.", "The mababa sleeps."]
FROZEN_HASHES = (3042635075010022360, 11907225077948054524)
NEAR = "same source text up to case, digits, punctuation and spacing"
PAIRS = [(f"The {word(n)} sleeps.", f"Il {word(n)} dorme.") for n in range(1000)]


def load(tmp_path: Path, pairs: Pairs, name: str = "a.jsonl", **data: Any) -> Corpus:
    source = write(tmp_path / name, pairs)
    return load_corpus(DataConfig(**{"src": "en", "tgt": "it", "source": source, **data}))


def write(path: Path, pairs: Pairs, books: list[str] | None = None) -> str:
    rows: list[dict[str, Any]] = [{"en": a, "it": b} for a, b in pairs]
    for row, book in zip(rows, books or [], strict=False):
        row["book"] = book
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def pairs_of(split: datasets.Dataset) -> Pairs:
    return list(zip(split["src"], split["tgt"], strict=True))


def sizes(corpus: Corpus) -> list[int]:
    return [len(split) for split in corpus.splits.values()]


@pytest.mark.parametrize(
    ("valid", "test", "expected"),
    [
        (0.1, 0.0, [900, 100, 0]),
        (0.25, 0.1, [650, 250, 100]),
        (0.1, 50, [850, 100, 50]),
        (1, 1, [998, 1, 1]),
        (0, 0, [1000, 0, 0]),
        (998, 1, [1, 998, 1]),
        (0.0004, 0, [999, 1, 0]),
    ],
)
def test_sizes_are_honoured(tmp_path: Path, valid: float, test: float, expected: list[int]) -> None:
    assert sizes(load(tmp_path, PAIRS, valid_size=valid, test_size=test)) == expected


def test_split_does_not_depend_on_order_or_other_files(tmp_path: Path) -> None:
    shuffled = PAIRS.copy()
    random.Random(1).shuffle(shuffled)
    one = load(tmp_path, PAIRS, test_size=70)
    two = load(tmp_path, shuffled, name="b.jsonl", test_size=70)
    for name in ("train", "valid", "test"):
        assert sorted(pairs_of(one.splits[name])) == sorted(pairs_of(two.splits[name]))
        assert one.report.splits[name].hash == two.report.splits[name].hash


def test_split_is_the_same_everywhere_and_for_ever(tmp_path: Path) -> None:
    found = load(tmp_path, PAIRS[:20], valid_size=3)
    assert sorted(found.splits["valid"]["src"]) == FROZEN


def test_size_of_one_split_leaves_the_other_alone(tmp_path: Path) -> None:
    small = load(tmp_path, PAIRS, valid_size=20, test_size=50)
    large = load(tmp_path, PAIRS, valid_size=300, test_size=50)
    assert pairs_of(small.splits["test"]) == pairs_of(large.splits["test"])
    assert set(pairs_of(small.splits["valid"])) < set(pairs_of(large.splits["valid"]))


def variants(source: str, number: int) -> list[str]:
    return [source, source.upper(), f"{number} {source}!", source.replace(" ", ", "), f"«{source}»"]


def test_nearly_the_same_sources_never_straddle(tmp_path: Path) -> None:
    pairs = [
        (variant, f"{b} {n}") for n, (a, b) in enumerate(PAIRS[:300]) for variant in variants(a, n)
    ]
    found = load(tmp_path, pairs, valid_size=0.2, test_size=0.2)
    keys = [set(near_keys(split["src"])) for split in found.splits.values()]
    assert all(keys)
    assert not keys[0] & keys[1]
    assert not keys[0] & keys[2]
    assert not keys[1] & keys[2]
    assert sum(sizes(found)) == 1500
    assert sizes(found)[1:] == [300, 300]
    assert found.report.leaks["valid in train"][NEAR].count == 0


@given(st.lists(st.sampled_from(["Yes.", "yes", "No!", "no 1", "Go", "12", "13", "?"]), min_size=1))
@settings(max_examples=20, deadline=None)
def test_no_corpus_straddles(tmp_path_factory: pytest.TempPathFactory, sources: list[str]) -> None:
    pairs = [(source, f"testo {n}") for n, source in enumerate(sources)]
    found = load(tmp_path_factory.mktemp("split"), pairs, valid_size=0.3, test_size=0.3)
    keys = [set(near_keys(split["src"])) for split in found.splits.values()]
    assert len(found.splits["train"]) > 0
    assert sum(sizes(found)) == len(pairs)
    if len(set.union(*keys)) > 1:
        assert not keys[0] & keys[1]
        assert not keys[0] & keys[2]
        assert not keys[1] & keys[2]
        assert len(found.splits["valid"]) > 0


def test_keys_of_near_texts() -> None:
    same = ["It's 10:30, Mr. Fox!", "its  mr fox", "ITS MR. FOX 7", "it’s — “Mr Fox”"]
    assert len(set(near_keys(same))) == 1
    different = ["the cat", "the cats", "il gatto", "12", "13", "?", "!", "", "é", "e", "घर", "घोर"]
    assert len(set(near_keys(different))) == len(different)
    assert near_keys(["1 2  3", "123"]) == ["123", "123"]
    assert near_keys(["STRASSE", "Straße"]) == ["strasse", "strasse"]


# ---- tiny and odd corpora ---------------------------------


def test_a_tiny_corpus_has_a_validation_pair(tmp_path: Path) -> None:
    assert sizes(load(tmp_path, PAIRS[:5], valid_size=0.1)) == [4, 1, 0]
    assert sizes(load(tmp_path, PAIRS[:2], name="b.jsonl", valid_size=0.1)) == [1, 1, 0]


def test_a_validation_split_that_cannot_be_is_said(tmp_path: Path) -> None:
    found = load(tmp_path, PAIRS[:1], valid_size=0.1, test_size=0.1)
    assert sizes(found) == [1, 0, 0]
    assert [n.split(":")[0] for n in found.report.notices] == [
        "no validation pairs",
        "no test pairs",
    ]
    assert any("no validation pairs" in line for line in found.report.lines())


def test_train_keeps_a_pair_whatever_the_shares(tmp_path: Path) -> None:
    found = load(tmp_path, PAIRS[:3], valid_size=0.5, test_size=0.4)
    assert sizes(found) == [1, 2, 0]
    assert found.report.notices[0].startswith("no test pairs")


def test_more_is_asked_for_than_there_is(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"data.valid_size \(50\) and data.test_size \(60\)"
    ) as error:
        load(tmp_path, PAIRS[:100], valid_size=50, test_size=60)
    assert "there are only 100 pairs" in str(error.value)


def test_one_source_text_is_split_by_targets(tmp_path: Path) -> None:
    found = load(tmp_path, [("go", b) for _, b in PAIRS[:400]], valid_size=0.2)
    assert sizes(found) == [320, 80, 0]
    assert "split by their target text" in found.report.notices[0]


def test_groups_that_are_too_big_are_passed_over(tmp_path: Path) -> None:
    pairs = [("Yes.", f"risposta {word(n)}") for n in range(500)] + PAIRS[:500]
    found = load(tmp_path, pairs, valid_size=100)
    assert sizes(found) == [900, 100, 0]
    assert "Yes." not in found.splits["valid"]["src"]


def test_only_big_groups(tmp_path: Path) -> None:
    pairs = [(a, f"{b} {word(n)}") for a, b in PAIRS[:4] for n in range(10)]
    found = load(tmp_path, pairs, valid_size=0.1, test_size=0.01)
    assert sizes(found) == [20, 10, 10]


@pytest.mark.parametrize(
    ("group_sizes", "room", "expected"),
    [
        ([1, 1, 1], 2, [1, 1, 0]),
        ([5, 1, 5, 1], 2, [0, 1, 0, 1]),
        ([2, 2, 1], 3, [1, 0, 1]),
        ([3, 1], 0, [0, 0]),
        ([4], 3, [0]),
        ([], 3, []),
    ],
)
def test_what_fits(group_sizes: list[int], room: int, expected: list[int]) -> None:
    assert _fitting(np.array(group_sizes, np.int64), room).tolist() == [bool(e) for e in expected]


# ---- leaks ------------------------------------------------


def test_leaks_between_given_files_are_counted_and_shown(tmp_path: Path) -> None:
    held = [
        PAIRS[0],  # the same pair
        (PAIRS[1][0], "Un'altra traduzione."),  # the same source
        (PAIRS[2][0].upper(), "Ancora un'altra."),  # nearly the same source
        ("Something else.", PAIRS[3][1]),  # the same target
        ("Nothing of the kind.", "Niente del genere."),
    ]
    valid = write(tmp_path / "v.jsonl", held)
    test = write(tmp_path / "t.jsonl", held[4:])
    found = load(tmp_path, PAIRS, valid=valid, test=test)
    counts = {k: t.count for k, t in found.report.leaks["valid in train"].items()}
    assert counts == {"same pair": 1, "same source text": 2, NEAR: 3, "same target text": 2}
    assert found.report.leaks["test in valid"]["same pair"].count == 1
    example = found.report.leaks["valid in train"]["same pair"].examples[0]
    assert example == {"file": valid, "row": 1, "text": " | ".join(PAIRS[0])}
    assert sizes(found) == [1000, 5, 1]
    assert any("valid in train: 2 pairs have the same source" in x for x in found.report.lines())


def test_leaks_can_be_dropped_from_train(tmp_path: Path) -> None:
    valid = write(tmp_path / "v.jsonl", [PAIRS[0], (PAIRS[1][0], "Altro."), ("THE BABABA", "x")])
    found = load(tmp_path, PAIRS, valid=valid, cleaning={"leaks": True})
    assert sizes(found) == [998, 3, 0]
    assert PAIRS[0] not in pairs_of(found.splits["train"])
    assert found.report.dropped["source text also in valid or test"].count == 2


def test_same_targets_across_a_split_are_told(tmp_path: Path) -> None:
    pairs = [(a, "Sì." if n % 2 else b) for n, (a, b) in enumerate(PAIRS)]
    found = load(tmp_path, pairs, valid_size=0.2)
    straddling = found.splits["valid"]["tgt"].count("Sì.")
    assert straddling > 50
    assert found.report.leaks["valid in train"]["same target text"].count == straddling


def test_documents_stay_whole(tmp_path: Path) -> None:
    books = [f"book {n // 50}" for n in range(1000)]
    pairs = [*PAIRS[:999], PAIRS[0]]
    source = write(tmp_path / "books.jsonl", pairs, books)
    data = {"src": "en", "tgt": "it", "source": source, "group_by": "book", "valid_size": 0.2}
    found = load_corpus(DataConfig(**data, test_size=0.1, cleaning={"duplicates": False}))
    of_row = {n + 1: book for n, book in enumerate(books)}
    parts = [{of_row[row] for row in split["row"]} for split in found.splits.values()]
    assert [len(part) for part in parts] == [14, 4, 2]
    for split in ("valid", "test"):  # and are scored as such
        documents = [of_row[row] for row in found.splits[split]["row"]]
        assert first_of(found, split, 1000).documents == documents
    assert not first_of(load(tmp_path, PAIRS, valid_size=0.2), "valid", 1000).documents
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]


def test_sentences_that_return_in_every_book_leave_train(tmp_path: Path) -> None:
    pairs = [("Yes.", "Sì.") if n % 10 == 0 else pair for n, pair in enumerate(PAIRS)]
    source = write(tmp_path / "books.jsonl", pairs, [f"book {n // 50}" for n in range(1000)])
    data = {"src": "en", "tgt": "it", "source": source, "group_by": "book", "valid_size": 0.2}
    found = load_corpus(DataConfig(**data, cleaning={"duplicates": False}))
    assert sizes(found) == [720, 200, 0]
    assert "Yes." not in found.splits["train"]["src"]
    assert found.report.dropped["source text also in valid or test"].count == 80


# ---- hashes and files of them -----------------------------


def test_hashes_are_the_same_for_ever() -> None:
    one, two = hash_texts(["the cat", "il gatto è qui"]).tolist()
    assert (one, two) == FROZEN_HASHES
    assert hash_pairs(hash_texts(["a"]), hash_texts(["b"])) != hash_pairs(
        hash_texts(["b"]), hash_texts(["a"])
    )


def test_hashes_of_pairs_differ() -> None:
    texts = hash_texts(word(n) for n in range(2000))
    pairs = hash_pairs(np.repeat(texts, 100), np.tile(texts[:100], 2000))
    assert len(np.unique(pairs)) == 200_000


def test_buckets_give_back_what_they_got_in_order_of_keys(tmp_path: Path) -> None:
    keys = hash_texts(word(n) for n in range(1500))
    buckets = Buckets(tmp_path / "b", [("index", np.int64)])
    for start in range(0, 1500, 500):
        buckets.add(key=keys[start : start + 500], index=np.arange(start, start + 500))
    buckets.close()
    parts = list(buckets.read())
    assert all(a["key"].max() < b["key"].min() for a, b in pairwise(parts))
    records = np.concatenate(parts)
    assert (keys[records["index"]] == records["key"]).all()
    assert sorted(records["index"].tolist()) == list(range(1500))
    backwards = np.concatenate(list(buckets.read(backwards=True))[::-1])
    assert (backwards == records).all()
