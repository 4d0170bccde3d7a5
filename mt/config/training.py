"""Training: how long, how, and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from mt.config.kinds import Fraction, IntervalText, Mistake, Positive, Section


class KeepConfig(Section):
    """Which checkpoints stay on disk."""

    last: Positive = Field(default=2, description="the newest so many")
    best: Annotated[int, Field(ge=0)] = Field(
        default=1, description="the best so many; with 0 the newest one translates"
    )


class AverageConfig(Section):
    """Which checkpoints are averaged at the end of training."""

    last: Annotated[int, Field(ge=2)] | None = Field(default=None, description="the newest so many")
    best: Annotated[int, Field(ge=2)] | None = Field(default=None, description="the best so many")


class EarlyStoppingConfig(Section):
    """Stop when validation no longer improves."""

    metric: Literal["loss", "bleu", "chrf"] = Field(default="loss", description="what to watch")
    patience: Positive = Field(default=5, description="validations without a gain before stopping")
    min_delta: Annotated[float, Field(ge=0)] = Field(default=0.0, description="smallest gain")


class TrainingConfig(Section):
    """How the model is trained."""

    epochs: Positive | None = Field(
        default=None,
        description="passes over the training pairs; 20 if nothing else ends training",
    )
    max_steps: Positive | None = Field(default=None, description="stop after so many updates")
    minutes: float | None = Field(
        default=None,
        gt=0,
        description="wall-clock time of the whole run, from reading to the last file; cosine and "
        "linear then end with it; no two runs are the same to the bit",
    )
    batch_size: Positive | None = Field(
        default=None, description="pairs a step; 8 if batch_tokens is not set either"
    )
    batch_tokens: Positive | None = Field(
        default=None,
        description="instead of batch_size: source or target tokens a step, padding included, "
        "whichever side is longer",
    )
    accumulate: Positive = Field(default=1, description="micro-batches a step")
    init_from: str | None = Field(
        default=None,
        description="a model (its name in weights/, or its folder) whose weights a new run starts "
        "from, by token where vocabularies differ; a run that is resumed goes on as it was",
    )
    optimizer: Literal["adam", "adamw", "muon"] = Field(
        default="adam",
        description="Adam, AdamW, or Muon for hidden matrices and AdamW for the rest",
    )
    lr: float = Field(default=1e-4, gt=0, description="learning rate, at its highest")
    muon_lr: float | None = Field(
        default=None,
        gt=0,
        description="learning rate of Muon's matrices, at its highest; 0.02 if not set",
    )
    betas: Annotated[list[Fraction], Field(min_length=2, max_length=2)] = Field(
        default=[0.9, 0.999], description="Adam's decay rates"
    )
    eps: float = Field(default=1e-9, gt=0, description="Adam's epsilon")
    weight_decay: float = Field(
        default=0.0,
        ge=0,
        description="decay of matrices by AdamW and Muon; norms, biases, embeddings spared",
    )
    schedule: Literal["constant", "inverse_sqrt", "cosine", "linear"] = Field(
        default="constant", description="the learning rate after the warm-up"
    )
    warmup_steps: Annotated[int, Field(ge=0)] = Field(
        default=0, description="steps in which the learning rate rises from 0 to lr"
    )
    label_smoothing: Fraction = Field(
        default=0.1, description="probability mass given to all tokens alike (Szegedy et al. 2016)"
    )
    clip_norm: float | None = Field(
        default=1.0, gt=0, description="largest norm of the gradient; null for no clipping"
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="bf16 autocast on a GPU that has it, else fp32"
    )
    ema: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="decay of a moving average of the weights, as 0.999, which then is what is "
        "validated and translates; null for none",
    )
    validate_every: IntervalText = Field(default="1 epoch", description="N steps or N epochs")
    save_every: IntervalText = Field(default="1 epoch", description="N steps or N epochs")
    log_every: Positive = Field(default=10, description="steps between two points of a curve")
    bleu_samples: Annotated[int, Field(ge=0)] = Field(
        default=200, description="validation sentences decoded for BLEU and chrF; 0 for none"
    )
    keep: KeepConfig = Field(default=KeepConfig(), description="checkpoints that stay")
    average: AverageConfig | None = Field(
        default=None,
        description="checkpoints averaged at the end; the average translates if it is the better",
    )
    early_stopping: EarlyStoppingConfig | None = Field(
        default=None, description="stop when validation no longer improves"
    )

    @property
    def max_epochs(self) -> int | None:
        """The number of epochs after which training ends, None for no limit."""
        ends = self.epochs, self.max_steps, self.minutes
        return 20 if ends == (None, None, None) else self.epochs

    @property
    def matrix_lr(self) -> float:
        """The learning rate of Muon's matrices, at its highest."""
        return 0.02 if self.muon_lr is None else self.muon_lr

    @property
    def pairs_per_batch(self) -> int | None:
        """Pairs in a micro-batch, None if the batch is measured in tokens."""
        return 8 if self.batch_size is None and self.batch_tokens is None else self.batch_size

    def mistakes(self) -> Iterator[Mistake]:
        if self.batch_size is not None and self.batch_tokens is not None:
            yield (
                ("batch_tokens", "batch_size"),
                "and training.batch_size are both given; set one of them to null",
            )
        if self.schedule == "inverse_sqrt" and not self.warmup_steps:
            yield (
                ("warmup_steps", "schedule"),
                "must be 1 or more with schedule inverse_sqrt, which falls from its end",
            )
        if self.max_steps is not None and self.warmup_steps >= self.max_steps:
            yield (
                ("warmup_steps", "max_steps"),
                f"({self.warmup_steps}) must be less than training.max_steps ({self.max_steps}): "
                "the learning rate would not get to its height",
            )
        yield from self._optimizer_mistakes()
        yield from self._average_mistakes()
        stopping = self.early_stopping
        if stopping and not self.keep.best:
            yield (
                ("keep.best", "early_stopping"),
                "(0) keeps no best checkpoint, which is what training.early_stopping is for: set "
                "it to 1 or more",
            )
        if stopping and stopping.metric != "loss" and not self.bleu_samples:
            yield (
                ("early_stopping.metric", "bleu_samples"),
                f"({stopping.metric}) needs training.bleu_samples of 1 or more",
            )

    def _optimizer_mistakes(self) -> Iterator[Mistake]:
        if self.weight_decay and self.optimizer == "adam":
            yield (
                ("weight_decay", "optimizer"),
                f"({self.weight_decay:g}) needs training.optimizer adamw or muon",
            )
        if self.muon_lr is not None and self.optimizer != "muon":
            yield (
                ("muon_lr", "optimizer"),
                f"({self.muon_lr:g}) needs training.optimizer muon (it is {self.optimizer})",
            )

    def _average_mistakes(self) -> Iterator[Mistake]:
        if self.average is None:
            return
        if (self.average.last is None) == (self.average.best is None):
            yield ("average",), "needs one of last and best, as in {last: 5}"
            return
        for which in ("last", "best"):
            wanted, kept = getattr(self.average, which), getattr(self.keep, which)
            if wanted is not None and wanted > kept:
                yield (
                    (f"average.{which}", f"keep.{which}"),
                    f"({wanted}) needs as many checkpoints, and training.keep.{which} is {kept}: "
                    f"raise that to {wanted}, or lower this",
                )
