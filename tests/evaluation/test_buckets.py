"""Buckets of sentences: each sentence in one, and scores as if there were no others."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from mt.evaluation.buckets import Bucket, by_document, by_frequency, by_length, score_buckets, words
from mt.evaluation.scores import Scorer


def test_sentences_by_length() -> None:
    lines = ["a", " ".join("a" * 10), " ".join("a" * 11), "", " ".join("a" * 61)]
    assert by_length(lines) == [
        Bucket("1-10 words", (0, 1, 3)), Bucket("11-20 words", (2,)), Bucket("over 60 words", (4,)),
    ]  # fmt: skip
    assert by_length(["今天天气很好 今天天气"], "zh") == [Bucket("1-10 characters", (0,))]


def test_sentences_by_their_rarest_word() -> None:
    seen = {"the": 5000, "cat": 12, "sleeps": 9}
    lines = ["The cat.", "The CAT sleeps", "the zebra", "42!", "the the"]
    assert by_frequency(lines, seen) == [
        Bucket("never", (2,)), Bucket("1-9 times", (1,)), Bucket("10-99 times", (0,)),
        Bucket("1,000 times and more", (4,)),
    ]  # fmt: skip


def test_words_are_runs_of_letters() -> None:
    assert words("L'Uomo, 3 caffè!") == ["l", "uomo", "caffè"]
    assert words("他 走.", "zh_Hans") == ["他", "走"]


def test_sentences_by_document() -> None:
    assert by_document(["b", "a", "b"]) == [Bucket("b", (0, 2)), Bucket("a", (1,))]


@given(st.lists(st.integers(0, 200), max_size=30))
def test_every_sentence_is_in_one_bucket(lengths: list[int]) -> None:
    buckets = by_length(["a " * length for length in lengths])
    assert sorted(p for b in buckets for p in b.places) == list(range(len(lengths)))
    assert all(list(b.places) == sorted(b.places) for b in buckets)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter"])
def test_a_bucket_scores_as_if_there_were_no_others(metric: str) -> None:
    hypotheses = ["the cat sat on the mat here", "dogs run far away now", "a bird sings", "no", "x"]
    references = ["the cat sat on a mat here", "dogs ran far away", "the bird sings", "no", "y"]
    scorer = Scorer(metric, hypotheses, [references])
    found = score_buckets([Bucket("some", (0, 2, 3))], {metric: scorer})[0]
    own = {
        "bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF(), "chrf++": sacrebleu.CHRF(word_order=2),
        "ter": sacrebleu.TER(),
    }[metric]  # fmt: skip
    chosen = [[side[i] for i in (0, 2, 3)] for side in (hypotheses, references)]
    assert (found.name, found.sentences) == ("some", 3)
    assert found.scores == {metric: own.corpus_score(chosen[0], [chosen[1]]).score}
