"""The search: K hypotheses of each sentence grow token by token; with K = 1 it is greedy.

Of the K likeliest continuations those that end are taken in, and the likeliest others go on: the
beam stays K wide. A sentence leaves the batch when `Search.enough` hypotheses of it have ended, or
when nothing in its beam can win.
Letters: N open sentences, K beams, R = N K rows, C options of each row, M candidates of a sentence,
S source length, T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mt.decoding.engine import Hypothesis, Search
from mt.decoding.finished import Finished, tolerance
from mt.decoding.options import Chooser, Options
from mt.decoding.rules import FREE, Rules
from mt.decoding.sampling import Sampler
from mt.model.interface import State, TranslationModel
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID


@torch.inference_mode()
def beam_search(
    model: TranslationModel,
    src: Tensor,
    src_padding: Tensor | None,
    max_lengths: Sequence[int],
    prefixes: Sequence[Sequence[int]],
    search: Search,
    sampler: Sampler | None = None,
) -> list[Finished]:
    """The finished hypotheses of src (N, S); `max_lengths` and `prefixes` as in `Engine.search`.

    With a sampler, each token is drawn, and `beam_size` must be 1.
    """
    beams = Beams(src, max_lengths, prefixes, search)
    chooser = Chooser(model.projection, Rules(search), beams.options, sampler)
    memory = model.encode(src, src_padding)
    state = model.start(memory, src_padding, watch=search.align, beams=beams.width)
    last = torch.full((len(src) * beams.width, 1), SOS_ID, device=src.device)
    while len(beams.sentences):
        features = model.advance(last, state)[:, -1]  # (R, D)
        options = chooser.options(features, beams.said.flatten(0, 1), beams.forced())
        looked = _looked_at(state, beams.src) if search.align else None
        open_before = len(beams.sentences)
        rows = beams.grow(options, looked)
        if len(beams.sentences) < open_before:
            state.reorder(rows)
            if sampler is not None:
                sampler.keep(rows.tolist())
        elif beams.width > 1:
            state.follow(rows)
        last = beams.said[:, :, -1].reshape(-1, 1)
    return beams.finished


def _looked_at(state: State, src: Tensor) -> Tensor:
    """(N, K) the source place that the newest token of each row looked at most.

    That is by the mean over layers and heads, among the places of src (N, S) that hold a word.
    """
    assert state.attention is not None
    weights = state.attention[:, :, :, -1].mean(dim=(1, 2))  # (R, L, H, S) -> (R, S)
    words = (src != PAD_ID) & (src != SOS_ID) & (src != EOS_ID)
    by_sentence = weights.view(len(src), -1, src.size(1))  # (N, K, S)
    return by_sentence.masked_fill(~words[:, None], -1.0).argmax(dim=-1)


class Beams:
    """The open hypotheses of the open sentences; one that is not there has score -infinity."""

    def __init__(
        self,
        src: Tensor,
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> None:
        count, self.width, device = len(src), search.beam_size, src.device
        self.options = self.width + 2  # of a row: K that go on, its end, and one to see how near
        self.search = search
        self.finished = [Finished(search.n_best) for _ in range(count)]
        self.src = src  # (N, S)
        self.sentences = torch.arange(count, device=device)  # (N,) places in `finished`
        self.max_lengths = torch.tensor(max_lengths, device=device)  # (N,)
        self.prefixes = _padded(prefixes).to(device)  # (N, longest prefix)
        # The most that a log-probability can still be divided by.
        penalties = [search.penalty(length + 1) for length in max_lengths]
        self.penalties = torch.tensor(penalties, device=device)  # (N,)
        self.ended = torch.zeros(count, dtype=torch.long, device=device)  # (N,) hypotheses
        self.said = torch.empty(count, self.width, 0, dtype=torch.long, device=device)  # (N, K, T)
        self.gains = torch.empty(count, self.width, 0, device=device)  # by the model alone
        self.places = torch.empty_like(self.said)  # what it looked at, if that is asked for
        exact = torch.float32 if device.type == "mps" else torch.float64  # mps has no other
        self.scores = torch.full((count, self.width), -torch.inf, dtype=exact, device=device)
        self.scores[:, 0] = 0.0  # all begin alike: one is enough
        self.to_beat = torch.full((count,), -torch.inf, dtype=exact, device=device)  # (N,)

    def forced(self) -> Tensor | None:
        """(R,) the token that the prefix of each row forces it to say next, or FREE."""
        length = self.said.size(2)
        if length >= self.prefixes.size(1):
            return None
        return self.prefixes[:, length].repeat_interleave(self.width)

    def grow(self, options: Options, looked: Tensor | None) -> Tensor:
        """A token more for the best; the rows (R of what is left) that they grew from."""
        wide = (len(self.sentences), -1)
        count = options.gains.size(1)
        totals = self.scores[:, :, None] + options.gains.view(*self.scores.shape, count)
        most = min(2 * self.width + 1, totals[0].numel())  # as many as K may end, and K + 1 go on
        top, index = totals.flatten(1).topk(most)  # (N, M)
        token = options.tokens.view(wide).gather(1, index)
        ends = token == EOS_ID
        going_on, place = top.masked_fill(ends, -torch.inf).topk(self.width + 1)
        full = self.said.size(2) >= self.max_lengths  # (N,)
        self._note_close(top, ends, going_on, full, options)
        gain = options.plain.view(wide).gather(1, index)
        ended = (ends & (top != -torch.inf) & ~full[:, None])[:, : self.width]  # (N, K)
        self._finish(ended, index // count, top, gain)
        self._finish_full(full, options)
        self.ended = self.ended + ended.sum(dim=1)
        place = place[:, :-1]
        over = full | (self.ended >= self.search.enough)
        scores = going_on[:, :-1].masked_fill(over[:, None], -torch.inf)
        parent = (index // count).gather(1, place)
        going = torch.nonzero(self._may_win(scores)).squeeze(1)
        if looked is None:
            looked = self.places.new_zeros(self.scores.shape)
        looked = looked.gather(1, parent)
        return self._keep(
            going, scores, parent, token.gather(1, place), gain.gather(1, place), looked
        )

    def _keep(
        self,
        going: Tensor,
        scores: Tensor,
        parent: Tensor,
        token: Tensor,
        gain: Tensor,
        looked: Tensor,
    ) -> Tensor:
        parent = parent[going]  # (N, K), of what is left from here on

        def longer(past: Tensor, new: Tensor) -> Tensor:
            return torch.cat((past[going[:, None], parent], new[going][:, :, None]), dim=2)

        self.said, self.gains = longer(self.said, token), longer(self.gains, gain)
        if self.search.align:
            self.places = longer(self.places, looked)
        self.scores = scores[going]
        if len(going) < len(self.sentences):
            self.src, self.sentences = self.src[going], self.sentences[going]
            self.max_lengths, self.penalties = self.max_lengths[going], self.penalties[going]
            self.prefixes, self.ended = self.prefixes[going], self.ended[going]
            self.to_beat = self.to_beat[going]
        return (going[:, None] * self.width + parent).flatten()

    def _may_win(self, scores: Tensor) -> Tensor:
        """(N,) whether an open hypothesis could still become one of the best.

        Its log-probability only falls, and is divided by the penalty of the longest at most.
        """
        most = scores.amax(dim=1) / self.penalties
        return ~(most <= self.to_beat - tolerance(self.said.size(2)))

    def _note_close(
        self, top: Tensor, ends: Tensor, going_on: Tensor, full: Tensor, options: Options
    ) -> None:
        """Marks the sentences where another batch could have decided otherwise."""
        near = tolerance(self.said.size(2))
        last, next_one = top[:, self.width - 1, None], top[:, self.width, None]
        inside = torch.arange(top.size(1), device=top.device) < self.width
        margin = torch.where(inside, top - next_one, last - top)  # of being among the K or not
        close = (ends & (margin < near)).any(dim=1)  # false where both are -infinity
        close |= going_on[:, -2] - going_on[:, -1] < near
        rows = options.close | (options.close_end & full.repeat_interleave(self.width))
        rows = rows.view_as(self.scores) & (self.scores != -torch.inf)
        close = (close & ~full) | rows.any(dim=1)
        for i in self.sentences[close].tolist():
            self.finished[i].unsure = True

    def _finish(self, ended: Tensor, parent: Tensor, totals: Tensor, gain: Tensor) -> None:
        """Takes in what has said EOS now: ended (N, K), the others of as many or more."""
        for sentence, rank in torch.nonzero(ended).tolist():
            row, total = int(parent[sentence, rank]), float(totals[sentence, rank])
            self._add(sentence, row, total, float(gain[sentence, rank]))

    def _finish_full(self, full: Tensor, options: Options) -> None:
        """Takes in all hypotheses that have no room: they end, or are cut."""
        there = full[:, None] & (self.scores != -torch.inf)
        ends = (options.tokens[:, 0] == EOS_ID).view_as(there)
        last = options.gains[:, 0].view_as(self.scores)
        gain = options.plain[:, 0].view_as(self.scores)
        for sentence, row in torch.nonzero(there).tolist():
            total, end = float(self.scores[sentence, row]), None
            if ends[sentence, row]:
                total, end = total + float(last[sentence, row]), float(gain[sentence, row])
            self._add(sentence, row, total, end)

    def _add(self, sentence: int, row: int, total: float, end: float | None) -> None:
        """A finished hypothesis, and the log-probability of its EOS; None if it is cut."""
        gains = self.gains[sentence, row].tolist() + ([] if end is None else [end])
        hypothesis = Hypothesis(
            ids=self.said[sentence, row].tolist(),
            log_probability=math.fsum(gains),
            cut=end is None,
            score=total / self.search.penalty(max(1, len(gains))),
            token_log_probabilities=gains,
            alignment=self.places[sentence, row].tolist() if self.search.align else [],
        )
        finished = self.finished[int(self.sentences[sentence])]
        finished.hypotheses.append(hypothesis)
        self.to_beat[sentence] = finished.to_beat


def _padded(prefixes: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, prefixes))
    rows = [[*prefix, *[FREE] * (longest - len(prefix))] for prefix in prefixes]
    return torch.tensor(rows, dtype=torch.long).view(len(prefixes), longest)
