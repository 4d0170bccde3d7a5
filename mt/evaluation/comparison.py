"""Systems compared on one test set: whether they differ by more than chance, where, and how.

Letters: N sentences. Both tests are sacrebleu's own code, from one seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sacrebleu.significance import PairedTest, Result

from mt.evaluation.buckets import BucketScores, by_frequency, by_length, score_buckets
from mt.evaluation.evaluate import TestSet
from mt.evaluation.scores import LESS_IS_BETTER, QUICK, SEED, Confidence, Score, Scorer

BOOTSTRAP, RANDOMISATION = "bs", "ar"  # as sacrebleu calls them
SAMPLES = {BOOTSTRAP: 1000, RANDOMISATION: 10_000}
SURE = 0.05  # a difference with a smaller p in both tests is told as one
SEED_VARIABLE = "SACREBLEU_SEED"  # the only way to give the tests a seed

Verdict = Literal["better", "worse", "not told apart", "the tests disagree", "same translations"]


@dataclass(frozen=True)
class System:
    """What is compared: a name, N translations, and where they are from."""

    name: str
    hypotheses: Sequence[str]
    origin: str = ""


@dataclass(frozen=True)
class Difference:
    """A system against a baseline, both by place, under one metric.

    The p-values are of paired bootstrap (Koehn 2004) and of paired approximate randomisation
    (Riezler and Maxwell 2005), two-sided: either system may be the baseline. None where the
    translations are the same.
    """

    metric: str
    baseline: int
    system: int
    difference: float  # system - baseline
    p_bootstrap: float | None
    p_randomisation: float | None

    @property
    def verdict(self) -> Verdict:
        """What the system is against the baseline, if chance does not explain it (SURE)."""
        if self.p_bootstrap is None or self.p_randomisation is None:
            return "same translations"
        sure = [p < SURE for p in (self.p_bootstrap, self.p_randomisation)]
        if all(sure):
            higher, less_is_better = self.difference > 0, self.metric in LESS_IS_BETTER
            return "better" if higher != less_is_better else "worse"
        return "the tests disagree" if any(sure) else "not told apart"


@dataclass(frozen=True)
class SideBySide:
    """A sentence as the baseline and a system translate it, with the chrF of each."""

    line: int  # from 1
    source: str
    reference: str
    baseline: str
    system: str
    baseline_chrf: float
    system_chrf: float


@dataclass(frozen=True)
class Sentences:
    """Where a system differs most from the baseline: the largest gains and losses first."""

    system: int
    better: list[SideBySide]
    worse: list[SideBySide]
    higher: int  # sentences with a higher chrF than the baseline's
    lower: int
    equal: int


@dataclass(frozen=True)
class Comparison:
    """All that there is to tell; `scores` and `buckets` by metric or kind, then by system."""

    test_set: str
    sentences: int
    systems: list[System]
    scores: dict[str, list[Score]]
    differences: list[Difference]  # of every system from each one before it
    signatures: dict[str, dict[str, str]]  # by metric, then by test
    buckets: dict[str, list[list[BucketScores]]]
    most: list[Sentences]  # against the first system

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings, ready for JSON."""
        systems = [{"name": system.name, "origin": system.origin} for system in self.systems]
        differences = [{**asdict(d), "verdict": d.verdict} for d in self.differences]
        return {**asdict(self), "systems": systems, "differences": differences, "seed": SEED}


def compare(
    systems: Sequence[System],
    test_set: TestSet,
    languages: tuple[str, str] = ("", ""),
    metrics: Sequence[str] = QUICK,
    examples: int = 3,
    frequency: Mapping[str, int] | None = None,
) -> Comparison:
    """Compares two systems or more; the first is the baseline of what is told of sentences.

    `languages` are source and target; `frequency` is that of words in the training sources. The
    same texts give the same numbers, to the last digit, whatever SACREBLEU_SEED is.
    Raises `UserError` when counts differ or there is nothing to score.
    """
    references = test_set.streams
    scorers = [
        {name: Scorer(name, s.hypotheses, references, languages[1]) for name in metrics}
        for s in systems
    ]
    chrf = [
        own.get("chrf") or Scorer("chrf", s.hypotheses, references)
        for own, s in zip(scorers, systems, strict=True)
    ]
    tests = [
        _Tests(systems[first:], references, languages[1], metrics)
        for first in range(len(systems) - 1)
    ]
    return Comparison(
        test_set.name,
        len(test_set.references),
        list(systems),
        {name: tests[0].scores(name, [own[name] for own in scorers]) for name in metrics},
        [d for first, test in enumerate(tests) for d in test.differences(first, systems)],
        tests[0].signatures,
        _buckets(test_set, languages, scorers, frequency),
        [
            _most(test_set, systems[0], systems[i], chrf[0], chrf[i], i, examples)
            for i in range(1, len(systems))
        ],
    )


class _Tests:
    """Both tests of some systems against the first of them."""

    def __init__(
        self,
        systems: Sequence[System],
        references: Sequence[Sequence[str]],
        language: str,
        metrics: Sequence[str],
    ) -> None:
        named: list[tuple[str, Sequence[str]]] = [
            (str(i), list(system.hypotheses)) for i, system in enumerate(systems)
        ]
        self.metrics = metrics
        self.signatures: dict[str, dict[str, str]] = {name: {} for name in metrics}
        self.results: dict[str, dict[str, list[Result]]] = {name: {} for name in metrics}
        for kind, samples in SAMPLES.items():
            # sacrebleu writes how it was tested into the metric's signature: a new one for each.
            fresh = {m: Scorer(m, named[0][1], references, language).metric for m in metrics}
            with _seeded():
                signatures, results = PairedTest(
                    named, fresh, [list(stream) for stream in references], kind, samples
                )()
            for metric, title in zip(metrics, signatures, strict=True):
                self.signatures[metric][kind] = str(signatures[title])
                self.results[metric][kind] = list(results[title])  # type: ignore[arg-type]

    def scores(self, metric: str, scorers: Sequence[Scorer]) -> list[Score]:
        """The score of each system, with its confidence interval."""
        found = []
        for scorer, result in zip(scorers, self.results[metric][BOOTSTRAP], strict=True):
            plain = scorer.corpus()
            assert result.mean is not None
            assert result.ci is not None
            interval = Confidence(float(result.mean), float(result.ci), SAMPLES[BOOTSTRAP])
            found.append(Score(plain.name, plain.value, plain.signature, interval))
        return found

    def differences(self, first: int, systems: Sequence[System]) -> Iterator[Difference]:
        """Of each system from the one at `first`."""
        for metric in self.metrics:
            bootstrap, randomised = (self.results[metric][kind] for kind in SAMPLES)
            for i in range(1, len(bootstrap)):
                same = list(systems[first].hypotheses) == list(systems[first + i].hypotheses)
                yield Difference(
                    metric,
                    first,
                    first + i,
                    float(bootstrap[i].score - bootstrap[0].score),
                    # Of equal texts sacrebleu's p is the smallest there is.
                    None if same else bootstrap[i].p_value,
                    None if same else randomised[i].p_value,
                )


@contextmanager
def _seeded() -> Iterator[None]:
    """The seed of the tests, whatever the environment says."""
    before = os.environ.get(SEED_VARIABLE)
    os.environ[SEED_VARIABLE] = str(SEED)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SEED_VARIABLE]
        else:
            os.environ[SEED_VARIABLE] = before


def _buckets(
    test_set: TestSet,
    languages: tuple[str, str],
    scorers: Sequence[Mapping[str, Scorer]],
    frequency: Mapping[str, int] | None,
) -> dict[str, list[list[BucketScores]]]:
    if not test_set.sources:
        found = {"by length of the reference": by_length(test_set.references, languages[1])}
    else:
        found = {"by length of the source": by_length(test_set.sources, languages[0])}
    if frequency is not None and test_set.sources:
        by = "by the rarest word of the source in training"
        found[by] = by_frequency(test_set.sources, frequency, languages[0])
    return {by: [score_buckets(buckets, own) for own in scorers] for by, buckets in found.items()}


def _most(
    test_set: TestSet,
    baseline: System,
    system: System,
    before: Scorer,
    after: Scorer,
    place: int,
    count: int,
) -> Sentences:
    """The sentences with the largest differences of chrF; of equal ones the first."""
    scored = [(before.of([i]), after.of([i])) for i in range(len(test_set.references))]
    gains = [b - a for a, b in scored]
    rising = sorted(range(len(gains)), key=lambda i: gains[i])
    falling = sorted(range(len(gains)), key=lambda i: -gains[i])

    def shown(i: int) -> SideBySide:
        source = test_set.sources[i] if test_set.sources else ""
        texts = baseline.hypotheses[i], system.hypotheses[i]
        return SideBySide(i + 1, source, test_set.references[i], *texts, *scored[i])

    higher, lower = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    better = [shown(i) for i in falling[: min(count, higher)]]
    worse = [shown(i) for i in rising[: min(count, lower)]]
    return Sentences(place, better, worse, higher, lower, len(scored) - higher - lower)
