"""What TensorBoard's HParams page compares runs by: settings, and how well each run did."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard.summary import hparams

from mt.config import Config

SECTIONS = ("tokenizer", "model", "training")
FINAL = ("final/loss", "final/bleu", "final/chrf", "final/steps")


def hyper_parameters(config: Config, leave_out: tuple[str, ...]) -> dict[str, Any]:
    """The settings that make a run what it is, by dotted key; those that are null are not there.

    `leave_out` has the beginnings of keys: what may change during a run tells runs not apart.
    """
    found: dict[str, Any] = {"seed": config.seed}
    for section in SECTIONS:
        for key, value in getattr(config, section).model_dump().items():
            name = f"{section}.{key}"
            if value is not None and not name.startswith(leave_out):
                plain = isinstance(value, int | float | str) and not isinstance(value, bool)
                found[name] = value if plain else str(value)
    return found


def summaries(settings: dict[str, Any]) -> tuple[Summary, Summary, Summary]:
    """That there is an experiment with these settings and FINAL scores; its start; its end."""
    experiment, start, end = hparams(  # type: ignore[no-untyped-call]
        settings, dict.fromkeys(FINAL, 0.0)
    )
    return experiment, start, end
