"""The thresholds of `mt export --check`."""

from __future__ import annotations

import pytest

from mt.errors import RunError
from mt.evaluation.scores import Score
from mt.export.check import Comparison


def comparison(identical: float, before: float = 30.0, after: float = 30.0) -> Comparison:
    return Comparison(
        1000, identical, Score("BLEU", before, "nrefs:1"), Score("BLEU", after, "nrefs:1")
    )


def test_the_figures_with_the_signature() -> None:
    assert list(comparison(0.9955, 30.5, 30.25).lines()) == [
        "identical 99.55%",
        "before    BLEU 30.50   (nrefs:1)",
        "after     BLEU 30.25   (nrefs:1)",
    ]


def test_enough_are_identical() -> None:
    comparison(0.995).demand(0.995)
    comparison(0.5, 30.0, 29.75).demand(None)
    comparison(0.5, 30.0, 31.0).demand(None)  # better is not worse


def test_too_few_are_identical() -> None:
    with pytest.raises(RunError, match=r"of 1,000 translations 99.40% are .* 99.50% are wanted"):
        comparison(0.994).demand(0.995)


def test_too_much_bleu_is_lost() -> None:
    with pytest.raises(RunError, match=r"0.50 BLEU are lost, and 0.3 may be"):
        comparison(1.0, 30.0, 29.5).demand(None)
