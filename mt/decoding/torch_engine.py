"""TorchEngine: search over a model of this project's own, in torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch

from mt.config import Config
from mt.data.batch import collate, pad
from mt.data.masks import padding_mask
from mt.data.ragged import Ids
from mt.decoding.beam import beam_search
from mt.decoding.engine import Attention, Hypothesis, Search
from mt.decoding.finished import Finished
from mt.decoding.sampling import Sampler
from mt.decoding.translator import Translator
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.model.loss import token_log_probabilities
from mt.model.weights import load_weights
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, PAD_ID, Tokenizer


@dataclass(frozen=True)
class Task:
    """One sentence to search a translation of."""

    source: Ids
    max_length: int
    prefix: Sequence[int]


class TorchEngine:
    """The native or the torch-backed model, on a device.

    Sums of floating-point numbers depend on the shape of a batch, in their last bits, and so
    would a decision between scores that are almost the same. A sentence with such a decision is
    searched again alone: so each gets the same translation in any batch.
    """

    def __init__(self, model: TranslationModel, device: torch.device) -> None:
        self.model = model
        self.device = device
        self.checkpoint: str | None = None  # the name of the one that the weights are of

    @classmethod
    def load(
        cls, folder: ModelFolder, config: Config, src: Tokenizer, tgt: Tokenizer,
        device: torch.device,
    ) -> TorchEngine:  # fmt: skip
        """The model in a folder that has this config and these tokenizers. Raises UserError."""
        weights, checkpoint = folder.weights(src, tgt)
        model = build_model(config.model, src.vocab_size, tgt.vocab_size, init=False)
        load_weights(model, weights)
        engine = cls(model.to(device).eval(), device)
        engine.checkpoint = checkpoint.name
        return engine

    def search(
        self,
        framed: Sequence[Ids],
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`."""
        tasks = [Task(*task) for task in zip(framed, max_lengths, prefixes, strict=True)]
        results = []
        for task, finished in zip(tasks, self.run(tasks, search), strict=True):
            best = finished.best()
            if finished.unsure and len(tasks) > 1:
                best = self.run([task], search)[0].best()
            results.append(best)
        return results

    @torch.inference_mode()
    def score(self, framed: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """As `Engine.score`."""
        batch = collate(framed, targets).to(self.device)
        features = self.model.features(batch.src, batch.src_padding, batch.tgt_in)
        real = features.flatten(0, 1).index_select(0, batch.real)  # (N, D)
        ids = batch.tgt_out.flatten().index_select(0, batch.real)  # (N,)
        gains = iter(token_log_probabilities(real, self.model.projection, ids).tolist())
        return [list(islice(gains, len(target) - 1)) for target in targets]

    @torch.inference_mode()
    def attention(self, framed: Ids, target: Ids) -> Attention:
        """As `Engine.attention`."""
        batch = collate([framed], [target]).to(self.device)
        state = self.model.start(self.model.encode(batch.src, None), None, watch=True)
        self.model.advance(batch.tgt_in, state)
        assert state.attention is not None
        weights: Attention = state.attention[0].float().cpu().numpy()
        return weights

    def run(self, tasks: Sequence[Task], search: Search) -> list[Finished]:
        """What one batch finds, with a mark on those that another batch might not."""
        if search.sample:
            return self._samples(tasks, search)
        if search.distinct_first:
            return self._distinct(tasks, search)
        return self._beams(tasks, search)

    def _beams(
        self, tasks: Sequence[Task], search: Search, sampler: Sampler | None = None
    ) -> list[Finished]:
        src = pad([task.source for task in tasks])
        padding = padding_mask(src, PAD_ID)
        return beam_search(
            self.model,
            src.to(self.device),
            None if padding is None else padding.to(self.device),
            [task.max_length for task in tasks],
            [task.prefix for task in tasks],
            search,
            sampler,
        )

    def _samples(self, tasks: Sequence[Task], search: Search) -> list[Finished]:
        """`n_best` draws of each sentence, each by itself."""
        each = [task for task in tasks for _ in range(search.n_best)]
        sampler = Sampler(search, [task.source for task in tasks])
        draws = self._beams(each, replace(search, beam_size=1, n_best=1), sampler)
        return _grouped(draws, [search.n_best] * len(tasks), search)

    def _distinct(self, tasks: Sequence[Task], search: Search) -> list[Finished]:
        """The best hypothesis after each of the `n_best` likeliest first tokens."""
        opening = replace(
            search, beam_size=search.n_best, banned=(*search.banned, EOS_ID), align=False
        )
        short = [replace(t, max_length=min(len(t.prefix) + 1, t.max_length)) for t in tasks]
        openings = self._beams(short, opening)
        each = [
            replace(task, prefix=hypothesis.ids)
            for task, finished in zip(tasks, openings, strict=True)
            for hypothesis in finished.hypotheses
        ]
        found = self._beams(each, replace(search, n_best=1))
        grouped = _grouped(found, [len(finished.hypotheses) for finished in openings], search)
        for finished, first in zip(grouped, openings, strict=True):
            finished.unsure |= first.unsure
        return grouped


def _grouped(found: Sequence[Finished], counts: Sequence[int], search: Search) -> list[Finished]:
    """The best of each of `found`, so many of them to one sentence."""
    rest = iter(found)
    grouped = []
    for count in counts:
        together = Finished(search.n_best)
        for finished in (next(rest) for _ in range(count)):
            together.hypotheses += finished.best()[:1]
            together.unsure |= finished.unsure
        grouped.append(together)
    return grouped


def open_translator(folder: ModelFolder, device: torch.device) -> Translator:
    """The translator of a model folder, in torch, as its config says. Raises UserError."""
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    return Translator(TorchEngine.load(folder, config, src, tgt, device), src, tgt, config)
