"""How far a run is, and what its validation scores are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mt.config import Config


@dataclass
class Progress:
    """How far a run is: all that a checkpoint remembers besides weights and moments."""

    step: int = 0  # updates made
    epoch: int = 0  # of the next update
    step_in_epoch: int = 0  # updates made in that epoch
    best: float | None = None  # best value of the watched metric, and the step it was seen at
    best_step: int | None = None
    stale: int = 0  # validations since then
    skipped: int = 0  # updates not made because the gradient was not finite
    loss_sum: float = 0.0  # nats and tokens since the last point of the curve
    loss_tokens: int = 0
    places: int = 0
    real_places: int = 0
    scores: dict[str, float] = field(default_factory=dict)  # of the last validation
    validated_step: int | None = None  # when that was
    seconds: float = 0.0  # of wall-clock time, of all starts of the run
    prepared: float = 0.0  # of them before the first step
    took: dict[str, float] = field(default_factory=dict)  # the last "validating" and "saving"
    minutes_up: float | None = None  # the training.minutes that were over at the last step

    def note(self, scores: Mapping[str, float], config: Config) -> bool:
        """Whether validation scores are the best so far; counts those that are not."""
        metric, stopping = watched_metric(config), config.training.early_stopping
        # Of a loss less is better, of the others more.
        gain = None if self.best is None else scores[metric] - self.best
        if gain is not None and metric == "loss":
            gain = -gain
        if gain is None or gain > (stopping.min_delta if stopping else 0.0):
            self.best, self.best_step, self.stale = scores[metric], self.step, 0
            return True
        self.stale += 1
        return False


def watched_metric(config: Config) -> str:
    """The validation metric that says which checkpoint is the best."""
    stopping = config.training.early_stopping
    return stopping.metric if stopping else "loss"


def spell_scores(scores: Mapping[str, float]) -> str:
    """Validation scores as a person reads them."""
    shown = {"loss": "{:.3f}", "ppl": "{:.2f}", "bleu": "{:.2f}", "chrf": "{:.2f}"}
    names = {"bleu": "BLEU", "chrf": "chrF"}
    return "   ".join(f"{names.get(n, n)} {shown[n].format(v)}" for n, v in scores.items())
