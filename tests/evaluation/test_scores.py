"""Scores and validation loss, each against another way of getting them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import sacrebleu
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import ModelConfig
from mt.data.frame import frame
from mt.errors import UserError
from mt.evaluation.evaluate import TestSet
from mt.evaluation.results import write_results
from mt.evaluation.scores import METRICS, Confidence, Score, Scorer, check_metrics, score
from mt.evaluation.validation import validation_loss
from mt.model.build import build_model
from tests.conftest import toy_pairs

REFERENCES = [f"{target} {number}" for number, (_, target) in enumerate(toy_pairs(100))]


def test_references_against_themselves_are_100() -> None:
    scores = score(REFERENCES, REFERENCES)
    assert scores["bleu"].value == pytest.approx(100)
    assert scores["chrf"].value == pytest.approx(100)


def test_text_that_shares_nothing_is_near_0() -> None:
    other = ["zzz qqq www xxx kkk jjj"] * len(REFERENCES)
    scores = score(other, REFERENCES)
    assert scores["bleu"].value < 1
    assert scores["chrf"].value < 5


def test_the_order_of_the_lines_matters() -> None:
    words = [f"w{i}a w{i}b w{i}c w{i}d w{i}e" for i in range(100)]
    shuffled = random.Random(0).sample(words, len(words))
    assert score(shuffled, words)["bleu"].value < 10
    assert score(words, words)["bleu"].value == pytest.approx(100)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), min_size=1, max_size=8))
def test_the_scores_are_those_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = ([pair[side] for pair in pairs] for side in (0, 1))
    scores = score(hypotheses, references)
    bleu = sacrebleu.corpus_bleu(hypotheses, [references])
    chrf = sacrebleu.corpus_chrf(hypotheses, [references])
    assert scores["bleu"].value == pytest.approx(bleu.score)
    assert scores["chrf"].value == pytest.approx(chrf.score)


ROUGH = [
    " ".join(reversed(text.split())) if number % 3 else text.replace("a", "e")
    for number, text in enumerate(REFERENCES)
]
OWN = {
    "bleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF, "ter": sacrebleu.TER,
    "chrf++": lambda: sacrebleu.CHRF(word_order=2),
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("count", [1, 2])
def test_scores_and_intervals_are_those_of_sacrebleu_to_the_last_digit(
    metric: str, count: int
) -> None:
    streams = [REFERENCES, [text.upper() for text in REFERENCES]][:count]
    scorer = Scorer(metric, ROUGH, streams)
    own = OWN[metric]()
    plain = own.corpus_score(ROUGH, streams)
    assert (scorer.corpus().value, scorer.signature) == (plain.score, str(own.get_signature()))
    with_interval = own.corpus_score(ROUGH, streams, n_bootstrap=200)
    found = scorer.corpus(200)
    assert found.confidence is not None
    assert found.confidence == Confidence(with_interval._mean, with_interval._ci, 200)
    assert found.confidence.interval > 0
    assert found.signature == str(own.get_signature())
    assert f"nrefs:{count}|bs:200|seed:12345" in found.signature
    assert scorer.of(range(len(ROUGH))) == found.value == plain.score


def test_a_score_is_shown_with_its_interval() -> None:
    found = Score("BLEU", 12.345, "tok:13a", Confidence(12.5, 1.234, 1000))
    assert str(found) == "BLEU 12.35 (μ = 12.50 ± 1.23)   (tok:13a)"


def test_text_without_spaces_is_scored_by_its_characters() -> None:
    texts = {"zh": ("今天天气很好", "zh"), "ja": ("今日は天気がいい", "char"), "it": ("a", "13a")}
    for language, (text, tokenizer) in texts.items():
        scorer = Scorer("bleu", [text], [[text]], language)
        assert f"tok:{tokenizer}|" in scorer.signature
        own = sacrebleu.BLEU(tokenize=tokenizer).corpus_score([text], [[text]])
        assert scorer.corpus().value == own.score
    assert Scorer("bleu", ["今天天气好"], [["今天天气很好"]], "zh_Hans").corpus().value > 30


def test_a_metric_that_does_not_exist_is_named() -> None:
    check_metrics(METRICS)
    with pytest.raises(UserError) as refused:
        check_metrics(["bleu", "comet"])
    assert str(refused.value) == "--metric comet: no such metric; there are bleu, chrf, chrf++, ter"


def test_scores_are_shown_with_their_signature() -> None:
    scores = score([*REFERENCES[:9], "altro"], REFERENCES[:10])
    for name, shown in (("bleu", "BLEU"), ("chrf", "chrF2")):
        result = scores[name]
        assert str(result) == f"{shown} {result.value:.2f}   ({result.signature})"
    assert scores["bleu"].signature == (
        f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )
    assert "nc:6" in scores["chrf"].signature
    assert f"version:{sacrebleu.__version__}" in scores["chrf"].signature


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"),
    [
        (1, 2, "1 translation against 2 references"),
        (2, 1, "2 translations against 1 reference"),
        (0, 3, "0 translations against 3 references"),
        (3, 0, "3 translations against 0 references"),
    ],
)
def test_counts_that_differ_are_refused(hypotheses: int, references: int, said: str) -> None:
    with pytest.raises(UserError) as refused:
        score(REFERENCES[:hypotheses], REFERENCES[:references])
    assert str(refused.value) == f"{said}: they must be line for line"


def test_nothing_has_no_score() -> None:
    with pytest.raises(UserError, match="nothing to score: 0 translations, 0 references"):
        score([], [])


def test_results_are_written_line_for_line(tmp_path: Path) -> None:
    test_set = TestSet("mine", ["a", "", "c\r\nd"], ["è\u2028", "x\ny", "z"])
    hypotheses = ["è", "x y", ""]
    write_results(tmp_path / "new", test_set, hypotheses, ("en", "it"), {"è": {"beam_size": 4}})
    written = {p.name: p.read_bytes().decode() for p in (tmp_path / "new").iterdir()}
    content = json.loads(written.pop("scores.json"))
    assert written == {
        "src.en": "a\n\nc d\n", "ref.it": "è\u2028\nx y\nz\n", "hyp.it": "è\nx y\n\n",
    }  # fmt: skip
    assert content == {"è": {"beam_size": 4}, "files": ["src.en", "ref.it", "hyp.it"]}


def test_results_leave_nothing_of_an_earlier_evaluation(tmp_path: Path) -> None:
    first = TestSet("mine", ["a"], ["x"], others=[["y"]], documents=["d"])
    (tmp_path / "ref-notes.txt").write_text("mine")
    write_results(tmp_path, first, ["x"], ("en", "it"), {})
    assert {p.name for p in tmp_path.iterdir()} == {
        "src.en", "ref.it", "ref-2.it", "hyp.it", "documents", "ref.documents.it",
        "ref-2.documents.it", "hyp.documents.it", "scores.json", "ref-notes.txt",
    }  # fmt: skip
    write_results(tmp_path, TestSet("mine", [], ["x"]), ["x"], ("", ""), {})
    assert {p.name for p in tmp_path.iterdir()} == {"ref", "hyp", "scores.json", "ref-notes.txt"}


class Pairs:
    """A dataset as the validation loss knows it: lengths, and batches of rows."""

    def __init__(self, count: int, vocabulary: int) -> None:
        import numpy as np

        chance = np.random.default_rng(0)
        self.rows = [
            tuple(frame(chance.integers(4, vocabulary, chance.integers(1, 12))) for _ in range(2))
            for _ in range(count)
        ]
        self.lengths = np.array([[len(src), len(tgt)] for src, tgt in self.rows], dtype=np.int32)

    def batch(self, indices: object) -> object:
        from mt.data.batch import collate

        chosen = [self.rows[int(i)] for i in indices]  # type: ignore[attr-defined]
        return collate([src for src, _ in chosen], [tgt for _, tgt in chosen])


@pytest.mark.parametrize("implementation", ["native", "torch"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_validation_loss_is_plain_cross_entropy_over_single_sentences(
    implementation: str, norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.evaluation.validation.PLACES", 64)  # several batches, with padding
    config = ModelConfig(
        implementation=implementation, norm=norm, num_layers=2, d_model=16, num_heads=2, d_ff=32,
        dropout=0.5, attention_bias=True,
    )  # fmt: skip
    model = build_model(config, 30, 40, seed=3).eval()
    pairs = Pairs(25, 30)
    total, tokens = 0.0, 0
    with torch.no_grad():
        for src, tgt in pairs.rows:
            ids = torch.tensor(tgt, dtype=torch.int64)
            logits = model(torch.tensor(src, dtype=torch.int64)[None], None, ids[None, :-1])[0]
            total += float(torch.nn.functional.cross_entropy(logits, ids[1:], reduction="sum"))
            tokens += len(ids) - 1
    found = validation_loss(model, pairs, torch.device("cpu"))  # type: ignore[arg-type]
    assert found == pytest.approx(total / tokens, rel=1e-5)
