"""A sentence as the models read it: its ids between SOS and EOS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt.data.ragged import Ids
from mt.text.tokenizer import EOS_ID, SOS_ID

FRAME = 2  # SOS and EOS


def frame(ids: Sequence[int] | Ids) -> Ids:
    """`[SOS] ids [EOS]`."""
    framed = np.empty(len(ids) + FRAME, dtype=np.int32)
    framed[0], framed[1:-1], framed[-1] = SOS_ID, ids, EOS_ID
    return framed
