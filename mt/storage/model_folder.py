"""A model folder, weights/<name>: config, tokenizers and checkpoints that belong together.

The folder is self-contained: it can be copied anywhere and translated with.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mt.errors import UserError
from mt.storage import atomic
from mt.storage.checkpoint import DamagedError, list_checkpoints, read_part, read_state
from mt.storage.export_record import config_mark, read_record
from mt.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from torch import Tensor

    from mt.config import Config

log = logging.getLogger("mt")
WEIGHTS = Path("weights")
T = TypeVar("T")


class ModelFolder:
    """The files of one model, by what they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.yaml"
        self.data_file = path / "data.json"
        self.checkpoints = path / "checkpoints"
        self.average = self.checkpoints / "average"  # of some of them; nothing to resume from
        self.chosen: Path | None = None  # the checkpoint to translate with, instead of the best

    @property
    def exists(self) -> bool:
        """Whether there is a model, begun or finished, in the folder."""
        return self.config_file.is_file()

    def tokenizer_file(self, language: str) -> Path:
        """Where the tokenizer of a language is."""
        return self.path / f"tokenizer_{language}.json"

    def read_config(self) -> Config:
        """The resolved config that the model was trained with. Raises UserError."""
        from mt.config_file import config_from_dict
        from mt.strict_yaml import read_yaml

        data, _ = read_yaml(self.config_file)
        if not isinstance(data, dict):
            raise UserError(f"{self.config_file.absolute()}: damaged: it is not a config")
        return config_from_dict(data, str(self.config_file))

    def settings(self) -> Config:
        """`read_config`, or of an export `data`, `model` and `decoding` alone, as plain values.

        An export has ready what its config says; it counts for the very file that was checked then.
        To import and read all that a config may say takes as long as the rest of a start.
        """
        record = read_record(self.path)
        if record is None or record.config.get("mark") != config_mark(self.config_file):
            return self.read_config()
        sections = {k: SimpleNamespace(**record.config[k]) for k in ("data", "model", "decoding")}
        return cast("Config", SimpleNamespace(**sections))

    def write_config(self, config: Config) -> None:
        """Puts the resolved config in the folder."""
        from mt.config_file import dump_config

        atomic.write_text(self.config_file, dump_config(config))

    def tokenizers(self, config: Config) -> tuple[Tokenizer, Tokenizer]:
        """The source and the target tokenizer. Raises UserError."""
        src = Tokenizer.load(self.tokenizer_file(config.data.src), config.data.src)
        tgt = Tokenizer.load(self.tokenizer_file(config.data.tgt), config.data.tgt)
        return src, tgt

    def pointer(self, name: str) -> Path | None:
        """The checkpoint, or average of some, that the file `name` ("best" or "last") names."""
        try:
            named = self.checkpoints / (self.path / name).read_text(encoding="utf-8").strip()
        except OSError:
            return None
        there = [*list_checkpoints(self.checkpoints), *([self.average] * self.average.is_dir())]
        return named if named in there else None

    def choose(self, name: str) -> None:
        """Makes the checkpoint `name`, or "best" or "last", the one to translate with.

        Raises UserError when there is no such checkpoint.
        """
        there = [*list_checkpoints(self.checkpoints), *([self.average] * self.average.is_dir())]
        named = self.pointer(name) if name in ("best", "last") else self.checkpoints / name
        if named not in there:
            names = ", ".join(["best", "last", *(path.name for path in there)])
            raise UserError(
                f"no checkpoint {name} in {self.checkpoints.absolute()}; there is {names}"
            )
        self.chosen = named

    def point(self, name: str, checkpoint: Path) -> None:
        """Makes the file `name` ("best" or "last") name a checkpoint."""
        atomic.write_text(self.path / name, checkpoint.name + "\n")

    def unpoint(self, name: str) -> None:
        """Makes `name` name no checkpoint."""
        (self.path / name).unlink(missing_ok=True)

    def weights(self, src: Tokenizer, tgt: Tokenizer) -> tuple[dict[str, Tensor], Path]:
        """The weights to translate with, and their checkpoint: the chosen, else the best, else the
        newest.

        A damaged checkpoint is named and the next one used. Raises UserError when none is left,
        or when the tokenizers are not those that the weights were trained with.
        """
        newest = list_checkpoints(self.checkpoints)[::-1]
        best = self.pointer("best")
        order = [best, *[path for path in newest if path != best]] if best else newest
        if self.chosen:
            order = [self.chosen]
        if not order and read_record(self.path):
            raise UserError(f"{self.path.absolute()} is an export; give the model that it is of")
        if not order:
            raise UserError(f"{self.path.absolute()} has no checkpoint yet; let `mt train` go on")

        def read(checkpoint: Path) -> dict[str, Tensor]:
            self.check_tokenizers(read_state(checkpoint), checkpoint, src, tgt)
            return read_part(checkpoint, "model")

        return self.first_whole(order, read)

    def first_whole(self, order: list[Path], read: Callable[[Path], T]) -> tuple[T, Path]:
        """`read` of the first checkpoint in `order` that is whole, naming those that are not."""
        for checkpoint in order:
            try:
                return read(checkpoint), checkpoint
            except DamagedError as error:
                log.warning("damaged checkpoint %s passed over: %s", checkpoint.name, error)
        if self.chosen:
            raise UserError(f"{self.chosen.absolute()} is damaged; choose another --checkpoint")
        raise UserError(
            f"every checkpoint in {self.checkpoints.absolute()} is damaged; "
            "train again with --restart"
        )

    def check_tokenizers(
        self, state: dict[str, Any], checkpoint: Path, src: Tokenizer, tgt: Tokenizer
    ) -> None:
        """Raises UserError unless the tokenizers are those of the checkpoint."""
        for tokenizer in (src, tgt):
            file = self.tokenizer_file(tokenizer.language)
            expected = state["tokenizers"][file.name]
            if atomic.sha256(file) != expected["sha256"]:
                raise UserError(
                    f"{file.absolute()} ({tokenizer.vocab_size} tokens) is not the tokenizer that "
                    f"checkpoint {checkpoint.name} was trained with "
                    f"({expected['vocab_size']} tokens); put the right file back, "
                    "or train again with --restart"
                )

    def tokenizer_state(self, src: Tokenizer, tgt: Tokenizer) -> dict[str, Any]:
        """What a checkpoint remembers of the tokenizers, for `check_tokenizers`."""
        return {
            self.tokenizer_file(t.language).name: {
                "sha256": atomic.sha256(self.tokenizer_file(t.language)),
                "vocab_size": t.vocab_size,
            }
            for t in (src, tgt)
        }


def find_model(name: str | None) -> ModelFolder:
    """The model folder `name`: a folder, or a name in weights/; None for the newest there.

    Raises UserError when there is none, naming where it looked and what is there.
    """
    if name is None:
        return _newest_model()
    for path in (Path(name), WEIGHTS / name):
        if ModelFolder(path).exists:
            return ModelFolder(path)
    for path in (Path(name), WEIGHTS / name):
        if path.exists():
            raise UserError(
                f"{path.absolute()} is not a model folder: it has no config.yaml; "
                f"expected a folder that `mt train` made{_known_models()}"
            )
    places = dict.fromkeys(str(path.absolute()) for path in (Path(name), WEIGHTS / name))
    raise UserError(f"no model {name}: there is no {' and no '.join(places)}{_known_models()}")


def _newest_model() -> ModelFolder:
    trained = [folder for folder in _models() if list_checkpoints(folder.checkpoints)]
    if not trained:
        raise UserError(
            f"no trained model in {WEIGHTS.absolute()}; run `mt train --config FILE` first, "
            "or name a model folder with --model"
        )

    def age(folder: ModelFolder) -> float:
        return max(path.stat().st_mtime for path in list_checkpoints(folder.checkpoints))

    return max(trained, key=age)


def _models() -> list[ModelFolder]:
    if not WEIGHTS.is_dir():
        return []
    folders = [ModelFolder(path) for path in sorted(WEIGHTS.iterdir()) if path.is_dir()]
    return [folder for folder in folders if folder.exists]


def _known_models() -> str:
    names = [folder.path.name for folder in _models()]
    return f"; in {WEIGHTS.absolute()} there is {', '.join(names)}" if names else ""
