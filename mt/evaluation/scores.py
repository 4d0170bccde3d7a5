"""Scores of translations against references: sacrebleu on readable text, with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from mt.errors import UserError


@dataclass(frozen=True)
class Score:
    """One figure, from 0 to 100, and how to get it again."""

    name: str
    value: float
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f}   ({self.signature})"


def score(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Score]:
    """Corpus BLEU and chrF, as "bleu" and "chrf", of detokenized against untouched text.

    Raises `UserError` when the counts differ or there is nothing to score.
    """
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses):,} translations against {len(references):,} references: "
            "they must be line for line"
        )
    if not references:
        raise UserError("nothing to score: 0 translations, 0 references")
    metrics: dict[str, Any] = {"bleu": BLEU(), "chrf": CHRF()}
    return {name: _score(metric, hypotheses, references) for name, metric in metrics.items()}


def _score(metric: Any, hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(result.name, float(result.score), str(metric.get_signature()))
