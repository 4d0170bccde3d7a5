"""The report: what it says of translations, each against sacrebleu or a count by hand."""

from __future__ import annotations

import random

import pytest
import sacrebleu

from mt.evaluation.evaluate import TestSet
from mt.evaluation.report import Wanted, make_report, repeated_share
from tests.conftest import toy_pairs

SOURCES = [f"{source} {number}" for number, (source, _) in enumerate(toy_pairs(60))]
REFERENCES = [
    f"{target} parola{number} a{number} b{number}"
    for number, (_, target) in enumerate(toy_pairs(60))
]
ALL = Wanted(("bleu", "chrf", "chrf++", "ter"), resamples=0)


def test_references_against_themselves_are_perfect() -> None:
    report = make_report(TestSet("t", SOURCES, REFERENCES), REFERENCES, ("en", "it"), ALL)
    values = {name: score.value for name, score in report.scores.items()}
    assert values.pop("ter") == 0
    assert values == pytest.approx({"bleu": 100, "chrf": 100, "chrf++": 100})
    assert report.length_ratio == 1
    for buckets in report.buckets.values():
        assert all(bucket.scores["bleu"] == pytest.approx(100) for bucket in buckets)


def test_shuffled_translations_are_near_nothing() -> None:
    texts = [" ".join(random.Random(i).choices("abcdefghij", k=8)) for i in range(200)]
    shuffled = random.Random(0).sample(texts, len(texts))
    report = make_report(TestSet("t", [], texts), shuffled, ("", ""), Wanted(("bleu",)))
    assert report.scores["bleu"].value < 5


def test_the_length_ratio_is_that_of_bleu() -> None:
    hypotheses = [text.removesuffix(text.split()[-1]) for text in REFERENCES]
    report = make_report(TestSet("t", [], REFERENCES), hypotheses, ("", ""), Wanted(("chrf",)))
    own = sacrebleu.BLEU().corpus_score(hypotheses, [REFERENCES])
    assert (report.hypothesis_tokens, report.reference_tokens) == (own.sys_len, own.ref_len)
    assert report.length_ratio == own.ratio < 1
    assert list(report.scores) == ["chrf"]


def test_repeated_n_grams_are_counted() -> None:
    assert repeated_share(["a b c d e f", "short"]) == 0
    assert repeated_share(["a b c d a b c d"]) == 1 / 5  # abcd bcda cdab dabc abcd
    assert repeated_share(["no no no no no no", "a b c d"]) == 2 / 4
    assert repeated_share(["好好好好好"], "zh") == 1 / 2
    assert repeated_share([]) == 0


def test_documents_are_scored_as_long_sentences_and_one_by_one() -> None:
    names = [f"d{number % 7}" for number in range(60)]
    hypotheses = [text.replace("il", "un") for text in REFERENCES]
    test_set = TestSet("t", SOURCES, REFERENCES, documents=names)
    documents = make_report(test_set, hypotheses, ("en", "it"), ALL).documents
    assert documents is not None
    joined = [
        [" ".join(side[i] for i in range(60) if names[i] == name) for name in sorted(set(names))]
        for side in (hypotheses, REFERENCES)
    ]
    own = sacrebleu.BLEU().corpus_score(joined[0], [joined[1]])
    assert 0 < documents.scores["bleu"].value == own.score < 100
    assert list(documents.scores) == ["bleu", "chrf", "chrf++"]
    third = documents.each[3]
    chosen = [[side[i] for i in range(3, 60, 7)] for side in (hypotheses, REFERENCES)]
    assert (third.name, third.sentences) == ("d3", len(chosen[0]))
    assert third.scores["ter"] == sacrebleu.TER().corpus_score(chosen[0], [chosen[1]]).score
    only_ter = make_report(test_set, hypotheses, ("en", "it"), Wanted(("ter",), 0))
    assert only_ter.documents is not None
    assert list(only_ter.documents.scores) == ["bleu"]
    assert any("document BLEU" in line for line in only_ter.more_lines())


def test_the_worst_and_typical_translations_are_shown() -> None:
    hypotheses = [
        text if i % 2 else f"{text[: -i % 20 - 21]}zz" for i, text in enumerate(REFERENCES)
    ]
    hypotheses[7] = "?"
    test_set = TestSet("t", SOURCES, REFERENCES, others=[REFERENCES])
    report = make_report(test_set, hypotheses, ("en", "it"), Wanted(resamples=0, examples=5))
    chrf = sacrebleu.CHRF()
    scores = sorted(
        chrf.sentence_score(h, [r]).score for h, r in zip(hypotheses, REFERENCES, strict=True)
    )
    assert report.worst[0].line == 8
    assert report.worst[0].references == [REFERENCES[7]] * 2
    assert [example.chrf for example in report.worst] == scores[:5]
    assert [example.chrf for example in report.typical] == scores[27:32]
    text = "\n".join(report.more_lines())
    assert f"line 8, chrF2 {scores[0]:.2f}\n  source       {SOURCES[7]}\n" in text
    none = make_report(test_set, hypotheses, ("en", "it"), Wanted(resamples=0, examples=0))
    assert none.worst == none.typical == []
    assert "worst" not in "\n".join(none.more_lines())


def test_buckets_are_of_sources_and_training_where_they_are_known() -> None:
    full = TestSet("t", SOURCES, REFERENCES)
    report = make_report(full, REFERENCES, ("en", "it"), Wanted(resamples=0), {"the": 5})
    assert list(report.buckets) == [
        "by length of the source", "by the rarest source word in training",
    ]  # fmt: skip
    assert list(make_report(full, REFERENCES, ("", ""), Wanted(resamples=0)).buckets) == [
        "by length of the source"
    ]
    bare = make_report(TestSet("t", [], REFERENCES), REFERENCES, ("", ""), Wanted(resamples=0))
    assert list(bare.buckets) == ["by length of the reference"]
