"""Greedy search: at each step the likeliest token, for a whole batch at once.

Letters: B sentences, S source length, V target vocabulary, R rows not yet finished.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mt.decoding.engine import Hypothesis
from mt.model.interface import State, TranslationModel
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID


@torch.inference_mode()
def greedy(
    model: TranslationModel,
    src: Tensor,
    src_padding: Tensor | None,
    max_lengths: Tensor,
    *,
    banned: Sequence[int] = (),
    align: bool = False,
) -> list[Hypothesis]:
    """Translates src (B, S); `max_lengths` (B,) is the most tokens, EOS not counted, of each.

    Tokens with the ids `banned` are never chosen. Rows that are finished leave the batch, so that
    no work is done for them.
    """
    hypotheses = [Hypothesis([], 0.0, cut=False) for _ in range(src.size(0))]
    state = model.start(model.encode(src, src_padding), src_padding, watch=align)
    rows = torch.arange(src.size(0), device=src.device)  # (R,) which sentence a row is
    last = torch.full((src.size(0), 1), SOS_ID, device=src.device)  # (R, 1)
    never = [PAD_ID, SOS_ID, *banned]
    length = 0
    while len(rows):
        scores = model.decode(last, state)[:, -1].float().log_softmax(dim=-1)  # (R, V)
        scores[:, never] = -torch.inf
        if length == 0:
            scores[:, EOS_ID] = -torch.inf  # a sentence never becomes nothing
        score, token = scores.max(dim=-1)  # (R,), (R,)
        full = length >= max_lengths[rows]  # no room: whatever it wanted to say is not said
        ended = token == EOS_ID
        looked = _looked_at(state, src[rows]) if align else None
        length += 1
        _append(hypotheses, rows, token, score, ended, full, looked)
        going = torch.nonzero(~(ended | full)).squeeze(1)
        if len(going) < len(rows):
            state.reorder(going)
            rows, token = rows[going], token[going]
        last = token[:, None]
    return hypotheses


def _looked_at(state: State, src: Tensor) -> Tensor:
    """(R,) the source place that the newest token of each row looked at most.

    That is by the mean over layers and heads, among the places of src (R, S) that hold a word.
    """
    assert state.attention is not None
    weights = state.attention[:, :, :, -1].mean(dim=(1, 2))  # (R, L, H, S) -> (R, S)
    words = (src != PAD_ID) & (src != SOS_ID) & (src != EOS_ID)
    return weights.masked_fill(~words, -1.0).argmax(dim=-1)


def _append(
    hypotheses: list[Hypothesis],
    rows: Tensor,
    token: Tensor,
    score: Tensor,
    ended: Tensor,
    full: Tensor,
    looked: Tensor | None,
) -> None:
    columns = (rows.tolist(), token.tolist(), score.tolist(), ended.tolist(), full.tolist())
    places = looked.tolist() if looked is not None else [None] * len(rows)
    for row, new, gain, end, out_of_room, place in zip(*columns, places, strict=True):
        hypothesis = hypotheses[row]
        if end:
            hypothesis.log_probability += gain
            hypothesis.token_log_probabilities.append(gain)
        elif out_of_room:
            hypothesis.cut = True
        else:
            hypothesis.ids.append(new)
            hypothesis.token_log_probabilities.append(gain)
            hypothesis.log_probability += gain
            if place is not None:
                hypothesis.alignment.append(place)
