"""What is known of a run, in words: for the terminal, and for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mt.progress import spell_seconds
from mt.runs.facts import RunFacts
from mt.runs.table import spell_count

METRICS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER", "chrf++": "chrF++"}


def summary(run: RunFacts, when: Callable[[float], str]) -> Iterator[tuple[str, str]]:
    """Each fact under the name that `mt train` gives it; no name: it belongs to the one before.

    `when` spells a time, given in seconds since 1970.
    """
    yield "run", run.name
    yield "state", run.state + (f": {run.why}" if run.why else "")
    for damage in run.damage[1:] if run.state == "damaged" else run.damage:
        yield "damaged", damage
    if run.state == "stopped" and run.model and run.step:
        yield "", "the command that began it goes on with it"
    if run.source:
        pairs = f", {run.pairs:,} pairs to train on" if run.pairs is not None else ""
        yield "data", f"{', '.join(run.source)}, {run.languages}{pairs}"
    if run.parameters:
        yield "model", f"{spell_count(run.parameters)} parameters, in {run.model}"
    if run.step is not None:
        yield "steps", f"{run.step:,}" + (f" of {run.total:,}" if run.total else "")
    if run.valid:
        step = f", step {run.valid_step:,}" if run.valid_step else ""
        yield "best valid", f"{spell_scores(run.valid)}{step}"
    for test_set, found in run.tests.items():
        stale = "   (of an earlier checkpoint than translates now)" if found.stale else ""
        yield test_set, f"{spell_scores(found.scores)}, {found.sentences:,} sentences{stale}"
        for name, signature in found.signatures.items():
            yield "", f"{METRICS.get(name, name)}: {signature}"
    if run.seconds is not None:
        starts = f" in {run.starts} starts" if run.starts > 1 else ""
        yield "time", f"{spell_seconds(run.seconds)}{starts}"
    if run.began is not None:
        yield "began", when(run.began)
    if run.active is not None:
        yield "last written", when(run.active)


def spell_scores(scores: Mapping[str, float]) -> str:
    """Scores under their usual names: two digits, and three of a loss."""
    digits = {"loss": 3}
    return "   ".join(
        f"{METRICS.get(name, name)} {value:.{digits.get(name, 2)}f}"
        for name, value in scores.items()
    )
