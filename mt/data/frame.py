"""A sentence as the models read it: its ids between SOS and EOS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mt.text.tokenizer import EOS_ID, SOS_ID

if TYPE_CHECKING:
    from mt.data.ragged import Ids

FRAME = 2  # SOS and EOS


def frame(ids: Ids) -> Ids:
    """`[SOS] ids [EOS]`, a list of a list and an array of an array."""
    if isinstance(ids, list):  # without numpy, which takes time to import
        return [SOS_ID, *ids, EOS_ID]
    import numpy as np

    framed = np.empty(len(ids) + FRAME, dtype=np.int32)
    framed[0], framed[1:-1], framed[-1] = SOS_ID, ids, EOS_ID
    return framed
