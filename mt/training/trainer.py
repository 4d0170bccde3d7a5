"""The Trainer: the loop over steps, and what happens between them. It knows nothing of text.

From the command to `backward()` one passes the command, `Trainer.fit` and `train_step`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from typing import NamedTuple

import torch

from mt.config import Config, parse_interval
from mt.data.batch import Batch
from mt.data.dataset import BilingualDataset
from mt.data.plan import BatchPlan, BatchSize, plan_batches
from mt.distributed import ALONE, World
from mt.errors import RunError, UserError
from mt.evaluation.validation import validation_loss
from mt.model.interface import TranslationModel
from mt.training.ahead import Ahead
from mt.training.averaging import MovingAverage, Weights, swapped_in
from mt.training.clock import Clock, peak_memory
from mt.training.metrics import MetricsLog
from mt.training.optimizer import build_optimizer
from mt.training.progress import Progress, spell_scores
from mt.training.run_time import Outlook, RunTime
from mt.training.saving import Saver
from mt.training.schedule import learning_rate
from mt.training.spikes import Spikes
from mt.training.step import StepResult, train_step

log = logging.getLogger("mt")
SKIPS_IN_A_ROW = 3  # updates that are not finite before the run is given up


class Place(NamedTuple):
    """A step, by its epoch and its number in that."""

    epoch: int
    step: int


class NotFiniteError(RunError):
    """The loss stays not finite; `rows` of the training split were in the last step."""

    def __init__(self, message: str, rows: list[int]) -> None:
        super().__init__(message)
        self.rows = rows


Scored = tuple[dict[str, float], list[dict[str, str]]]  # scores, and sample rows
Decode = Callable[[], Scored]  # of the model as it is; None where there is nothing to decode
Save = Callable[[Progress, bool], None]  # progress, and whether it is the best so far


class Trainer:
    """Trains one model on one dataset, from `progress` on."""

    def __init__(
        self,
        config: Config,
        model: TranslationModel,
        train: BilingualDataset,
        valid: BilingualDataset | None,
        *,
        device: torch.device,
        dtype: torch.dtype,
        decode: Decode | None,
        save: Save,
        world: World = ALONE,
    ) -> None:
        self.config = config
        self.settings = config.training
        self.model = model
        self.train_data = train
        self.valid_data = valid
        self.device = device
        self.dtype = dtype
        self.decode = decode
        self.save = save
        self.world = world
        # Set before `fit`, as what it takes back depends on the step; by the first process alone.
        self.metrics: MetricsLog | None = None
        self.saver: Saver | None = None  # the one that `save` hands a checkpoint to, likewise
        self.optimizer = build_optimizer(model, config.training)
        self.average: MovingAverage | None = None  # of the weights, if there is to be one
        self.progress = Progress()
        self.batch_size = BatchSize(self.settings.pairs_per_batch, self.settings.batch_tokens)
        self._plan: tuple[int, BatchPlan] | None = None
        plan = self.plan(0)
        if world.size > len(plan):
            batches = f"{len(plan):,} batch{'es' * (len(plan) != 1)}"
            raise UserError(
                f"{world.size} processes for {batches} an epoch: start fewer of them, or "
                "lower training.batch_size or training.batch_tokens"
            )
        self.batches_per_step = self.settings.accumulate * world.size
        self.steps_per_epoch = steps_in(plan, self.batches_per_step)
        self.total_steps = total_steps(config, self.steps_per_epoch)  # infinite if time is all
        self.stop_requested = False  # of this process
        self.stopped = False  # because one process was told to stop: then all do
        self._saved_step = -1
        self._skips_in_a_row = 0
        self._rows: list[int] = []  # of the training split, in the step at hand
        self._clock = Clock()
        self.time = RunTime(self.settings)
        self._outlook, self._outlook_step = Outlook(), 0  # and the updates made before it
        self._lr = 0.0  # of the last update
        self._spikes = Spikes()
        self._first_step = 0  # that this process made

    def plan(self, epoch: int) -> BatchPlan:
        """The batches of an epoch; the latest plan is kept, as it may hold millions of pairs."""
        if self._plan is None or self._plan[0] != epoch:
            self._plan = None  # its memory first
            lengths, seed = self.train_data.lengths, self.config.seed
            self._plan = epoch, plan_batches(lengths, self.batch_size, seed, epoch)
        return self._plan[1]

    def fit(self) -> Iterator[StepResult]:
        """Trains to the end, or until `stop_requested`; yields after each update.

        Raises `NotFiniteError` when the loss stays not finite, and `WriteError` when a checkpoint
        or the record cannot be written; UserError if no time is left for a first step.
        """
        self._saved_step = self._first_step = self.progress.step
        self.time.before = self.progress.seconds
        if self.progress.step == 0:
            self.progress.prepared = self.time.used
        if self.average is None:
            self.start_average()
        self._clock.restart()
        with closing(Ahead(self._micro_batches)) as ahead:
            while not (self.done or self._stops() or self._too_late()):
                with self._clock.spent("batches"):
                    batches, self._rows = ahead.take(*self._this_and_next())
                result = self._update(batches)
                self._count()
                self._after_update(result)
                yield result
        if self.progress.step != self._saved_step and not self._skips_in_a_row:
            self._save(best=False)
        if self.saver is not None:
            with self._clock.spent("saving"):
                self.saver.wait()
        if self.metrics is not None:
            self.metrics.flush()
        self.world.wait()  # nobody leaves while another still needs an answer

    def start_average(self) -> None:
        """Begins the moving average at the weights as they are, if there is to be one."""
        if self.settings.ema is not None:
            self.average = MovingAverage(self.model, self.settings.ema)

    @property
    def done(self) -> bool:
        """Whether nothing is left to train."""
        return self.progress.step >= self.total_steps or self._out_of_patience or self.time_is_up

    @property
    def time_is_up(self) -> bool:
        """Whether training ended because `training.minutes` were over."""
        minutes, then = self.settings.minutes, self.progress.minutes_up
        return minutes is not None and then is not None and minutes <= then

    @property
    def expected_steps(self) -> float:
        """Updates in the whole run; if its time ends it, those that it has by then at this pace.

        The schedule goes by them, and so reaches its end in time whatever the pace becomes.
        """
        step, share = self._outlook_step, self._outlook.share
        return min(self.total_steps, step / share) if step and share else self.total_steps

    def _stops(self) -> bool:
        # Asked at one place, between steps: all processes must leave after the same one, and go by
        # one clock, which is that of the first.
        outlook: list[float] = []
        if self.settings.minutes is not None:
            outlook = list(self._look() if self.world.is_first else Outlook())
        told, *seen = self.world.sum([float(self.stop_requested), *outlook])
        self._outlook, self._outlook_step = Outlook(*seen), self.progress.step
        self.stopped = told > 0
        return self.stopped

    def _look(self) -> Outlook:
        took = self.progress.took
        if self.saver is not None and self.saver.seconds is not None:
            took["saving"] = self.saver.seconds
        saving = "saving" in took or (self.saver is not None and self.saver.busy)
        measured = saving and ("validating" in took or self.valid_data is None)
        if "validating" not in took:
            took = {**took, "validating": self.seconds_of_reading_valid()}
        return self.time.look(self.progress.prepared, took, self.seconds_aside, measured)

    def seconds_of_reading_valid(self) -> float:
        """What the validation loss will take at least: its share of an epoch, forward alone."""
        if self.valid_data is None:
            return 0.0
        share = float(self.valid_data.lengths.sum() / self.train_data.lengths.sum())
        return self.time.pace * self.steps_per_epoch * share / 3

    def _too_late(self) -> bool:
        """Whether the time is over and nothing is left to do, as it was validated and saved."""
        step, minutes = self.progress.step, self.settings.minutes
        if minutes is None or self._outlook.share < 1:
            return False
        if not step:
            raise UserError(
                f"training.minutes ({minutes:g}) are over before the first step: reading, building "
                f"and starting took {self.time.used:.0f} seconds; give more"
            )
        if self.valid_data is not None and self.progress.validated_step != step:
            return False  # one more step, and then the end as always
        if self._saved_step != step:
            return False
        log.warning(
            "validating and saving after step %s took the rest of the time: the learning rate did "
            "not get to its end; a smaller training.bleu_samples takes less, or give more minutes",
            f"{step:,}",
        )
        self.progress.minutes_up = minutes
        self._saved_step = -1
        return True

    @property
    def seconds_aside(self) -> float:
        """Spent on validating and saving so far."""
        return self._clock.aside()

    @property
    def costs(self) -> dict[str, float]:
        """Where the time went, as shares of it, and the most memory held, in MiB."""
        return {**self._clock.shares(), **peak_memory(self.device)}

    @property
    def epochs_done(self) -> float:
        """Passes over the training pairs so far."""
        return self.progress.step / self.steps_per_epoch

    @property
    def _out_of_patience(self) -> bool:
        stopping = self.settings.early_stopping
        return stopping is not None and self.progress.stale >= stopping.patience

    def _this_and_next(self) -> tuple[Place, Place | None]:
        """Where the next step is; and the one after it, unless that needs another plan."""
        epoch, step = self.progress.epoch, self.progress.step_in_epoch
        last = step + 1 == steps_in(self.plan(epoch), self.batches_per_step)
        return Place(epoch, step), None if last else Place(epoch, step + 1)

    def _micro_batches(self, place: Place) -> tuple[list[Batch], list[int]]:
        """This process's batches of a step, and the rows of the split that are in all of them.

        At the end of an epoch there may be fewer.
        """
        plan, each = self.plan(place.epoch), self.batches_per_step
        indices = range(place.step * each, min((place.step + 1) * each, len(plan)))
        rows = [self.train_data.row(row) for i in indices for row in plan[i]]
        own = [self.train_data.batch(plan[i], place.epoch) for i in self.world.share(indices)]
        return [batch.ready_for(self.device) for batch in own], rows

    def _count(self) -> None:
        """One more step is done, and with it perhaps an epoch."""
        progress = self.progress
        progress.step += 1
        progress.step_in_epoch += 1
        if progress.step_in_epoch == steps_in(self.plan(progress.epoch), self.batches_per_step):
            progress.epoch, progress.step_in_epoch = progress.epoch + 1, 0

    def _update(self, batches: Sequence[Batch]) -> StepResult:
        progress = self.progress
        lr = self._lr = learning_rate(progress.step + 1, self.settings, self.expected_steps)
        result = train_step(
            self.model,
            self.optimizer,
            [batch.to(self.device) for batch in batches],
            lr=lr,
            label_smoothing=self.settings.label_smoothing,
            clip_norm=self.settings.clip_norm,
            dtype=self.dtype,
            seed=(self.config.seed, progress.step),
            world=self.world,
        )
        places = [sum(batch.places for batch in batches), sum(b.real_places for b in batches)]
        total, real = self.world.sum([float(count) for count in places])
        progress.places += int(total)
        progress.real_places += int(real)
        self._clock.tokens += result.tokens
        if result.finite:
            progress.loss_sum += result.loss
            progress.loss_tokens += result.tokens
            self._skips_in_a_row = 0
            self._after_finite(result)
        else:
            self._skip(lr)
        return result

    def _after_finite(self, result: StepResult) -> None:
        step = self.progress.step + 1
        if self.average is not None:
            self.average.update(step - self.progress.skipped)
        loss = result.loss / result.tokens
        usual = self._spikes.usual(loss)
        if usual is not None and self.world.is_first:
            log.warning(
                "loss spike at step %s: %.3f, usually %.3f; gradient norm %.3g. If there are many, "
                "a lower training.lr or training.clip_norm may help",
                f"{step:,}", loss, usual, result.grad_norm,
            )  # fmt: skip

    def _skip(self, lr: float) -> None:
        self.progress.skipped += 1
        self._skips_in_a_row += 1
        where = f"step {self.progress.step + 1}, epoch {self.progress.epoch + 1}, lr {lr:g}"
        log.warning("loss or gradient not finite at %s: update skipped", where)
        if self._skips_in_a_row >= SKIPS_IN_A_ROW:
            raise NotFiniteError(
                f"the loss is not finite (NaN or infinite) {SKIPS_IN_A_ROW} times in a row, at "
                f"{where}; try a lower training.lr, more training.warmup_steps or "
                "training.clip_norm: 1.0. Earlier checkpoints are as they were",
                self._rows,
            )

    def _after_update(self, result: StepResult) -> None:
        if self.saver is not None:
            self.saver.check()
        step = self.progress.step
        if self._outlook.last:
            self.progress.minutes_up = self.settings.minutes
        last = step >= self.total_steps or self.time_is_up
        rehearse, hold = bool(self._outlook.rehearse), bool(self._outlook.hold)
        if step == 1 or step % self.settings.log_every == 0 or last:
            self._log_point(result)
        if rehearse and not last and self.world.is_first:
            log.info("step %s: validating and saving, to know how long the end takes", f"{step:,}")
        best = False
        due = last or rehearse or (not hold and self._due(self.settings.validate_every))
        if self.valid_data is not None and due:
            best = self._validate()
        due = last or rehearse or (not hold and self._due(self.settings.save_every))
        if (due or best or self._out_of_patience) and not self._skips_in_a_row:
            self._save(best)

    def _due(self, interval_text: str) -> bool:
        interval = parse_interval(interval_text)
        if interval.unit == "step":
            return self.progress.step % interval.number == 0
        return self.progress.step_in_epoch == 0 and self.progress.epoch % interval.number == 0

    def _log_point(self, result: StepResult) -> None:
        progress = self.progress
        if not progress.loss_tokens:
            return
        loss = progress.loss_sum / progress.loss_tokens
        values = {
            "train/loss": loss,
            "train/ppl": math.exp(min(loss, 100.0)),
            **self._learning_rates(),
            "train/grad_norm": result.grad_norm,
            "train/tokens_per_second": self._clock.rate(),
            "train/padding": 1 - progress.real_places / progress.places,
            "time/left_seconds": self.seconds_left(),
            **self.costs,
        }
        if self.metrics is not None:
            self.metrics.scalars(progress.step, values)
        progress.loss_sum, progress.loss_tokens = 0.0, 0
        progress.places = progress.real_places = 0
        self._clock.restart()

    def seconds_left(self) -> float:
        """Until the end, at the pace so far."""
        made, step = self.progress.step - self._first_step, self.progress.step
        if self.total_steps == math.inf:
            return max(0.0, self.time.left)
        return min(self._clock.left(made, int(self.total_steps) - step), max(0.0, self.time.left))

    def _learning_rates(self) -> dict[str, float]:
        lr = self._lr
        if self.settings.optimizer != "muon":
            return {"train/lr": lr}
        return {"train/lr": lr, "train/muon_lr": lr * self.settings.matrix_lr / self.settings.lr}

    def score(self, weights: Weights | None = None) -> Scored:
        """The model on the validation pairs, as it is or with other weights for the time being."""
        assert self.valid_data is not None
        with (
            self._clock.spent("validating"),
            swapped_in(self.model, weights) if weights else nullcontext(),
        ):
            self.model.eval()
            loss = validation_loss(self.model, self.valid_data, self.device, self.world)
            scores = {"loss": loss, "ppl": math.exp(min(loss, 100.0))}
            samples: list[dict[str, str]] = []
            if self.decode is not None:
                decoded, samples = self.decode()
                scores.update(decoded)
            self.model.train()
        self.progress.took["validating"] = self._clock.latest["validating"]
        return scores, samples

    def _validate(self) -> bool:
        """Logs the validation scores; whether they are the best so far."""
        scores, samples = self.score(self.average.weights if self.average else None)
        step = self.progress.step
        if self.metrics is not None:
            self.metrics.scalars(step, {f"valid/{name}": value for name, value in scores.items()})
            if samples:
                self.metrics.samples(step, samples)
            self.metrics.flush()
        self.progress.scores, self.progress.validated_step = scores, step
        best = self.progress.note(scores, self.config)
        log.info(
            "step %s: valid %s%s%s",
            f"{step:,}", spell_scores(scores),
            "   of the averaged weights" if self.average else "",
            "   (best so far)" if best else "",
        )  # fmt: skip
        return best

    def _save(self, best: bool) -> None:
        with self._clock.spent("saving"):
            if self.metrics is not None:
                self.metrics.flush()
            self.progress.seconds = self.time.used
            self.save(self.progress, best)
        if self.saver is None:  # which knows better, as it goes on writing
            self.progress.took["saving"] = self._clock.latest["saving"]
        self._saved_step = self.progress.step


def steps_in(plan: BatchPlan, accumulate: int) -> int:
    """Updates in an epoch of `plan`; the last may have fewer micro-batches."""
    return -(-len(plan) // accumulate)


def total_steps(config: Config, steps_per_epoch: int) -> float:
    """Updates in the whole run, infinite if time alone ends it.

    An epoch counts as many as the first one has.
    """
    limits: list[float | None] = [config.training.max_steps]
    if config.training.max_epochs is not None:
        limits.append(config.training.max_epochs * steps_per_epoch)
    return min((limit for limit in limits if limit is not None), default=math.inf)
