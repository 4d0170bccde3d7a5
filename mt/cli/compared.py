"""What `mt compare` prints of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.evaluation.comparison import Comparison, Sentences, SideBySide


def lines(found: Comparison) -> Iterator[str]:
    """All of it: scores and tests by metric, buckets, sentences side by side."""
    from mt.evaluation.comparison import SAMPLES
    from mt.evaluation.scores import SEED

    letters = ascii_uppercase
    yield f"{found.test_set}, {found.sentences:,} sentences"
    for letter, system in zip(letters, found.systems, strict=False):
        yield f"{letter}  {system.name}: {system.origin}"
    for metric, scores in found.scores.items():
        yield ""
        yield scores[0].name
        for i, score in enumerate(scores):
            assert score.confidence is not None
            interval = f"μ = {score.confidence.mean:.2f} ± {score.confidence.interval:.2f}"
            yield f"{letters[i]}  {score.value:6.2f}   {interval}"
        for d in found.differences:
            if d.metric == metric:
                yield (
                    f"{letters[d.system]} - {letters[d.baseline]}  {d.difference:+.2f}   "
                    + _p_values(d.p_bootstrap, d.p_randomisation)
                    + _told(letters[d.system], letters[d.baseline], d.verdict)
                )
        for signature in found.signatures[metric].values():
            yield f"   {signature}"
    bootstrap, randomisation = SAMPLES.values()
    yield ""
    yield (
        f"p: how often chance alone makes a difference as large, by paired bootstrap ({bootstrap:,}"
        f" resamples) and by paired approximate randomisation ({randomisation:,} trials), seed "
        f"{SEED}; two-sided, so the same whichever is the baseline. Better, worse: both below 0.05"
    )
    yield from _buckets(found)
    for sentences in found.most:
        yield from _most(found, sentences)


def _p_values(bootstrap: float | None, randomisation: float | None) -> str:
    if bootstrap is None or randomisation is None:
        return ""
    return f"p {bootstrap:.4f} bootstrap, {randomisation:.4f} randomisation   "


def _told(system: str, baseline: str, verdict: str) -> str:
    return {
        "better": f"{system} is better than {baseline}",
        "worse": f"{system} is worse than {baseline}",
        "not told apart": f"{system} and {baseline} cannot be told apart",
        "the tests disagree": f"the tests disagree on {system} and {baseline}",
        "same translations": f"{system} and {baseline} are the same translations",
    }[verdict]


def _buckets(found: Comparison) -> Iterator[str]:
    """The scores of the first metric in each bucket, and what each system has over the first."""
    metric = next(iter(found.scores))
    title = found.scores[metric][0].name
    for by, systems in found.buckets.items():
        yield ""
        others = [f"{ascii_uppercase[i]} - A" for i in range(1, len(systems))]
        width = max(len(bucket.name) for bucket in systems[0])
        head = "".join(f"{cell:>9}" for cell in ["sentences", "A", *others])
        yield f"{title} {by}"
        yield f"  {'':<{width}}  {head}"
        for of_one in zip(*systems, strict=True):
            first, *rest = (bucket.scores[metric] for bucket in of_one)
            cells = [f"{of_one[0].sentences:,}", f"{first:.2f}"]
            cells += [f"{value - first:+.2f}" for value in rest]
            yield f"  {of_one[0].name:<{width}}  " + "".join(f"{cell:>9}" for cell in cells)


def _most(found: Comparison, sentences: Sentences) -> Iterator[str]:
    letter = ascii_uppercase[sentences.system]
    yield ""
    yield (
        f"sentences: {letter} has a higher chrF than A in {sentences.higher:,}, a lower one in "
        f"{sentences.lower:,}, the same in {sentences.equal:,}"
    )
    for title, chosen in (
        (f"where {letter} gains most on A", sentences.better),
        (f"where {letter} loses most to A", sentences.worse),
    ):
        for number, one in enumerate(chosen):
            yield ""
            yield from [title] * (number == 0)
            yield from _side_by_side(one, letter)


def _side_by_side(one: SideBySide, letter: str) -> Iterator[str]:
    yield f"  line {one.line:,}, chrF {one.baseline_chrf:.1f} and {one.system_chrf:.1f}"
    if one.source:
        yield f"    source     {one.source}"
    yield f"    reference  {one.reference}"
    yield f"    A          {one.baseline}"
    yield f"    {letter}          {one.system}"
