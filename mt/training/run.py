"""A run: its folders, what is in them, and how it begins, goes on and ends."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mt import __version__
from mt.config import Config
from mt.config_file import differences
from mt.decoding.attention import attention_maps
from mt.decoding.torch_engine import TorchEngine
from mt.decoding.translator import Translation, Translator
from mt.distributed import ALONE, World
from mt.errors import UserError
from mt.evaluation.evaluate import first_of
from mt.evaluation.scores import score
from mt.model.build import build_model, bytes_to_train
from mt.model.device import memory_of, resolve_device, resolve_precision
from mt.model.weights import load_weights
from mt.pictures.heatmap import mean_picture
from mt.storage import atomic
from mt.storage.checkpoint import (
    DamagedError,
    check,
    list_checkpoints,
    read_part,
    read_state,
    step_of,
)
from mt.storage.lock import FolderLock
from mt.storage.model_folder import WEIGHTS, ModelFolder, find_model
from mt.training.data import TrainingData, load_training_data
from mt.training.hparams import hyper_parameters
from mt.training.init_from import init_from
from mt.training.metrics import MetricsLog
from mt.training.optimizer import load_optimizer, optimizer_tensors
from mt.training.saving import Saver
from mt.training.trainer import Progress, Trainer, watched_metric

log = logging.getLogger("mt")
RUNS = Path("runs")
SAMPLES = 3  # sentences shown side by side at each validation
PICTURES = 2  # of them with their attention

# What may differ when a run goes on: none of it changes the steps that were made.
MAY_CHANGE = (
    "device",
    "training.epochs",
    "training.max_steps",
    "training.validate_every",
    "training.save_every",
    "training.log_every",
    "training.bleu_samples",
    "training.keep",
    "training.average",
    "training.early_stopping",
    "decoding",
)


class Run:
    """One training run, new or resumed, ready to `train`."""

    def __init__(self, config: Config, restart: bool = False, world: World = ALONE) -> None:
        """Reads all that is needed and checks it. Raises UserError; creates nothing before.

        With `restart` an earlier run of this name is moved aside once all is well. Of several
        processes the first one alone reads and writes the folders; the others have it from there.
        """
        self.config = config
        self.world = world
        self._signatures_said = False
        self._drawn_at = -1  # step of the last pictures
        self.restarted = restart
        self.folder = ModelFolder(WEIGHTS / config.name)
        self.runs_folder = RUNS / config.name
        self.device = own_device(resolve_device(config.device), world)
        self.dtype = resolve_precision(config.training.precision, self.device)
        self.begun = world.is_first and self._check_folders()
        known = self.folder if self.begun and not restart else None
        self.data: TrainingData = load_training_data(config, known, world)
        check_same_everywhere(world, config, self.data)
        check_memory(config, self.data, self.device)
        check_budget(config, self.data)
        check_average(config, self.data)
        self.saver = Saver(self.folder, config.training.keep, watched_metric(config))
        self.lock: FolderLock | None = None
        try:
            if world.is_first:
                self._create(restart)
            world.wait()  # nothing is built while it may be refused
            self.trainer = self._trainer()
            self.resumed_from = self._resume()
            if self.resumed_from is None:
                self._begin()
            if world.is_first:
                self._open()
        except BaseException:
            self._unlock()
            raise

    def _check_folders(self) -> bool:
        """Whether there is a run to go on with. Raises UserError where one could not go on."""
        for place in (self.folder.path, self.runs_folder):
            check_writable(place)
        # Without a checkpoint nothing was learnt yet: the folder is made again as the config says.
        begun = self.folder.exists and bool(list_checkpoints(self.folder.checkpoints))
        if begun and not self.restarted:
            check_same_config(self.folder.read_config(), self.config, self.folder)
        return begun

    def _open(self) -> None:
        self.folder.write_config(self.config)  # last: with it the folder is a model folder
        if not self.trainer.done:
            self.trainer.saver = self.saver
            self.trainer.metrics = MetricsLog(self.runs_folder, self.trainer.progress.step)
            if self.resumed_from is None:
                self.trainer.metrics.settings(self.hyper_parameters)

    @property
    def hyper_parameters(self) -> dict[str, Any]:
        """The settings that tell this run from others."""
        return hyper_parameters(self.config, MAY_CHANGE)

    def close(self) -> None:
        """Waits for what is being written, ends the record, and lets others have the folder.

        Raises WriteError if a checkpoint could not be written, and nobody was told so far.
        """
        try:
            self.saver.close()
        finally:
            if self.trainer.metrics is not None:
                self.trainer.metrics.close()
            self._unlock()

    def newest_step(self) -> int | None:
        """The step of the newest checkpoint on disk, None without any."""
        checkpoints = list_checkpoints(self.folder.checkpoints)
        return step_of(checkpoints[-1]) if checkpoints else None

    def _unlock(self) -> None:
        if self.lock is not None:
            self.lock.release()

    def _create(self, restart: bool) -> None:
        """Makes the folders, with everything in them but the config and checkpoints."""
        if restart:
            for moved in move_aside(self.config.name):
                log.info("earlier run moved to %s", moved)
        self.folder.checkpoints.mkdir(parents=True, exist_ok=True)
        self.runs_folder.mkdir(parents=True, exist_ok=True)
        self.lock = FolderLock(self.folder.path)
        if restart or not self.begun:
            for tokenizer in (self.data.src, self.data.tgt):
                file = self.folder.tokenizer_file(tokenizer.language)
                atomic.write_text(file, tokenizer.to_json())
            report = json.dumps(self.data.corpus.report.as_dict(), indent=2, ensure_ascii=False)
            atomic.write_text(self.folder.data_file, report + "\n")

    def _trainer(self) -> Trainer:
        config, data = self.config, self.data
        sizes = data.src.vocab_size, data.tgt.vocab_size
        model = build_model(config.model, *sizes, seed=config.seed).to(self.device)
        engine = TorchEngine(model, self.device)
        self.translator = Translator(engine, data.src, data.tgt, config)
        return Trainer(
            config,
            model,
            data.train,
            data.valid if len(data.valid) else None,
            device=self.device,
            dtype=self.dtype,
            decode=self._decode if config.training.bleu_samples and len(data.valid) else None,
            save=self._save,
            world=self.world,
        )

    def _resume(self) -> int | None:
        """Puts the newest whole checkpoint into the trainer; its step, None if there is none."""
        checkpoint = self._newest() if self.world.is_first else None
        state = self.world.from_first(read_state(checkpoint) if checkpoint else None)
        if state is None:
            return None
        trainer = self.trainer
        then, now = state.get("batches_per_step"), trainer.batches_per_step
        if then not in (None, now):
            raise UserError(
                f"{self.folder.path.absolute()} was trained with steps of {then} batches "
                f"(processes x training.accumulate), now they are of {now}: start "
                f"{then / trainer.settings.accumulate:g} processes, choose another name, or give "
                "--restart"
            )
        trainer.progress = Progress(**state["progress"])
        self._load_weights(checkpoint)
        updates = trainer.progress.step - trainer.progress.skipped
        moments = self._part(checkpoint, "optimizer")
        load_optimizer(trainer.model, trainer.optimizer, moments, updates)
        if checkpoint is not None:
            self._point_best(checkpoint)
        return trainer.progress.step

    def _point_best(self, checkpoint: Path) -> None:
        """Mends an end that came between the writing of the best checkpoint and pointing at it.

        If `best` is an average that was made after this step, it stays.
        """
        progress = self.trainer.progress
        if _step_of(self.folder.pointer("best")) < progress.step == progress.best_step:
            self.saver.point_best(checkpoint)

    def _newest(self) -> Path | None:
        """The newest whole checkpoint; damaged ones are set aside."""
        self.tokenizers = self.folder.tokenizer_state(self.data.src, self.data.tgt)
        for checkpoint in list_checkpoints(self.folder.checkpoints)[::-1]:
            try:
                check(checkpoint)
            except DamagedError as error:
                aside = checkpoint.with_name(f"damaged-{checkpoint.name}-{time.time_ns()}")
                checkpoint.rename(aside)
                log.warning(
                    "damaged checkpoint %s set aside as %s: %s", checkpoint.name, aside, error
                )
                continue
            state = read_state(checkpoint)
            self.folder.check_tokenizers(state, checkpoint, self.data.src, self.data.tgt)
            return checkpoint
        if self.begun and not self.restarted:
            log.warning("no whole checkpoint is left in %s: beginning anew", self.folder.path)
        return None

    def _load_weights(self, checkpoint: Path | None) -> None:
        """The weights that training goes on from, and their moving average if there is one."""
        trainer = self.trainer
        load_weights(trainer.model, self._part(checkpoint, "model"))
        trainer.start_average()
        if trainer.average is not None:
            load_weights(trainer.model, self._part(checkpoint, "raw"))

    def _part(self, checkpoint: Path | None, stem: str) -> dict[str, Tensor]:
        """The tensors of a file of the first process's checkpoint."""
        return self.world.tensors_from_first(read_part(checkpoint, stem) if checkpoint else {})

    def _begin(self) -> None:
        """The first weights: random ones, or of another model; those of the first process."""
        if self.config.training.init_from and self.world.is_first:
            self._init_from(self.config.training.init_from)
        if self.world.size > 1:
            own = {name: p.detach() for name, p in self.trainer.model.named_parameters()}
            load_weights(self.trainer.model, self.world.tensors_from_first(own))

    def keep_pairs(self, rows: list[int]) -> Path:
        """Writes pairs of the training split to a file in runs/<name>, to be looked at."""
        path = self.runs_folder / f"not-finite-step-{self.trainer.progress.step + 1}.jsonl"
        if self.world.is_first:
            pairs = [self.data.corpus.splits["train"][row] for row in rows]
            lines = (json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
            atomic.write_text(path, "".join(lines))
        self.world.wait()  # the end of one process is that of the others
        return path

    def _init_from(self, name: str) -> None:
        tokenizers = self.data.src, self.data.tgt
        for line in init_from(self.trainer.model, tokenizers, find_model(name)):
            log.info("%s", line)

    def _decode(self) -> tuple[dict[str, float], list[dict[str, str]]]:
        """BLEU and chrF of the first validation sentences, and some of them side by side."""
        # What `mt evaluate --split valid` scores too, by the same code.
        test_set = first_of(self.data.corpus, "valid", self.config.training.bleu_samples)
        share = self.translator.translate(self.world.share(test_set.sources))
        translations = self.world.gather(share)
        hypotheses = [translation.text for translation in translations]
        scores = score(hypotheses, test_set.references, self.config.data.tgt)
        self._draw_attention(translations[:PICTURES])
        if not self._signatures_said:
            self._signatures_said = True
            for result in scores.values():
                log.info(
                    "validation %s is of %s sentences, %s",
                    result.name, len(hypotheses), result.signature,
                )  # fmt: skip
        samples = [
            {"source": t.source, "reference": reference, "translation": t.text}
            for t, reference in zip(translations[:SAMPLES], test_set.references, strict=False)
        ]
        return {name: result.value for name, result in scores.items()}, samples

    def _draw_attention(self, translations: Sequence[Translation]) -> None:
        """Where the model looks as it says these, for TensorBoard: always the same sentences."""
        metrics, step = self.trainer.metrics, self.trainer.progress.step
        # Another process writes the record; or this is the average of the end, of the same step.
        if metrics is None or step == self._drawn_at:
            return
        self._drawn_at = step
        for i, translation in enumerate(translations, 1):
            if len(translation.parts) != 1:  # blank, or over the limit
                continue
            picture = mean_picture(attention_maps(self.translator, translation))
            pixels = np.asarray(picture.image)
            metrics.image(f"attention/{i}", step, pixels)
            if picture.complaint and not self._signatures_said:
                log.warning("attention/%s: %s", i, picture.complaint)

    def _save(self, progress: Progress, best: bool) -> None:
        """Hands what a checkpoint holds to the one that writes, in the first process."""
        saver = self.trainer.saver
        if saver is None:
            return
        saver.save(progress.step, self.parts(), self.state(progress), best)

    def state(self, progress: Progress) -> dict[str, Any]:
        """What a checkpoint remembers besides tensors."""
        return {
            "progress": vars(progress),
            "metric": watched_metric(self.config),
            "batches_per_step": self.trainer.batches_per_step,
            "tokenizers": self.tokenizers,
            "torch": torch.__version__,
        }

    def parts(self) -> dict[str, dict[str, Tensor]]:
        """The tensors of a checkpoint by file, as they are at this moment: `model` translates.

        With a moving average that is the average, and training goes on from `raw`.
        """
        model, average = self.trainer.model, self.trainer.average
        weights = {name: p.detach() for name, p in model.named_parameters()}
        parts = {"model": weights, "optimizer": optimizer_tensors(model, self.trainer.optimizer)}
        if average is not None:
            parts["raw"], parts["model"] = weights, average.weights
        return parts


def newest_first(world: World, config: Config) -> World:
    """The process with the newest checkpoint becomes the first one.

    torchrun may number the machines anew at each start, and they need not share the folder.
    """
    checkpoints = list_checkpoints(ModelFolder(WEIGHTS / config.name).checkpoints)
    return world.led_by_most(step_of(checkpoints[-1]) if checkpoints else 0)


def own_device(device: torch.device, world: World) -> torch.device:
    """The GPU of this process where there are several: the one with its number on the machine.

    Raises UserError if there are fewer GPUs than processes.
    """
    if device.type == "cuda" and world.size > 1:
        if world.local_rank >= torch.cuda.device_count():
            raise UserError(
                f"more processes than GPUs on this machine, which has {torch.cuda.device_count()}: "
                "lower --nproc-per-node, or choose device: cpu"
            )
        device = torch.device("cuda", world.local_rank)
        torch.cuda.set_device(device)
    return device


def move_aside(name: str) -> list[Path]:
    """Renames the folders of an earlier run of this name; nothing is deleted.

    Raises UserError when that run is still going on.
    """
    there = [folder for folder in (WEIGHTS / name, RUNS / name) if folder.exists()]
    if WEIGHTS / name in there:
        FolderLock(WEIGHTS / name).release()
    stamp, again = time.strftime("%Y%m%d-%H%M%S"), 1
    while any((place / f"{name}.{stamp}").exists() for place in (WEIGHTS, RUNS)):
        again += 1
        stamp = f"{stamp[:15]}-{again}"
    return [folder.rename(folder.with_name(f"{name}.{stamp}")) for folder in there]


def check_budget(config: Config, data: TrainingData) -> None:
    """Raises UserError if the longest training pair is more than a batch may hold."""
    budget, longest = config.training.batch_tokens, int(data.train.lengths.max())
    if budget is not None and longest > budget:
        raise UserError(
            f"training.batch_tokens ({budget}) is smaller than the longest training pair "
            f"({longest} tokens a side): raise it to {longest} or more, or lower data.max_length "
            f"({config.data.max_length}), which leaves longer pairs out"
        )


def check_memory(config: Config, data: TrainingData, device: torch.device) -> None:
    """Raises UserError if the model alone is more than the memory of the device."""
    needed = bytes_to_train(config.model, data.src.vocab_size, data.tgt.vocab_size)
    each = bytes_to_train(config.model, data.src.vocab_size, data.tgt.vocab_size) // 4
    saved = each * (3 if config.training.ema is None else 4)  # weights, two moments, the average
    needed = each + saved  # with the gradients
    if device.type == "cpu":
        needed += saved  # the copy that is written
    there = memory_of(device)
    if there is not None and needed > there:
        raise UserError(
            f"this model is too large for {device}: its weights, gradients and moments, and on a "
            f"CPU the copy that is saved, need {needed / 2**30:,.1f} GiB, and there are "
            f"{there / 2**30:,.1f}; lower model.d_model ({config.model.d_model}), "
            f"d_ff ({config.model.d_ff}) or num_layers, or "
            f"tokenizer.vocab_size ({config.tokenizer.vocab_size})"
        )


def check_average(config: Config, data: TrainingData) -> None:
    """Raises UserError if an average of checkpoints is asked for that could not be validated."""
    if config.training.average is not None and not len(data.valid):
        raise UserError(
            "training.average needs validation pairs, to tell whether the average is better: "
            f"data.valid_size is {config.data.valid_size:g}"
        )


def _step_of(checkpoint: Path | None) -> int:
    """The step that a checkpoint, or an average of some, was made at; -1 if it is not whole."""
    try:
        return -1 if checkpoint is None else int(read_state(checkpoint)["progress"]["step"])
    except DamagedError:
        return -1


def check_writable(folder: Path) -> None:
    """Raises UserError unless `folder` is there or can be made, and written in."""
    nearest = folder.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise UserError(f"cannot write {folder.absolute()}: {nearest} is a file, not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"cannot write {folder.absolute()}: no permission to write in {nearest}")


def check_same_everywhere(world: World, config: Config, data: TrainingData) -> None:
    """Raises UserError if processes have read different configs, data or versions of `mt`."""
    train = data.corpus.splits["train"]
    some = train[:: max(1, len(train) // 1000)]["src"]
    order = hashlib.sha256("\n".join(some).encode("utf-8", "surrogatepass"))
    order.update(data.train.lengths.tobytes())
    splits = data.corpus.report.as_dict()["splits"]
    texts = {name: f"{s['pairs']:,} pairs, {s['hash']}" for name, s in splits.items()}
    own = {"mt": __version__, "order of the pairs": order.hexdigest()[:16], **texts}
    everywhere = world.gather([(platform.node(), config, own)])
    host, first_config, first = everywhere[0]
    for rank, (other_host, other_config, other) in enumerate(everywhere):
        changed = differences(first_config, other_config)
        changed = [line for line in changed if not line.startswith("device:")]
        changed += [
            f"{key}: {first[key]} -> {other[key]}" for key in first if first[key] != other[key]
        ]
        if changed:
            raise UserError(
                f"process {rank} on {other_host} does not train what process 0 on {host} does "
                "(there -> here):\n  " + "\n  ".join(changed) + "\n  Give every machine the same "
                "config, the same corpus and the same version of mt"
            )


def check_same_config(old: Config, new: Config, folder: ModelFolder) -> None:
    """Raises UserError if a run cannot go on under `new`, listing the settings that differ."""
    changed = [line for line in differences(old, new) if not line.startswith(MAY_CHANGE)]
    if changed:
        raise UserError(
            "\n  ".join(
                [
                    f"{folder.path.absolute()} was trained with other settings (then -> now):",
                    *changed,
                ]
            )
            + "\n  Put them back, choose another name, or give --restart to move the old run "
            "aside and train anew"
        )
