"""TorchEngine: search over a model of this project's own, in torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from mt.config import Config
from mt.data.batch import pad
from mt.data.masks import padding_mask
from mt.data.ragged import Ids
from mt.decoding.engine import Hypothesis, Search
from mt.decoding.greedy import greedy
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.model.weights import load_weights
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import PAD_ID, Tokenizer


class TorchEngine:
    """The native or the torch-backed model, on a device."""

    def __init__(self, model: TranslationModel, device: torch.device) -> None:
        self.model = model
        self.device = device

    @classmethod
    def load(
        cls, folder: ModelFolder, config: Config, src: Tokenizer, tgt: Tokenizer,
        device: torch.device,
    ) -> TorchEngine:  # fmt: skip
        """The model in a folder that has this config and these tokenizers. Raises UserError."""
        weights, _ = folder.weights(src, tgt)
        model = build_model(config.model, src.vocab_size, tgt.vocab_size, init=False)
        load_weights(model, weights)
        return cls(model.to(device).eval(), device)

    def search(
        self,
        framed: Sequence[Ids],
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`."""
        src = pad(framed)
        padding = padding_mask(src, PAD_ID)
        found = greedy(
            self.model,
            src.to(self.device),
            None if padding is None else padding.to(self.device),
            torch.tensor(max_lengths, device=self.device),
            banned=search.banned,
            align=search.align,
        )
        return [[hypothesis] for hypothesis in found]
