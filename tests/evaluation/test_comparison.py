"""Comparing systems: sacrebleu's own figures, both ways round, and the same whenever it is run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from mt.evaluation import comparison
from mt.evaluation.comparison import Difference, System, compare
from mt.evaluation.evaluate import TestSet
from tests.conftest import toy_pairs

PAIRS = toy_pairs(40)
TEST = TestSet("toy", [source for source, _ in PAIRS], [target for _, target in PAIRS])


def spoilt(every: int, first: int = 0) -> list[str]:
    """The references, with the last word of every n-th from the first on another one."""
    return [
        f"{text.rsplit(' ', 1)[0]} mai." if i % every == first else text
        for i, text in enumerate(TEST.references)
    ]


BAD, GOOD, OTHER = spoilt(2), spoilt(8), spoilt(2, first=1)


FEW = {"bs": 300, "ar": 500}


@pytest.fixture(scope="module", autouse=True)
def few_samples() -> Iterator[None]:
    """Enough to tell GOOD from BAD; how many there are is said to sacrebleu too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "SAMPLES", FEW)
        yield


@pytest.fixture(scope="module")
def found():  # type: ignore[no-untyped-def]
    systems = [System("bad", BAD), System("good", GOOD), System("other", OTHER)]
    return compare(systems, TEST, ("en", "it"), examples=2)


@pytest.mark.parametrize(("option", "kind"), [("--paired-bs", "bs"), ("--paired-ar", "ar")])
def test_the_sacrebleu_command_gives_the_same_figures(
    found,  # type: ignore[no-untyped-def]
    tmp_path: Path,
    option: str,
    kind: str,
) -> None:
    files = {"ref": TEST.references, "a": BAD, "b": GOOD, "c": OTHER}
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    paths = [str(tmp_path / name) for name in files]
    command = [sys.executable, "-m", "sacrebleu", paths[0], "-i", *paths[1:], "-m", "bleu", "chrf",
               option, f"{option}-n", str(FEW[kind]), "-w", "6", "-f", "text"]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    table = ended.stdout[: ended.stdout.index("---")]
    expected = []
    for i in range(3):
        for metric in ("bleu", "chrf"):
            score = found.scores[metric][i]
            values = [score.value, score.confidence.mean, score.confidence.interval]
            expected += [f"{value:.6f}" for value in (values if kind == "bs" else values[:1])]
        against = [d for d in found.differences if (d.baseline, d.system) == (0, i)]
        ps = [d.p_bootstrap if kind == "bs" else d.p_randomisation for d in against]
        expected += [f"{p:.4f}" for p in ps]
    assert len(expected) == (3 * 6 if kind == "bs" else 3 * 2) + 4
    assert re.findall(r"\d+\.\d+", table) == expected
    for metric in ("bleu", "chrf"):
        assert found.signatures[metric][kind] in ended.stdout


def test_of_several_references_each_counts() -> None:
    several = TestSet("toy", TEST.sources, TEST.references, others=[BAD])
    found = compare([System("bad", BAD), System("other", OTHER)], several, ("en", "it"))
    for name, metric in (("bleu", BLEU(trg_lang="it")), ("chrf", CHRF())):
        for score, lines in zip(found.scores[name], (BAD, OTHER), strict=True):
            references = [list(TEST.references), BAD]
            assert score.value == metric.corpus_score(lines, references).score
            assert "nrefs:2" in score.signature
    assert found.scores["chrf"][0].value == pytest.approx(100)
    assert {d.verdict for d in found.differences} == {"worse"}
    assert all("nrefs:2" in text for text in found.signatures["bleu"].values())


def test_a_clear_difference_is_one_and_chance_is_not(found) -> None:  # type: ignore[no-untyped-def]
    verdicts = {(d.baseline, d.system): d.verdict for d in found.differences if d.metric == "bleu"}
    assert verdicts == {(0, 1): "better", (0, 2): "not told apart", (1, 2): "worse"}


def test_the_other_way_round_the_same_with_the_opposite_sign(found) -> None:  # type: ignore[no-untyped-def]
    back = compare([System("good", GOOD), System("bad", BAD)], TEST, ("en", "it"), examples=2)
    forth = [d for d in found.differences if (d.baseline, d.system) == (0, 1)]
    for there, here in zip(forth, back.differences, strict=True):
        assert here.difference == -there.difference
        assert (here.p_bootstrap, here.p_randomisation) == (
            there.p_bootstrap, there.p_randomisation
        )  # fmt: skip
        assert (here.verdict, there.verdict) == ("worse", "better")
    assert [one.line for one in back.most[0].worse] == [one.line for one in found.most[0].better]
    assert back.most[0].higher == found.most[0].lower


@pytest.mark.parametrize("seed", ["0", "none", "77"])
def test_the_same_to_the_last_digit_whatever_the_environment_says(
    found,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
    seed: str,
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    systems = [System("bad", BAD), System("good", GOOD)]
    again = compare(systems, TEST, ("en", "it"), ["bleu"], examples=2)
    assert again.differences == found.differences[:1]
    assert again.scores["bleu"] == found.scores["bleu"][:2]
    assert os.environ["SACREBLEU_SEED"] == seed


def test_the_same_translations_are_told_as_that_not_as_the_surest_difference() -> None:
    found = compare([System("a", BAD), System("b", list(BAD))], TEST)
    assert {d.verdict for d in found.differences} == {"same translations"}
    assert all(d.p_bootstrap is d.p_randomisation is None for d in found.differences)
    assert (found.most[0].better, found.most[0].worse, found.most[0].equal) == ([], [], 40)


def test_sentences_that_differ_most_are_those_with_the_largest_difference_of_chrf(
    found,  # type: ignore[no-untyped-def]
) -> None:
    def chrf(text: str, i: int) -> float:
        return CHRF().corpus_score([text], [[TEST.references[i]]]).score

    gains = [chrf(b, i) - chrf(a, i) for i, (a, b) in enumerate(zip(BAD, GOOD, strict=True))]
    shown = found.most[0]
    assert [one.system_chrf - one.baseline_chrf for one in shown.better] == pytest.approx(
        sorted(gains, reverse=True)[:2]
    )
    assert (shown.higher, shown.lower) == (sum(g > 0 for g in gains), sum(g < 0 for g in gains))
    one = shown.better[0]
    assert one.source == TEST.sources[one.line - 1]
    assert one.reference == one.system == TEST.references[one.line - 1]
    assert one.baseline == BAD[one.line - 1]


@pytest.mark.parametrize(
    ("metric", "difference", "p", "verdict"),
    [
        ("bleu", 1.0, (0.01, 0.02), "better"), ("bleu", -1.0, (0.01, 0.02), "worse"),
        ("ter", 1.0, (0.01, 0.02), "worse"), ("ter", -1.0, (0.01, 0.02), "better"),
        ("bleu", 1.0, (0.01, 0.2), "the tests disagree"),
        ("bleu", 1.0, (0.3, 0.2), "not told apart"),
    ],
)  # fmt: skip
def test_verdicts(metric: str, difference: float, p: tuple[float, float], verdict: str) -> None:
    assert Difference(metric, 0, 1, difference, *p).verdict == verdict


def test_buckets_are_of_the_same_sentences_for_all() -> None:
    frequency = {"the": 100, "cat": 0}
    found = compare([System("a", BAD), System("b", GOOD)], TEST, ("en", "it"), frequency=frequency)
    assert list(found.buckets) == [
        "by length of the source", "by the rarest word of the source in training"
    ]  # fmt: skip
    for a, b in found.buckets.values():
        assert [(x.name, x.sentences) for x in a] == [(x.name, x.sentences) for x in b]
        assert sum(x.sentences for x in a) == 40
    ((whole,), _) = found.buckets["by length of the source"]
    assert whole.scores["bleu"] == found.scores["bleu"][0].value
    json.dumps(found.as_dict(), allow_nan=False)
