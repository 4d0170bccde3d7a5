"""The config: every setting with its type, default and meaning.

What a setting does is written where it is used; here is only what it may be. Files are read
in `mt.config_file`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from mt.config.data import CleaningConfig, DataConfig, SourceConfig, Sources
from mt.config.decoding import DecodingConfig
from mt.config.kinds import Interval, Mistake, Section, parse_interval
from mt.config.model import ModelConfig, TokenizerConfig
from mt.config.training import AverageConfig, EarlyStoppingConfig, KeepConfig, TrainingConfig

__all__ = [
    "AverageConfig",
    "CleaningConfig",
    "Config",
    "DataConfig",
    "DecodingConfig",
    "EarlyStoppingConfig",
    "Interval",
    "KeepConfig",
    "Mistake",
    "ModelConfig",
    "Section",
    "SourceConfig",
    "Sources",
    "TokenizerConfig",
    "TrainingConfig",
    "parse_interval",
]


class Config(Section):
    """A whole run: the data, the model, its training, and how it will translate."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="of runs/<name> and weights/<name>"
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=42, description="of initial weights, data order and dropout"
    )
    device: str = Field(
        default="auto",
        pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$",
        examples=["auto", "cpu", "cuda", "cuda:1", "mps"],
        description="what it runs on; auto takes a CUDA GPU if there is one, else the CPU",
    )
    data: DataConfig
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    sections: ClassVar[tuple[str, ...]] = ("data", "tokenizer", "model", "training", "decoding")

    def mistakes(self) -> Iterator[Mistake]:
        for section in self.sections:
            for keys, message in getattr(self, section).mistakes():
                yield tuple(f"{section}.{key}" for key in keys), message
        if self.model.tie_embeddings == "all" and not self.tokenizer.shared:
            yield (
                ("model.tie_embeddings", "tokenizer.shared"),
                "(all) needs tokenizer.shared: true, one vocabulary for both languages",
            )
