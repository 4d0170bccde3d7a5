"""Translator: strings to strings, through a model and the tokenizers that belong to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from mt.config import Config
from mt.data.batch import frame, pad
from mt.data.masks import padding_mask
from mt.data.ragged import Ids
from mt.decoding.greedy import Hypothesis, greedy
from mt.errors import UserError
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.storage.model_folder import ModelFolder
from mt.text.cleaning import normalize
from mt.text.tokenizer import PAD_ID, UNK_ID, Tokenizer

# What stands for a target word that the model has no word for: a mark; the source word that it
# looked at most; or the likeliest word that it does have.
Unknown = Literal["mark", "copy", "ban"]
EXTRA_LENGTH = 10  # tokens that a translation may have beyond the ratio, so that short ones fit
FRAME = 2  # SOS and EOS


@dataclass
class Translation:
    """What became of one sentence."""

    source: str
    text: str
    log_probability: float = 0.0  # of the tokens and EOS, natural logarithm
    unknown: list[str] = field(default_factory=list)  # source words that the model does not know
    copied: list[str] = field(
        default_factory=list
    )  # source words that stand in the text as they were
    marked: int = 0  # places in the text where a mark stands for a word
    cut: bool = False  # the output reached the longest allowed length
    source_tokens: int = 0
    source_limit: int | None = None  # the source was longer, and only so many tokens were read


class Translator:
    """Translates sentences in batches; each gets the same translation in any batch."""

    def __init__(
        self,
        model: TranslationModel,
        src: Tokenizer,
        tgt: Tokenizer,
        config: Config,
        device: torch.device,
        unknown: Unknown = "copy",
    ) -> None:
        self.model = model
        self.src = src
        self.tgt = tgt
        self.device = device
        self.unknown = unknown
        self.source_limit = config.data.max_length - FRAME
        self.target_limit = config.data.max_length - FRAME
        self.max_length_ratio = config.decoding.max_length_ratio

    @classmethod
    def load(
        cls, folder: ModelFolder, device: torch.device, unknown: Unknown = "copy"
    ) -> Translator:
        """The translator in a model folder. Raises UserError if the folder is not sound."""
        config = folder.read_config()
        src, tgt = folder.tokenizers(config)
        weights, _ = folder.weights(src, tgt)
        model = build_model(config.model, src.vocab_size, tgt.vocab_size, init=False)
        load_weights(model, weights)
        return cls(model.to(device).eval(), src, tgt, config, device, unknown)

    def translate(self, sentences: Sequence[str], batch_size: int = 64) -> list[Translation]:
        """The translations of `sentences`, in their order; a blank one gives a blank one."""
        translations = [Translation(source=sentence, text="") for sentence in sentences]
        framed = [self._read(translation) for translation in translations]
        # Sentences of about one length share a batch; blank ones need no search.
        order = sorted(
            (i for i, ids in enumerate(framed) if len(ids) > FRAME), key=lambda i: len(framed[i])
        )
        for first in range(0, len(order), batch_size):
            chosen = order[first : first + batch_size]
            found = self._search([framed[i] for i in chosen])
            for i, hypothesis in zip(chosen, found, strict=True):
                self._write(translations[i], hypothesis)
        return translations

    def _read(self, translation: Translation) -> Ids:
        """The framed ids of a source, noting what the model cannot see of it."""
        text = normalize(translation.source)
        ids = self.src.encode(text)
        translation.source_tokens = len(ids)
        translation.unknown = self.src.unknown(text)
        if len(ids) > self.source_limit:
            translation.source_limit = self.source_limit
        return frame(ids[: self.source_limit])

    def _search(self, framed: list[Ids]) -> list[Hypothesis]:
        src = pad(framed)
        padding = padding_mask(src, PAD_ID)
        longest = torch.tensor([self._max_length(len(ids) - FRAME) for ids in framed])
        return greedy(
            self.model,
            src.to(self.device),
            None if padding is None else padding.to(self.device),
            longest.to(self.device),
            banned=[UNK_ID] if self.unknown == "ban" else [],
            align=self.unknown == "copy" and self.tgt.kind == "word",
        )

    def _max_length(self, source_tokens: int) -> int:
        wanted = int(source_tokens * self.max_length_ratio) + EXTRA_LENGTH
        return min(wanted, self.target_limit)

    def _write(self, translation: Translation, hypothesis: Hypothesis) -> None:
        if hypothesis.alignment:
            translation.copied = self._copied(translation, hypothesis)
        translation.marked = hypothesis.ids.count(UNK_ID) - len(translation.copied)
        text = self.tgt.decode(hypothesis.ids, translation.copied)
        # A line break in the middle would shift all later lines of the output.
        translation.text = " ".join(text.splitlines()).strip()
        translation.log_probability = hypothesis.log_probability
        translation.cut = hypothesis.cut

    def _copied(self, translation: Translation, hypothesis: Hypothesis) -> list[str]:
        """For each unknown word of a translation, the source word that it looked at most."""
        words = self.src.tokens(normalize(translation.source))
        places = zip(hypothesis.ids, hypothesis.alignment, strict=True)
        return [words[place - 1] for i, place in places if i == UNK_ID]


def _shape(tensors: Mapping[str, torch.Tensor], name: str) -> str:
    return " x ".join(map(str, tensors[name].shape)) if name in tensors else "not there"


def load_weights(model: TranslationModel, weights: dict[str, torch.Tensor]) -> None:
    """Copies `weights`, by parameter name, into the model; shared matrices have one name.

    Raises `UserError` when they are of another model.
    """
    parameters = dict(model.named_parameters())
    for name in sorted(parameters.keys() | weights.keys()):
        here, there = (_shape(tensors, name) for tensors in (parameters, weights))
        if here != there:
            raise UserError(
                f"the config does not describe the model of the checkpoint: {name} is {there} in "
                f"the checkpoint and {here} by config.yaml; put the right config.yaml back"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
