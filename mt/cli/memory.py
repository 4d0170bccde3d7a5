"""What to lower when memory does not suffice: the settings of a config that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.config import Config


def memory_advice(config: Config) -> str:
    """The settings to lower, with their values."""
    training, model = config.training, config.model
    size = (
        f"training.batch_tokens ({training.batch_tokens})"
        if training.batch_tokens is not None
        else f"training.batch_size ({training.pairs_per_batch})"
    )
    layers = " + ".join(map(str, model.depth))
    return (
        f"out of memory: lower {size}, for which training.accumulate makes up; or data.max_length "
        f"({config.data.max_length}), model.d_model ({model.d_model}), d_ff ({model.d_ff}) or "
        f"num_layers ({layers}). Earlier checkpoints are as they were"
    )
