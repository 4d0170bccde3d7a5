"""Whether an export translates as the model does that it is of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mt.decoding.translator import Translator
from mt.errors import RunError
from mt.evaluation.evaluate import TestSet
from mt.evaluation.scores import Score, score
from mt.progress import track
from mt.wording import counted

LEAST_IDENTICAL = 0.995  # of float32; sums in another order may turn a close choice
MOST_BLEU_LOST = 0.3  # of coarser numbers
PART = 1024  # sentences between two signs of progress


@dataclass(frozen=True)
class Comparison:
    """Translations of one test set before and after."""

    sentences: int
    identical: float  # share of translations that are the same text
    before: Score  # BLEU
    after: Score

    def lines(self) -> Iterator[str]:
        """The figures in words."""
        yield f"identical {self.identical:.2%}"
        yield f"before    {self.before}"
        yield f"after     {self.after}"

    def demand(self, least_identical: float | None) -> None:
        """Raises RunError below this share of identical translations; None looks at BLEU alone."""
        if least_identical is not None and self.identical < least_identical:
            raise RunError(
                f"--check: of {counted(self.sentences, 'translation')} {self.identical:.2%} are "
                f"identical, and {least_identical:.2%} are wanted; the export was written all the "
                "same"
            )
        lost = self.before.value - self.after.value
        if least_identical is None and lost > MOST_BLEU_LOST:
            raise RunError(
                f"--check: {lost:.2f} BLEU are lost, and {MOST_BLEU_LOST} may be; the export was "
                "written all the same; choose a finer --quantization"
            )


def compare(
    test_set: TestSet, before: Translator, after: Translator, batch_size: int
) -> Comparison:
    """Translates a test set with both."""
    first, second = (
        _translations(translator, test_set, batch_size) for translator in (before, after)
    )
    same = sum(a == b for a, b in zip(first, second, strict=True))
    bleu = [
        score(texts, test_set.references, after.tgt.language)["bleu"] for texts in (first, second)
    ]
    return Comparison(len(first), same / len(first), *bleu)


def _translations(translator: Translator, test_set: TestSet, batch_size: int) -> list[str]:
    sources = test_set.sources
    parts = [sources[i : i + PART] for i in range(0, len(sources), PART)]
    return [
        translation.text
        for part in track(parts, "translating", len(sources), " sentences", PART)
        for translation in translator.translate(part, batch_size)
    ]
