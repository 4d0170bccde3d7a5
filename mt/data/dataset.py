"""BilingualDataset: sentence pairs as ids, framed by SOS and EOS; and how text becomes one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import datasets
import numpy as np
from numpy.typing import NDArray

from mt.data.batch import Batch, collate, frame
from mt.data.ragged import Ids, Ragged
from mt.text.tokenizer import UNK_ID, Tokenizer


class Example(NamedTuple):
    """One pair: the encoder's input, the decoder's input, and what the decoder should say."""

    src: Ids  # [SOS] … [EOS]
    tgt_in: Ids  # [SOS] …
    tgt_out: Ids  # … [EOS]


class BilingualDataset:
    """The pairs of a split that fit into `max_length` tokens a side, SOS and EOS included.

    `encoded` has list<int32> columns "src_ids" and "tgt_ids", without SOS and EOS; they stay
    where they are, memory-mapped, and only the lengths are held in memory.
    """

    def __init__(self, encoded: datasets.Dataset, max_length: int) -> None:
        table = encoded.data
        self._src = Ragged(table.column("src_ids"))
        self._tgt = Ragged(table.column("tgt_ids"))
        lengths = np.stack((self._src.lengths(), self._tgt.lengths()), axis=1) + np.int32(2)
        fits = lengths.max(axis=1, initial=0) <= max_length
        self._rows: NDArray[np.int64] = np.flatnonzero(fits)
        self.too_long: NDArray[np.int64] = np.flatnonzero(~fits)  # rows of the split left out
        self.lengths: Ids = lengths[fits]  # (N, 2) source and target tokens, SOS and EOS included

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Example:
        src, tgt = self._framed(index)
        return Example(src, tgt[:-1], tgt[1:])

    def batch(self, indices: Iterable[int]) -> Batch:
        """The pairs at `indices`, padded to the longest of them."""
        pairs = [self._framed(int(index)) for index in indices]
        return collate([src for src, _ in pairs], [tgt for _, tgt in pairs])

    def unknown_shares(self, most: int = 20_000) -> tuple[float, float]:
        """The share of unknown source and target tokens, in the first `most` pairs."""
        rows = self._rows[:most].tolist()
        return _unknown_share(self._src, rows), _unknown_share(self._tgt, rows)

    def _framed(self, index: int) -> tuple[Ids, Ids]:
        row = int(self._rows[index])
        return frame(self._src[row]), frame(self._tgt[row])


def _unknown_share(ids: Ragged, rows: list[int]) -> float:
    unknown = sum(int((ids[row] == UNK_ID).sum()) for row in rows)
    return unknown / max(1, sum(len(ids[row]) for row in rows))


def encode_split(split: datasets.Dataset, src: Tokenizer, tgt: Tokenizer) -> datasets.Dataset:
    """Text columns "src" and "tgt" to id columns; done once and kept in the `datasets` cache.

    What is kept is found again only for the same text and the same tokenizers.
    """

    def encode(rows: dict[str, list[str]]) -> dict[str, Any]:
        return {"src_ids": src.encode_batch(rows["src"]), "tgt_ids": tgt.encode_batch(rows["tgt"])}

    ids = datasets.Sequence(datasets.Value("int32"))
    features = datasets.Features({"src_ids": ids, "tgt_ids": ids})
    if not len(split):  # `map` would give back the columns of the text
        return datasets.Dataset.from_dict({"src_ids": [], "tgt_ids": []}, features=features)
    key = "".join((split._fingerprint, src.to_json(), tgt.to_json()))
    return split.map(
        encode,
        batched=True,
        remove_columns=split.column_names,
        features=features,
        new_fingerprint=hashlib.sha256(key.encode()).hexdigest()[:32],
        desc="to ids",
    )
