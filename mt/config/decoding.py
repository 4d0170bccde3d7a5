"""How translations are searched for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mt.config.kinds import Positive, Section


class DecodingConfig(Section):
    """How translations are searched for."""

    beam_size: Positive = Field(
        default=1, description="hypotheses of a sentence that are followed; 1 is greedy search"
    )
    length_penalty: float = Field(
        default=0.6, ge=0, description="how much a beam favours long translations; 0 for not at all"
    )
    length_normalization: Literal["gnmt", "length", "none"] = Field(
        default="gnmt",
        description="log-probabilities are divided by ((5 + length) / 6) ^ length_penalty (Wu et "
        "al. 2016), by length ^ length_penalty, or by nothing",
    )
    patience: float = Field(
        default=2.0,
        ge=1,
        description="a beam is done with a sentence when no open hypothesis can win, or so many "
        "times `beam_size` have ended (Kasai et al. 2022); with 1000 the former alone counts",
    )
    max_length_ratio: float = Field(
        default=2.0,
        gt=0,
        description="longest output: so many times the source, and 10 tokens more",
    )
    no_repeat_ngram: Annotated[int, Field(ge=0)] = Field(
        default=0, description="no run of so many tokens comes twice in an output; 0 for no rule"
    )
    repetition_penalty: float = Field(
        default=1.0,
        ge=1,
        description="what was said is made less likely by this (Keskar et al. 2019); 1 for no rule",
    )
