"""Greedy search: at each step the likeliest token, for a whole batch at once.

Letters: B sentences, S source length, V target vocabulary, R rows not yet finished.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mt.model.interface import TranslationModel
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID


@dataclass
class Hypothesis:
    """A translation as ids, without SOS and EOS."""

    ids: list[int]
    log_probability: float  # natural logarithm, of the ids and the EOS after them
    cut: bool  # it reached the longest allowed length before EOS


@torch.inference_mode()
def greedy(
    model: TranslationModel, src: Tensor, src_padding: Tensor | None, max_lengths: Tensor
) -> list[Hypothesis]:
    """Translates src (B, S); `max_lengths` (B,) is the most tokens, EOS not counted, of each.

    Rows that are finished leave the batch, so that no work is done for them.
    """
    hypotheses = [Hypothesis([], 0.0, cut=False) for _ in range(src.size(0))]
    state = model.start(model.encode(src, src_padding), src_padding)
    rows = torch.arange(src.size(0), device=src.device)  # (R,) which sentence a row is
    last = torch.full((src.size(0), 1), SOS_ID, device=src.device)  # (R, 1)
    length = 0
    while len(rows):
        scores = model.decode(last, state)[:, -1].float().log_softmax(dim=-1)  # (R, V)
        scores[:, [PAD_ID, SOS_ID]] = -torch.inf
        if length == 0:
            scores[:, EOS_ID] = -torch.inf  # a sentence never becomes nothing
        score, token = scores.max(dim=-1)  # (R,), (R,)
        full = length >= max_lengths[rows]  # no room: whatever it wanted to say is not said
        ended = token == EOS_ID
        length += 1
        _append(hypotheses, rows, token, score, ended, full)
        going = torch.nonzero(~(ended | full)).squeeze(1)
        if len(going) < len(rows):
            state.reorder(going)
            rows, token = rows[going], token[going]
        last = token[:, None]
    return hypotheses


def _append(
    hypotheses: list[Hypothesis],
    rows: Tensor,
    token: Tensor,
    score: Tensor,
    ended: Tensor,
    full: Tensor,
) -> None:
    columns = (rows.tolist(), token.tolist(), score.tolist(), ended.tolist(), full.tolist())
    for row, new, gain, end, out_of_room in zip(*columns, strict=True):
        hypothesis = hypotheses[row]
        if end:
            hypothesis.log_probability += gain
        elif out_of_room:
            hypothesis.cut = True
        else:
            hypothesis.ids.append(new)
            hypothesis.log_probability += gain
