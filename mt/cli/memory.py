"""Being out of memory: how it is recognised, and which settings of a config use how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.config import Config


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` is Python's, the system's or torch's way to say that memory is used up."""
    text = str(error).lower()
    said = ("out of memory", "can't allocate memory", "cannot allocate memory")
    return isinstance(error, MemoryError) or any(words in text for words in said)


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
