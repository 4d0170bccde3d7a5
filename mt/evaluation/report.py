"""The report of an evaluation: scores, and what else there is to know of translations.

It is a function of texts alone, so that it says the same of a model and of files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mt.evaluation.buckets import (
    Bucket,
    BucketScores,
    by_document,
    by_frequency,
    by_length,
    score_buckets,
)
from mt.evaluation.evaluate import TestSet
from mt.evaluation.scores import LESS_IS_BETTER, RESAMPLES, USUAL, Score, Scorer
from mt.text.sentences import space_between

REPEATED = 4  # tokens of the n-grams that are looked for
DOCUMENTS_SHOWN = 10


@dataclass(frozen=True)
class Wanted:
    """What is to be in a report."""

    metrics: Sequence[str] = USUAL
    resamples: int = RESAMPLES  # for confidence intervals; 0 for none
    examples: int = 3  # of the worst translations, and of typical ones


@dataclass(frozen=True)
class Example:
    """A sentence side by side."""

    line: int  # from 1
    chrf: float
    source: str
    references: list[str]
    translation: str


@dataclass(frozen=True)
class Documents:
    """Scores of documents. In `scores` each is one long sentence (Liu et al. 2020, d-BLEU)."""

    scores: dict[str, Score]
    each: list[BucketScores]


@dataclass(frozen=True)
class Report:
    """Everything about translations of a test set that can be told from texts."""

    scores: dict[str, Score]  # by metric
    hypothesis_tokens: int  # as BLEU counts them
    reference_tokens: int  # of the reference nearest in length
    repeated: float  # see `repeated_share`
    repeated_in_references: float
    buckets: dict[str, list[BucketScores]]  # by what they are by
    worst: list[Example]  # the lowest chrF first
    typical: list[Example]  # those about the median chrF
    documents: Documents | None = None

    @property
    def length_ratio(self) -> float:
        """Tokens of the translations for one of the references; BLEU punishes less than 1."""
        return self.hypothesis_tokens / max(1, self.reference_tokens)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings, ready for JSON."""
        whole = {
            **{name: asdict(score) for name, score in self.scores.items()},
            "length_ratio": {
                "ratio": self.length_ratio,
                "hypothesis_tokens": self.hypothesis_tokens,
                "reference_tokens": self.reference_tokens,
            },
            "repeated_4_grams": {
                "hypotheses": self.repeated,
                "references": self.repeated_in_references,
            },
            "buckets": {by: [asdict(b) for b in buckets] for by, buckets in self.buckets.items()},
            "worst": [asdict(example) for example in self.worst],
            "typical": [asdict(example) for example in self.typical],
        }
        if self.documents:
            whole["documents"] = {
                **{name: asdict(score) for name, score in self.documents.scores.items()},
                "each": [asdict(document) for document in self.documents.each],
            }
        return whole

    def score_lines(self) -> Iterator[str]:
        """The scores of all sentences, a line each."""
        for name, score in self.scores.items():
            yield f"{score}{', less is better' if name in LESS_IS_BETTER else ''}"

    def fact_lines(self) -> Iterator[str]:
        """Other figures of all sentences."""
        yield (
            f"length ratio      {self.length_ratio:.3f}   ({self.hypothesis_tokens:,} tokens, "
            f"{self.reference_tokens:,} in the references)"
        )
        yield (
            f"repeated 4-grams  {self.repeated:.1%}   ({self.repeated_in_references:.1%} in the "
            "references)"
        )

    def more_lines(self) -> Iterator[str]:
        """Documents, buckets and examples."""
        if self.documents:
            yield from self._document_lines(self.documents)
        names = {name: score.name for name, score in self.scores.items()}
        for by, buckets in self.buckets.items():
            yield ""
            yield from _table(by, buckets, names)
        for kind, examples in (("worst", self.worst), ("typical", self.typical)):
            if examples:
                yield ""
                yield f"{kind}, by the chrF2 of a sentence"
            for example in examples:
                yield from _side_by_side(example)

    def _document_lines(self, documents: Documents) -> Iterator[str]:
        yield ""
        yield f"{len(documents.each):,} documents, each scored as one sentence"
        yield from (f"document {score}" for score in documents.scores.values())
        by = next(iter(documents.scores))
        lowest = sorted(documents.each, key=lambda document: document.scores[by])
        names = {name: score.name for name, score in documents.scores.items()}
        which = "by document"
        if len(lowest) > DOCUMENTS_SHOWN:
            which += f", the lowest {DOCUMENTS_SHOWN}"
        yield ""
        yield from _table(which, lowest[:DOCUMENTS_SHOWN], names)


def make_report(
    test_set: TestSet,
    hypotheses: Sequence[str],
    languages: tuple[str, str],
    wanted: Wanted,
    frequency: Mapping[str, int] | None = None,
) -> Report:
    """Scores `hypotheses`, and looks at them.

    `languages` are the codes of source and target, "" where they are not known; `frequency` is how
    often words are in the training data, None where that is not known.
    Raises `UserError` when the counts differ or there is nothing to score.
    """
    tgt = languages[1]
    names = {**dict.fromkeys(wanted.metrics), "bleu": None, "chrf": None}
    scorers = {name: Scorer(name, hypotheses, test_set.streams, tgt) for name in names}
    shown = {name: scorers[name] for name in wanted.metrics}
    lengths = scorers["bleu"].lengths
    worst, typical = _examples(test_set, hypotheses, scorers["chrf"], wanted.examples)
    return Report(
        scores={name: scorer.corpus(wanted.resamples) for name, scorer in shown.items()},
        hypothesis_tokens=lengths[0],
        reference_tokens=lengths[1],
        repeated=repeated_share(hypotheses, tgt),
        repeated_in_references=repeated_share(
            [text for stream in test_set.streams for text in stream], tgt
        ),
        buckets={
            by: score_buckets(buckets, shown)
            for by, buckets in _buckets(test_set, languages, frequency).items()
        },
        worst=worst,
        typical=typical,
        documents=_documents(test_set, hypotheses, shown, tgt) if test_set.documents else None,
    )


def repeated_share(texts: Sequence[str], language: str = "") -> float:
    """The share of 4-grams that were in the same text before; of words as spaces part them, or of
    characters where the language is written without spaces. 0 where texts are too short for any.
    """
    total = again = 0
    for text in texts:
        tokens = text.split() if space_between(language) else list("".join(text.split()))
        grams = Counter(zip(*(tokens[i:] for i in range(REPEATED)), strict=False))
        total += grams.total()
        again += grams.total() - len(grams)
    return again / max(1, total)


def joined_by_document(lines: Sequence[str], documents: Sequence[Bucket]) -> list[str]:
    """The sentences of each document in a row."""
    return [" ".join(lines[place] for place in document.places) for document in documents]


def _documents(
    test_set: TestSet, hypotheses: Sequence[str], shown: Mapping[str, Scorer], language: str
) -> Documents:
    """TER is left out of the scores: its search for shifts does not end in useful time."""
    documents = by_document(test_set.documents)
    texts = joined_by_document(hypotheses, documents)
    streams = [joined_by_document(stream, documents) for stream in test_set.streams]
    metrics = [name for name in shown if name != "ter"] or ["bleu"]
    scores = {name: Scorer(name, texts, streams, language).corpus() for name in metrics}
    return Documents(scores, score_buckets(documents, shown))


def _buckets(
    test_set: TestSet, languages: tuple[str, str], frequency: Mapping[str, int] | None
) -> dict[str, list[Bucket]]:
    src, tgt = languages
    if not test_set.sources:
        return {"by length of the reference": by_length(test_set.references, tgt)}
    buckets = {"by length of the source": by_length(test_set.sources, src)}
    if frequency is not None:
        rarest = by_frequency(test_set.sources, frequency, src)
        buckets["by the rarest source word in training"] = rarest
    return buckets


def _examples(
    test_set: TestSet, hypotheses: Sequence[str], chrf: Scorer, count: int
) -> tuple[list[Example], list[Example]]:
    scores = [chrf.of([place]) for place in range(len(hypotheses))]
    order = sorted(range(len(scores)), key=lambda place: (scores[place], place))
    middle = max(0, (len(order) - count) // 2)
    chosen = order[:count], order[middle : middle + count]
    worst, typical = (
        [
            Example(
                place + 1,
                scores[place],
                test_set.sources[place] if test_set.sources else "",
                [stream[place] for stream in test_set.streams],
                hypotheses[place],
            )
            for place in places
        ]
        for places in chosen
    )
    return worst, typical


def _table(by: str, rows: Sequence[BucketScores], names: Mapping[str, str]) -> Iterator[str]:
    width = max(len(by), *(len(row.name) for row in rows)) if rows else len(by)
    yield f"{by:<{width}}  sentences" + "".join(f"{name:>9}" for name in names.values())
    for row in rows:
        figures = "".join(f"{row.scores[name]:>9.2f}" for name in names)
        yield f"{row.name:<{width}}  {row.sentences:>9,}{figures}"


def _side_by_side(example: Example) -> Iterator[str]:
    yield f"line {example.line:,}, chrF2 {example.chrf:.2f}"
    if example.source:
        yield f"  source       {example.source}"
    for reference in example.references:
        yield f"  reference    {reference}"
    yield f"  translation  {example.translation}"
