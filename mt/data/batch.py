"""A batch: id tensors padded to the longest pair in it, and which of the places are real.

Letters: B pairs, S source length, T target length, N real target tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from mt.data.masks import padding_mask
from mt.data.ragged import Ids
from mt.text.tokenizer import PAD_ID


@dataclass(frozen=True)
class Batch:
    """Source `[SOS] … [EOS]`; target in `[SOS] …`, target out `… [EOS]`, shifted by one."""

    src: Tensor  # (B, S)
    src_padding: Tensor | None  # (B, S), True at padding; None when there is none
    tgt_in: Tensor  # (B, T)
    tgt_out: Tensor  # (B, T)
    real: Tensor  # (N,) where tgt_out is not padding, as places in its B * T
    real_places: int  # source and target places that are not padding

    @property
    def tokens(self) -> int:
        """Real target tokens, EOS included: what the loss is over."""
        return len(self.real)

    @property
    def places(self) -> int:
        """Source and target places, padding included."""
        return self.src.numel() + self.tgt_in.numel()

    def ready_for(self, device: torch.device) -> Batch:
        """The same batch where `to` can fetch it for a GPU without waiting: in pinned memory."""
        return self._each(Tensor.pin_memory) if device.type == "cuda" else self

    def to(self, device: torch.device) -> Batch:
        """The same batch on `device`."""
        if device.type == "cpu":
            return self
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        padding = self.src_padding
        return replace(
            self,
            src=change(self.src),
            src_padding=None if padding is None else change(padding),
            tgt_in=change(self.tgt_in),
            tgt_out=change(self.tgt_out),
            real=change(self.real),
        )


def halves(batch: Batch) -> tuple[Batch, Batch]:
    """The first and the second half of the pairs of `batch`, which has two or more."""
    middle = len(batch.src) // 2
    return _rows(batch, slice(None, middle)), _rows(batch, slice(middle, None))


def _rows(batch: Batch, rows: slice) -> Batch:
    src, tgt_out = batch.src[rows], batch.tgt_out[rows]
    real = torch.nonzero(tgt_out.flatten() != PAD_ID).squeeze(1)
    real_places = int((src != PAD_ID).sum()) + len(real)
    return Batch(src, padding_mask(src, PAD_ID), batch.tgt_in[rows], tgt_out, real, real_places)


def collate(src: Sequence[Ids], tgt: Sequence[Ids]) -> Batch:
    """A batch of framed rows, both `[SOS] … [EOS]`."""
    src_ids = pad(src)
    tgt_in = pad([row[:-1] for row in tgt])
    tgt_out = pad([row[1:] for row in tgt])
    real = torch.from_numpy(np.flatnonzero(tgt_out.numpy() != PAD_ID))
    real_places = sum(map(len, src)) + len(real)
    return Batch(src_ids, padding_mask(src_ids, PAD_ID), tgt_in, tgt_out, real, real_places)


def pad(rows: Sequence[Ids]) -> Tensor:
    """Rows of ids to one (B, longest) tensor of int64, padded on the right."""
    padded = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(padded)
