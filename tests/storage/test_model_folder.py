"""Model folders: which one is found, what is said of those that are none, which weights count."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.config_file import config_from_dict
from mt.errors import UserError
from mt.storage.checkpoint import list_checkpoints, read_state, write_as, write_checkpoint
from mt.storage.model_folder import ModelFolder, find_model
from mt.text.tokenizer import Tokenizer
from tests.conftest import toy_config, toy_pairs

CONFIG = config_from_dict(toy_config(), "test")


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("touch PWNED",)


def make(path: Path, steps: tuple[int, ...] = (1,)) -> ModelFolder:
    """A folder as training makes it, with checkpoints whose weights tell their step."""
    folder = ModelFolder(path)
    folder.checkpoints.mkdir(parents=True)
    for side, language in enumerate(("en", "it")):
        sentences = [pair[side] for pair in toy_pairs(30)]
        Tokenizer.train(sentences, language, CONFIG.tokenizer).save(folder.tokenizer_file(language))
    folder.write_config(CONFIG)
    state = {"tokenizers": folder.tokenizer_state(*folder.tokenizers(CONFIG))}
    for step in steps:
        parts = {"model": {"step": torch.tensor(step)}}
        write_checkpoint(folder.checkpoints, step, parts, state)
    return folder


def used(folder: ModelFolder) -> int:
    """The step of the weights that would translate."""
    weights, checkpoint = folder.weights(*folder.tokenizers(CONFIG))
    assert checkpoint.name == f"step-{int(weights['step']):08d}"
    return int(weights["step"])


def damage(folder: ModelFolder, step: int, file: str = "model.safetensors") -> None:
    path = folder.checkpoints / f"step-{step:08d}" / file
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def refusal(name: str | None) -> str:
    with pytest.raises(UserError) as refused:
        find_model(name)
    return str(refused.value)


def test_a_model_is_found_by_its_name_and_by_its_folder(here: Path) -> None:
    make(here / "weights" / "toy")
    make(here / "elsewhere" / "copy")
    assert find_model("toy").path == Path("weights/toy")
    assert find_model("weights/toy/").path == Path("weights/toy")
    assert find_model("elsewhere/copy").path == Path("elsewhere/copy")
    assert find_model(str(here / "elsewhere/copy")).path == here / "elsewhere/copy"


def test_without_a_name_it_is_the_one_with_the_newest_checkpoint(here: Path) -> None:
    for age, name in enumerate(("b", "a", "c")):
        folder = make(here / "weights" / name)
        os.utime(folder.checkpoints / "step-00000001", (0, 1_000_000_000 - age))
    make(here / "weights" / "begun", steps=())
    (here / "weights" / "README.md").write_text("a note")
    assert find_model(None).path == Path("weights/b")


def test_without_any_model_the_way_to_one_is_told(here: Path) -> None:
    expected = (
        f"no trained model in {here}/weights; run `mt train --config FILE` first, "
        "or name a model folder with --model"
    )
    assert refusal(None) == expected
    assert not Path("weights").exists()
    Path("weights").mkdir()
    assert refusal(None) == expected
    make(here / "weights" / "begun", steps=())
    assert refusal(None) == expected


def test_an_unknown_name_gets_the_known_ones(here: Path) -> None:
    assert refusal("nope") == (f"no model nope: there is no {here}/nope and no {here}/weights/nope")
    make(here / "weights" / "toy")
    make(here / "weights" / "other")
    Path("weights/not-a-model").mkdir()
    assert refusal("nope").endswith(f"weights/nope; in {here}/weights there is other, toy")
    assert refusal(f"{here}/nope").startswith(f"no model {here}/nope: there is no {here}/nope; in")


@pytest.mark.parametrize("name", ["model.pt", "folder", "weights/folder", "pickled"])
def test_what_is_no_model_folder_is_refused_and_nothing_in_it_runs(here: Path, name: str) -> None:
    bomb = pickle.dumps(Bomb())
    Path("model.pt").write_bytes(bomb)
    for folder in ("folder", "pickled", "weights/folder"):
        Path(folder).mkdir(parents=True)
    for file in ("tmodel_19.pt", "pytorch_model.bin", "model.pkl"):
        (Path("pickled") / file).write_bytes(bomb)
    assert refusal(name) == (
        f"{here / name} is not a model folder: it has no config.yaml; "
        "expected a folder that `mt train` made"
    )
    assert not Path("PWNED").exists()


def test_pointers(here: Path) -> None:
    folder = make(here / "weights" / "toy", steps=(1, 2))
    assert folder.pointer("best") is None
    first = folder.checkpoints / "step-00000001"
    folder.point("best", first)
    assert folder.pointer("best") == first
    for content in ("step-00000099\n", "", "../../config.yaml", "/etc", "\n\n"):
        (folder.path / "best").write_text(content)
        assert folder.pointer("best") is None


def test_the_best_weights_are_used_else_the_newest(here: Path) -> None:
    folder = make(here / "weights" / "toy", steps=(99, 100, 20))
    assert used(folder) == 100
    folder.point("best", folder.checkpoints / "step-00000020")
    assert used(folder) == 20
    (folder.path / "best").write_text("step-00000021\n")
    assert used(folder) == 100


def test_best_may_be_an_average_which_is_nothing_to_resume_from(here: Path) -> None:
    folder = make(here / "weights" / "toy", steps=(1, 2))
    folder.point("best", folder.average)
    assert folder.pointer("best") is None
    state = read_state(folder.checkpoints / "step-00000001")
    write_as(folder.average, {"model": {"step": torch.tensor(1.5)}}, state)
    assert folder.pointer("best") == folder.average
    weights, path = folder.weights(*folder.tokenizers(CONFIG))
    assert (float(weights["step"]), path) == (1.5, folder.average)
    assert folder.average not in list_checkpoints(folder.checkpoints)


def test_damaged_weights_are_named_and_the_next_ones_used(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("mt.storage.model_folder.log.warning", lambda t, *v: said.append(t % v))
    folder = make(here / "weights" / "toy", steps=(1, 2, 3))
    folder.point("best", folder.checkpoints / "step-00000001")
    damage(folder, 1)
    assert used(folder) == 3
    damage(folder, 3, "state.json")
    assert used(folder) == 2
    assert len(said) == 3
    assert said[0].startswith("damaged checkpoint step-00000001 passed over: ")
    assert "step-00000001/model.safetensors does not match its checksum" in said[0]
    assert "step-00000003/state.json" in said[2]
    damage(folder, 2)
    with pytest.raises(UserError) as refused:
        used(folder)
    assert str(refused.value) == (
        f"every checkpoint in {here}/weights/toy/checkpoints is damaged; train again with --restart"
    )


def test_a_folder_without_checkpoints(here: Path) -> None:
    folder = make(here / "weights" / "toy", steps=())
    with pytest.raises(UserError) as refused:
        used(folder)
    assert str(refused.value) == (f"{here}/weights/toy has no checkpoint yet; let `mt train` go on")


@pytest.mark.parametrize("language", ["en", "it"])
def test_tokenizers_of_another_run_are_refused_with_both_sizes(here: Path, language: str) -> None:
    folder = make(here / "weights" / "toy")
    before = folder.tokenizers(CONFIG)[language == "it"].vocab_size
    other = Tokenizer.train(["x y z"], language, CONFIG.tokenizer)
    other.save(folder.tokenizer_file(language))
    with pytest.raises(UserError) as refused:
        used(folder)
    file = here / "weights/toy" / f"tokenizer_{language}.json"
    assert str(refused.value).startswith(
        f"{file} ({other.vocab_size} tokens) is not the tokenizer that checkpoint step-00000001 "
        f"was trained with ({before} tokens)"
    )


@pytest.mark.parametrize("content", ["", "[]", "name: toy\n", "a: [", "{}"])
def test_a_damaged_config_is_named(here: Path, content: str) -> None:
    folder = make(here / "weights" / "toy")
    folder.config_file.write_text(content)
    with pytest.raises(UserError, match=r"weights/toy/config\.yaml"):
        folder.read_config()


def test_the_config_is_read_as_it_was_written(here: Path) -> None:
    assert make(here / "weights" / "toy").read_config() == CONFIG
