"""The learning rate: a pure function of the step, so that a resumed run has nothing to restore."""

from __future__ import annotations

import math

from mt.config import TrainingConfig


def learning_rate(step: int, config: TrainingConfig, total_steps: float) -> float:
    """The learning rate of update `step`, from 1 to `total_steps`.

    It rises in a line over `warmup_steps` to `lr`; then it stays (constant), falls with the square
    root of the step (inverse_sqrt, Vaswani et al. 2017, 5.3), or falls to zero along half a cosine
    (cosine, Loshchilov and Hutter 2017) or a line (linear) which it would reach one step after
    the last. `total_steps` may be a forecast that differs from step to step, as of a run that ends
    when its time is over, or infinite.
    """
    warmup = config.warmup_steps
    if step <= warmup:
        return config.lr * step / warmup
    if config.schedule == "inverse_sqrt":
        return config.lr * math.sqrt(warmup / step)
    if config.schedule == "constant":
        return config.lr
    done = min(1.0, (step - warmup) / (total_steps + 1 - warmup))
    if config.schedule == "cosine":
        return config.lr * 0.5 * (1 + math.cos(math.pi * done))
    return config.lr * (1 - done)
