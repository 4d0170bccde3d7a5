"""What a model says during training: scores of some validation sentences, samples and pictures."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from mt.decoding.attention import attention_maps
from mt.decoding.translator import Translation, Translator
from mt.distributed import World
from mt.evaluation.evaluate import TestSet
from mt.evaluation.scores import score
from mt.pictures.heatmap import mean_picture
from mt.training.metrics import MetricsLog
from mt.training.trainer import Scored
from mt.wording import counted

log = logging.getLogger("mt")
SAMPLES = 3  # sentences shown side by side at each validation
PICTURES = 2  # of them with their attention


class Samples:
    """The first validation sentences, translated again and again by the model as it is."""

    def __init__(
        self, translator: Translator, test_set: TestSet, language: str, world: World
    ) -> None:
        """All processes have the same `test_set`, into `language`; each translates its share."""
        self.translator = translator
        self.test_set = test_set
        self.language = language
        self.world = world
        self._signatures_said = False
        self._drawn_at = -1  # step of the last pictures

    def translate(self, metrics: MetricsLog | None, step: int) -> Scored:
        """BLEU and chrF of them all, and some of them side by side; attention goes to `metrics`."""
        share = self.translator.translate(self.world.share(self.test_set.sources))
        translations = self.world.gather(share)
        scores = score([t.text for t in translations], self.test_set.references, self.language)
        # Another process writes the record; or this is the average of the end, of the same step.
        if metrics is not None and step != self._drawn_at:
            self._drawn_at = step
            self._draw_attention(metrics, step, translations[:PICTURES])
        if not self._signatures_said:
            self._signatures_said = True
            for result in scores.values():
                log.info(
                    "validation %s is of %s, %s",
                    result.name, counted(len(translations), "sentence"), result.signature,
                )  # fmt: skip
        samples = [
            {"source": t.source, "reference": reference, "translation": t.text}
            for t, reference in zip(translations[:SAMPLES], self.test_set.references, strict=False)
        ]
        return {name: result.value for name, result in scores.items()}, samples

    def _draw_attention(
        self, metrics: MetricsLog, step: int, translations: Sequence[Translation]
    ) -> None:
        """Where the model looks as it says these, for TensorBoard: always the same sentences."""
        for i, translation in enumerate(translations, 1):
            if len(translation.parts) != 1:  # blank, or over the limit
                continue
            picture = mean_picture(attention_maps(self.translator, translation))
            metrics.image(f"attention/{i}", step, np.asarray(picture.image))
            if picture.complaint and not self._signatures_said:
                log.warning("attention/%s: %s", i, picture.complaint)
