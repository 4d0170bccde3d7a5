"""Scores of translations against references: sacrebleu on readable text, with its signature.

Letters: N sentences, R references each. References are R sequences of N texts, as in sacrebleu.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from mt.errors import UserError
from mt.text.sentences import space_between
from mt.wording import counted

METRICS = ("bleu", "chrf", "chrf++", "ter")
USUAL = ("bleu", "chrf", "ter")  # of a test set
QUICK = ("bleu", "chrf")  # of a validation during training
LESS_IS_BETTER = ("ter",)
RESAMPLES = 1000  # as many as `sacrebleu --confidence` makes, and from the same seed
SEED = 12345


@dataclass(frozen=True)
class Confidence:
    """The 95 % interval by bootstrap (Koehn 2004): `mean` ± `interval`, of so many resamples."""

    mean: float
    interval: float
    samples: int


@dataclass(frozen=True)
class Score:
    """One figure, as a percentage, and how to get it again."""

    name: str
    value: float
    signature: str
    confidence: Confidence | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f}{self._interval()}   ({self.signature})"

    def _interval(self) -> str:
        if self.confidence is None:
            return ""
        return f" (μ = {self.confidence.mean:.2f} ± {self.confidence.interval:.2f})"


class Scorer:
    """A metric of sacrebleu over N translations: what it counts in them is counted once.

    `metric` is one of METRICS. Where the language writes no spaces, BLEU is of characters ("char"
    in the signature), in Chinese of what sacrebleu takes for words there ("zh").
    """

    def __init__(
        self,
        metric: str,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
        language: str = "",
    ) -> None:
        """Raises `UserError` when the counts differ or there is nothing to score."""
        for stream in references:
            if len(hypotheses) != len(stream):
                raise UserError(
                    f"{counted(len(hypotheses), 'translation')} against "
                    f"{counted(len(stream), 'reference')}: they must be line for line"
                )
        if not hypotheses:
            raise UserError("nothing to score: 0 translations, 0 references")
        self.metric = _metric(metric, language)
        streams = [list(stream) for stream in references]
        self._counts = self.metric._extract_corpus_statistics(list(hypotheses), streams)
        self._total = self.metric._aggregate_and_compute(self._counts)
        self.name = str(self._total.name)

    def corpus(self, resamples: int = 0) -> Score:
        """The score of all; with `resamples` also its confidence interval."""
        confidence = self._bootstrap(resamples) if resamples > 1 else None
        return Score(self.name, float(self._total.score), self.signature, confidence)

    def of(self, places: Sequence[int]) -> float:
        """The score of some of the sentences, as if there were no others."""
        chosen = [self._counts[place] for place in places]
        return float(self.metric._aggregate_and_compute(chosen).score)

    @property
    def signature(self) -> str:
        """sacrebleu's, with the resamples once there were some."""
        return str(self.metric.get_signature())

    @property
    def lengths(self) -> tuple[int, int]:
        """Of BLEU alone: tokens of the translations, and of the references nearest in length."""
        return int(self._total.sys_len), int(self._total.ref_len)

    def _bootstrap(self, resamples: int) -> Confidence:
        """What sacrebleu's own makes, which holds all resamples in memory at once."""
        chance, counts = np.random.default_rng(SEED), np.array(self._counts, dtype=np.float32)
        scores = [
            self.metric._compute_score_from_stats(
                counts[chance.choice(len(counts), size=len(counts), replace=True)].sum(0)
            )
            for _ in range(resamples)
        ]
        self.metric.n_bootstrap, self.metric.seed = resamples, str(SEED)  # for the signature
        self._total.estimate_ci(scores)
        return Confidence(float(self._total._mean), float(self._total._ci), resamples)


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    language: str = "",
    metrics: Sequence[str] = QUICK,
) -> dict[str, Score]:
    """The scores by metric of detokenized against untouched text, one reference each.

    Raises `UserError` when the counts differ or there is nothing to score.
    """
    return {name: Scorer(name, hypotheses, [references], language).corpus() for name in metrics}


def _metric(name: str, language: str) -> Metric:
    if name == "bleu":
        # sacrebleu warns of translations that look tokenized, which ours are not.
        return BLEU(tokenize=bleu_tokenizer(language), force=True)
    if name == "ter":
        return TER()
    return CHRF(word_order=2 if name == "chrf++" else 0)


def bleu_tokenizer(language: str) -> str:
    """sacrebleu's name of the tokens that BLEU counts in a language, as in "-tok zh"."""
    if re.split(r"[-_]", language.lower())[0] == "zh":
        return "zh"
    return "13a" if space_between(language) else "char"


def check_metrics(names: Sequence[str]) -> None:
    """Raises `UserError` for a metric that does not exist."""
    for name in names:
        if name not in METRICS:
            raise UserError(f"--metric {name}: no such metric; there are {', '.join(METRICS)}")
