"""A run: its folders, what is in them, and how it begins, goes on and ends."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

from mt import __version__
from mt.config import Config
from mt.decoding.torch_engine import TorchEngine
from mt.decoding.translator import Translator
from mt.distributed import ALONE, World
from mt.errors import UserError
from mt.evaluation.evaluate import first_of
from mt.model.build import build_model
from mt.model.device import resolve_device, resolve_precision
from mt.model.weights import load_weights
from mt.storage import atomic
from mt.storage.checkpoint import list_checkpoints, step_of
from mt.storage.history import History, How
from mt.storage.lock import FolderLock
from mt.storage.model_folder import WEIGHTS, ModelFolder, find_model
from mt.storage.record import RUNS
from mt.training import clock
from mt.training.checks import (
    check_average,
    check_budget,
    check_memory,
    check_same_everywhere,
    check_writable,
    own_device,
)
from mt.training.data import TrainingData, load_training_data
from mt.training.hparams import hyper_parameters
from mt.training.init_from import init_from
from mt.training.lexicon import start_from_lexicon
from mt.training.metrics import MetricsLog
from mt.training.progress import Progress, watched_metric
from mt.training.resume import (
    MAY_CHANGE,
    check_same_config,
    newest_whole,
    parts_of,
    point_best,
    state_of,
    take_back,
)
from mt.training.samples import Samples
from mt.training.saving import Saver
from mt.training.trainer import Scored, Trainer

log = logging.getLogger("mt")


class Run:
    """One training run, new or resumed, ready to `train`."""

    def __init__(
        self,
        config: Config,
        restart: bool = False,
        world: World = ALONE,
        began: float | None = None,
    ) -> None:
        """Reads all that is needed and checks it. Raises UserError; creates nothing before.

        With `restart` an earlier run of this name is moved aside once all is well. Of several
        processes the first one alone reads and writes the folders; the others have it from there.
        `began`, in seconds since 1970, is when the command was given: time taken counts from there.
        """
        self.config = config
        self.world = world
        self.restarted = restart
        self.began = time.time() if began is None else began
        self.folder = ModelFolder(WEIGHTS / config.name)
        self.runs_folder = RUNS / config.name
        self.history = History(self.runs_folder)
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
            self.trainer = self._trainer()
            self.trainer.time.began = clock.now() - (time.time() - self.began)
            if world.is_first:
                if restart or not self.begun:
                    self._first_weights()
                self._create(restart)
            world.wait()  # until nothing may be refused any more
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
            step, total = self.trainer.progress.step, self.trainer.total_steps
            facts = {"device": str(self.device), "processes": self.world.size, "mt": __version__}
            self.history.begin(self.began, step, total, facts)
            self.trainer.saver = self.saver
            self.trainer.metrics = MetricsLog(self.runs_folder, self.trainer.progress.step)
            if self.resumed_from is None:
                self.trainer.metrics.begin(self.data.train.lengths)
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

    def note_end(self, how: How, why: str) -> None:
        """Puts into the history of the run how this start of it ended. Raises WriteError."""
        if self.world.is_first:
            self.history.end(how, self.trainer.progress.step, why)

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
        translator = Translator(engine, data.src, data.tgt, config)
        # What `mt evaluate --split valid` scores too, by the same code.
        test_set = first_of(data.corpus, "valid", config.training.bleu_samples)
        self.samples = Samples(translator, test_set, config.data.tgt, self.world)
        return Trainer(
            config,
            model,
            data.train,
            data.valid if len(data.valid) else None,
            device=self.device,
            dtype=self.dtype,
            decode=self._decode if test_set.sources and len(data.valid) else None,
            save=self._save,
            world=self.world,
        )

    def _resume(self) -> int | None:
        """Puts the newest whole checkpoint into the trainer; its step, None if there is none."""
        checkpoint = self._newest() if self.world.is_first else None
        step = take_back(self.trainer, checkpoint, self.folder)
        if checkpoint is not None:
            point_best(self.saver, self.trainer.progress, checkpoint)
        return step

    def _newest(self) -> Path | None:
        self.tokenizers = self.folder.tokenizer_state(self.data.src, self.data.tgt)
        return newest_whole(self.folder, self.data.src, self.data.tgt)

    def _begin(self) -> None:
        """The first weights are those of the first process."""
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

    def _first_weights(self) -> None:
        """What does not start at random: by a lexicon, then as another model, if one is named."""
        if self.config.model.embedding_init == "lexicon":
            start_from_lexicon(self.trainer.model, self.data.train, self.config.seed)
        name, tokenizers = self.config.training.init_from, (self.data.src, self.data.tgt)
        if name is None:
            return
        try:
            for line in init_from(self.trainer.model, tokenizers, find_model(name)):
                log.info("%s", line)
        except UserError as error:
            raise UserError(f"training.init_from ({name}): {error}") from None

    def _save(self, progress: Progress, best: bool) -> None:
        """Hands what a checkpoint holds to the one that writes, in the first process."""
        saver = self.trainer.saver
        if saver is None:
            return
        saver.save(progress.step, parts_of(self.trainer), self.state(progress), best)

    def _decode(self) -> Scored:
        return self.samples.translate(self.trainer.metrics, self.trainer.progress.step)

    def state(self, progress: Progress) -> dict[str, Any]:
        """What a checkpoint remembers besides tensors."""
        return state_of(self.trainer, progress, self.tokenizers)


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
