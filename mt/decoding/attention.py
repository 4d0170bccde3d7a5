"""Where a model looked as it said a translation: a map for each layer and head, and its labels.

Letters: L decoder layers, H heads, T target tokens, S source tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from mt.data.frame import FRAME, frame
from mt.decoding.engine import Attention
from mt.decoding.scoring import framed_source
from mt.decoding.translator import Translation, Translator
from mt.text.cleaning import normalize
from mt.text.tokenizer import EOS, SOS


@dataclass(frozen=True)
class AttentionMaps:
    """Cross-attention of one translation; each row of a map sums to 1."""

    weights: Attention  # (L, H, T, S)
    src: list[str]  # S tokens as they were written, between SOS and EOS
    tgt: list[str]  # T tokens, EOS the last, unless the translation is cut

    @property
    def mean(self) -> Attention:
        """(T, S): over layers and heads."""
        return cast(Attention, self.weights.mean(axis=(0, 1)))


def attention_maps(translator: Translator, translation: Translation) -> AttentionMaps:
    """The maps of the best translation, read once more by the model that made it.

    Raises UserError if the engine gives no attention. The translation must be of one part, which
    that of a blank sentence is not.
    """
    source = framed_source(translator, translation.source).ids
    best = translation.alternatives[0]
    target = frame(best.hypothesis.ids)
    said = list(map(int, target[1:]))[: -1 if best.hypothesis.cut else None]
    read = translator.src.tokens(normalize(translation.source))[: len(source) - FRAME]
    return AttentionMaps(
        translator.engine.attention(source, target)[:, :, : len(said)],
        [SOS, *read, EOS],
        translator.tgt.pieces(said),
    )
