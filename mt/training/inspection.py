"""What training would see of the data: lengths, vocabulary, batches, samples, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mt.config import Config
from mt.data.dataset import BilingualDataset
from mt.data.frame import FRAME
from mt.data.plan import BatchPlan, BatchSize, padding_share, plan_batches
from mt.text.report import DataReport
from mt.text.tokenizer import Tokenizer
from mt.training.data import TrainingData
from mt.wording import counted

UNKNOWN_WARNING = 0.02
EXAMPLES = 3
SAMPLES = 5
BINS = (5, 10, 15, 20, 30, 40, 60, 80, 120, 200)  # upper ends, of the histogram of lengths


@dataclass(frozen=True)
class Lengths:
    """How long the sentences of one side are, in tokens without SOS and EOS."""

    mean: float
    median: int
    longest: int
    histogram: dict[str, int]  # "1-5": sentences, and so on


@dataclass(frozen=True)
class Side:
    """One language of the training pairs."""

    language: str
    vocabulary: int
    unknown_train: float  # share of tokens
    unknown_valid: float | None
    lengths: Lengths
    tokens: int  # of an epoch, SOS and EOS not counted


@dataclass(frozen=True)
class Sample:
    """A pair as text, as tokens, and put back together from its ids."""

    src: str
    src_tokens: list[str]
    src_back: str
    tgt: str
    tgt_tokens: list[str]
    tgt_back: str


@dataclass(frozen=True)
class Inspection:
    """Everything that `mt data` shows, and the part of it that `mt train` shows first."""

    corpus: DataReport
    pairs: dict[str, int]  # per split, those that are short enough
    too_long: dict[str, dict[str, Any]]  # per split: count, limit, rows (the first few)
    sides: tuple[Side, Side]
    shared_vocabulary: bool  # one for both sides
    batches: int
    padding: float
    samples: list[Sample]

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings, ready for JSON."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """What a person should know before step 1."""
        yield from self.corpus.lines()
        for split, found in self.too_long.items():
            count, pairs = found["count"], counted(found["count"], f"{split} pair")
            rows = f"row{'s' * (count != 1)} {', '.join(map(str, found['rows']))}"
            rows += ", ..." * (count > EXAMPLES)
            yield (
                f"left out     {pairs} too long: over data.max_length "
                f"({found['limit']} tokens a side); {rows}"
            )
        src, tgt = self.sides
        if self.shared_vocabulary:
            yield f"vocabulary   {src.vocabulary:,}, shared by {src.language} and {tgt.language}"
        else:
            yield (
                f"vocabulary   {src.vocabulary:,} {src.language}, {tgt.vocabulary:,} {tgt.language}"
            )
        yield from self._unknown()

    def _unknown(self) -> Iterator[str]:
        src, tgt = self.sides
        where = "train" if src.unknown_valid is None else "valid"
        shares = [
            s.unknown_train if s.unknown_valid is None else s.unknown_valid for s in (src, tgt)
        ]
        yield (
            f"unknown      {shares[0]:.1%} of {src.language} and {shares[1]:.1%} of "
            f"{tgt.language} tokens in {where}"
        )
        if max(shares) > UNKNOWN_WARNING:
            yield (
                "warning      over 2 % of the tokens are unknown to the model: "
                "tokenizer.kind: bpe has no unknown words; a lower tokenizer.min_frequency "
                "or more text leaves fewer"
            )


def inspect(config: Config, data: TrainingData, plan: BatchPlan | None = None) -> Inspection:
    """Looks at the data that a run with `config` would train on; `plan` is its first epoch's."""
    if plan is None:
        size = BatchSize(config.training.pairs_per_batch, config.training.batch_tokens)
        plan = plan_batches(data.train.lengths, size, config.seed, epoch=0)
    datasets = {"train": data.train, "valid": data.valid}
    return Inspection(
        corpus=data.corpus.report,
        pairs={name: len(dataset) for name, dataset in datasets.items()},
        too_long={
            name: _too_long(dataset, data, name, config.data.max_length)
            for name, dataset in datasets.items()
            if len(dataset.too_long)
        },
        sides=_sides(data),
        shared_vocabulary=config.tokenizer.shared,
        batches=len(plan),
        padding=padding_share(data.train.lengths, plan),
        samples=[_sample(data, i) for i in range(min(SAMPLES, len(data.train)))],
    )


def _too_long(
    dataset: BilingualDataset, data: TrainingData, split: str, limit: int
) -> dict[str, Any]:
    text = data.corpus.splits[split]
    rows = [text[int(row)]["row"] for row in dataset.too_long[:EXAMPLES]]
    return {"count": len(dataset.too_long), "limit": limit, "rows": rows}


def _sides(data: TrainingData) -> tuple[Side, Side]:
    train = data.train.unknown_shares()
    valid = data.valid.unknown_shares() if len(data.valid) else (None, None)
    src, tgt = (
        _side(tokenizer, data.train.lengths[:, i], train[i], valid[i])
        for i, tokenizer in enumerate((data.src, data.tgt))
    )
    return src, tgt


def _side(
    tokenizer: Tokenizer, framed: NDArray[np.integer[Any]], train: float, valid: float | None
) -> Side:
    # Counted by value: a length is small, and there may be millions of them.
    counts = _count(framed)[FRAME:]
    lengths = np.arange(len(counts))
    total = int((counts * lengths).sum())
    half = int(np.searchsorted(counts.cumsum(), (len(framed) + 1) // 2))
    found = Lengths(total / len(framed), half, len(counts) - 1, _histogram(counts))
    return Side(tokenizer.language, tokenizer.vocab_size, train, valid, found, total)


def _count(lengths: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """How often each length occurs; a million at a time, as numpy widens what it counts."""
    counts = np.zeros(int(lengths.max()) + 1, dtype=np.int64)
    for first in range(0, len(lengths), 10**6):
        counts += np.bincount(lengths[first : first + 10**6], minlength=len(counts))
    return counts


def _histogram(counts: NDArray[np.int64]) -> dict[str, int]:
    edges = [0, *(end for end in BINS if end < len(counts) - 1), len(counts) - 1]
    return {
        f"{low + 1}-{high}": int(counts[low + 1 : high + 1].sum()) for low, high in pairwise(edges)
    }


def _sample(data: TrainingData, index: int) -> Sample:
    row = data.corpus.splits["train"][data.train.row(index)]
    src, tgt = row["src"], row["tgt"]
    return Sample(
        src,
        data.src.tokens(src),
        data.src.decode(data.src.encode(src)),
        tgt,
        data.tgt.tokens(tgt),
        data.tgt.decode(data.tgt.encode(tgt)),
    )
