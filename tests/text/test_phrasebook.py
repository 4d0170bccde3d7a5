"""The built-in corpus as a whole: sizes, splits, determinism, and how often its words occur."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from mt.text.phrasebook import PATTERNS, SHOWCASE, phrasebook
from mt.text.phrasebook.adjectives import ADJECTIVES
from mt.text.phrasebook.english import comparative, gerund, superlative, third_person
from mt.text.phrasebook.nouns import NOUNS
from mt.text.phrasebook.verbs import VERBS

Corpus = dict[str, list[tuple[str, str]]]


made = cache(phrasebook)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made(0)


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def test_the_lexicon_is_large_enough() -> None:
    assert len({noun.en for noun in NOUNS}) == len(NOUNS) >= 150
    assert len({verb.en for verb in VERBS}) >= 60
    assert len({word.en for word in ADJECTIVES}) == len(ADJECTIVES) >= 50
    assert len(PATTERNS) >= 60


def test_the_splits_have_their_sizes(corpus: Corpus) -> None:
    assert {name: len(pairs) for name, pairs in corpus.items()} == {
        "test": 500,
        "valid": 500,
        "train": 20_000,
    }


@pytest.mark.parametrize("side", [0, 1])
def test_no_sentence_stands_twice_whatever_its_case_and_punctuation(
    corpus: Corpus, side: int
) -> None:
    sentences = Counter(plain(pair[side]) for pairs in corpus.values() for pair in pairs)
    assert sentences.most_common(1)[0][1] == 1


def test_the_showcase_is_in_no_split(corpus: Corpus) -> None:
    shown = {plain(text) for pair in SHOWCASE for text in pair}
    for pairs in corpus.values():
        assert shown.isdisjoint(plain(text) for pair in pairs for text in pair)


def test_words_of_the_showcase_and_of_the_test_split_are_in_train(corpus: Corpus) -> None:
    for side in (0, 1):
        known = Counter(word for pair in corpus["train"] for word in plain(pair[side]).split())
        assert all(known[word] >= 20 for pair in SHOWCASE for word in plain(pair[side]).split())
        words = [word for pair in corpus["test"] for word in plain(pair[side]).split()]
        assert sum(known[word] < 2 for word in words) <= len(words) / 500


def test_every_english_sentence_has_one_italian() -> None:
    """Over several corpora, which share many English sentences."""
    italian: dict[str, str] = {}
    for seed in range(3):
        for pairs in made(seed).values():
            for en, it in pairs:
                assert italian.setdefault(plain(en), it) == it, en


def test_every_word_of_the_lexicon_occurs_often_in_train(corpus: Corpus) -> None:
    text = "|".join(f" {plain(en)} " for en, _ in corpus["train"])
    forms = [{noun.en, noun.en_plural} for noun in NOUNS]
    forms += [
        {verb.en, third_person(verb.en), gerund(verb.en), verb.en_past, verb.en_participle}
        for verb in VERBS
    ]
    forms += [{word.en, comparative(word.en), superlative(word.en)} for word in ADJECTIVES]
    for words in forms:
        assert sum(text.count(f" {word.casefold()} ") for word in words if word) >= 12, words


def test_sentences_are_neither_short_nor_long(corpus: Corpus) -> None:
    lengths = [len(en.split()) for en, _ in corpus["train"]]
    assert min(lengths) >= 3
    assert max(lengths) <= 18
    assert 6 < sum(lengths) / len(lengths) < 10


def test_sentences_are_written_as_they_should_be(corpus: Corpus) -> None:
    for pair in corpus["train"]:
        for text in pair:
            assert re.fullmatch(r"[A-ZÈ][\w',. ]*[.?!]", text), text
            assert not re.search(r" [.,?!]|l' |  |\bil [aeiou]|\bun' |[.]{2}", text), text


def test_the_seed_decides_and_nothing_else(corpus: Corpus) -> None:
    program = "import json; from mt.text.phrasebook import phrasebook as p; print(json.dumps(p(0)))"
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        again = {name: list(map(tuple, pairs)) for name, pairs in json.loads(run.stdout).items()}
        assert again == corpus
    assert made(1) != corpus
