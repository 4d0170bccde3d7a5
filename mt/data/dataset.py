"""BilingualDataset: sentence pairs as ids, framed by SOS and EOS, ready to be put into batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import datasets
import numpy as np
from numpy.typing import NDArray

from mt.data.batch import Batch, collate
from mt.data.encode import EncodedSplit
from mt.data.frame import frame
from mt.data.ragged import Ids, Lengths, Ragged
from mt.text.tokenizer import UNK_ID, Tokenizer

PAIRS_MAPPED = 8  # pairs read before the pages around them, some megabytes each, are let go


class Example(NamedTuple):
    """One pair: the encoder's input, the decoder's input, and what the decoder should say."""

    src: Ids  # [SOS] … [EOS]
    tgt_in: Ids  # [SOS] …
    tgt_out: Ids  # … [EOS]


class BilingualDataset:
    """The pairs of a split that fit into `max_length` tokens a side, SOS and EOS included.

    The ids stay where they are, memory-mapped; only lengths are held in memory.
    """

    def __init__(self, encoded: EncodedSplit, max_length: int) -> None:
        self._src, self._tgt, self._mapped = encoded.src, encoded.tgt, encoded.mapped
        # A million at a time: all at once would need several times the memory of the lengths.
        lengths, million = encoded.lengths, 10**6
        parts = [lengths[i : i + million] for i in range(0, len(lengths), million)]
        long = [np.flatnonzero(part.max(axis=1) > max_length) for part in parts]
        # Rows of the split that are left out.
        self.too_long: NDArray[np.int64] = np.concatenate(
            [np.zeros(0, np.int64), *(rows + i * million for i, rows in enumerate(long))]
        )
        # All rows fit as a rule, and then no list of them is needed.
        self._rows: NDArray[np.uint32] | None = None
        if len(self.too_long):
            self._rows = np.delete(np.arange(len(lengths), dtype=np.uint32), self.too_long)
            lengths = lengths[self._rows]
        self.lengths: Lengths = lengths  # (N, 2) tokens, SOS and EOS included

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Example:
        src, tgt = self._framed(self.row(index))
        return Example(src, tgt[:-1], tgt[1:])

    def row(self, index: int) -> int:
        """The row of the split that pair `index` is in."""
        return int(index) if self._rows is None else int(self._rows[index])

    def batch(self, indices: Iterable[int], epoch: int = 0) -> Batch:
        """The pairs at `indices` as they are in `epoch`, padded to the longest of them."""
        pairs = []
        for number, index in enumerate(indices, 1):
            pairs.append(self._framed(self.row(index)))
            if number % PAIRS_MAPPED == 0:
                self._mapped.release()
        self._mapped.release()
        return collate([src for src, _ in pairs], [tgt for _, tgt in pairs])

    def unknown_shares(self, most: int = 20_000) -> tuple[float, float]:
        """The share of unknown source and target tokens, in the first `most` pairs."""
        rows = [self.row(index) for index in range(min(most, len(self)))]
        shares = _unknown_share(self._src, rows), _unknown_share(self._tgt, rows)
        self._mapped.release()
        return shares

    def _framed(self, row: int) -> tuple[Ids, Ids]:
        return frame(self._src[row]), frame(self._tgt[row])


class ResampledDataset(BilingualDataset):
    """The same pairs, cut into subwords anew in each epoch (BPE-dropout, Provilkov et al. 2020).

    The cut is a function of (seed, epoch, row). Lengths are those without dropout: a batch may be
    somewhat longer than planned.
    """

    def __init__(
        self,
        encoded: EncodedSplit,
        max_length: int,
        *,
        text: datasets.Dataset,
        tokenizers: tuple[Tokenizer, Tokenizer],
        dropout: float,
        seed: int,
    ) -> None:
        super().__init__(encoded, max_length)
        self._text, self._tokenizers = text, tokenizers
        self._dropout, self._seed = dropout, seed

    def batch(self, indices: Iterable[int], epoch: int = 0) -> Batch:
        rows = [self.row(index) for index in indices]
        text = self._text[rows]
        sides = [
            [
                frame(self._sample(side, words, row, epoch))
                for words, row in zip(column, rows, strict=True)
            ]
            for side, column in enumerate((text["src"], text["tgt"]))
        ]
        return collate(*sides)

    def _sample(self, side: int, text: str, row: int, epoch: int) -> list[int]:
        sample = hash((self._seed, epoch, row, side))  # of integers: the same in any process
        return self._tokenizers[side].encode(text, sample=sample, dropout=self._dropout)


def _unknown_share(ids: Ragged, rows: list[int]) -> float:
    unknown = sum(int((ids[row] == UNK_ID).sum()) for row in rows)
    return unknown / max(1, sum(len(ids[row]) for row in rows))
