"""`mt translate` and its model: moved, damaged, mixed up, or not there."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.storage.checkpoint import read_part, read_state, write_checkpoint
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, Tokenizer
from tests.cli.translating import CAT, CAT_IT, Mt
from tests.conftest import Result


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("touch PWNED",)


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    """Rewrites every checkpoint of the model, checksums and all."""
    for path in sorted((folder / "checkpoints").iterdir()):
        state = read_state(path)
        parts = {stem: read_part(path, stem) for stem in ("model", "optimizer")}
        change(parts["model"])
        state.pop("files")
        write_checkpoint(path.parent, state["progress"]["step"], parts, state)


def test_an_untrained_model_ends_soon_and_says_that_it_was_cut(trained: Path, mt: Mt) -> None:
    def forget(model: dict[str, torch.Tensor]) -> None:
        generator = torch.Generator().manual_seed(1)
        for tensor in model.values():
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.1)
        model["projection.bias"][EOS_ID] = -9.0

    change_weights(Path("weights/toy"), forget)
    result = mt("translate", CAT)
    assert (result.status, len(result.out.splitlines())) == (0, 1)
    assert len(result.out.split()) <= 22
    assert "cut at the longest allowed length, without an end: line 1" in result.err


def test_a_model_that_never_ends_is_cut_and_that_is_said(trained: Path, mt: Mt) -> None:
    def never_end(model: dict[str, torch.Tensor]) -> None:
        model["projection.bias"][EOS_ID] = -1e9

    change_weights(Path("weights/toy"), never_end)
    Path("in.txt").write_text(f"\n{CAT}\n{'cat ' * 20}\n")
    result = mt("translate", "--input", "in.txt")
    assert result.status == 0
    lines = result.out.split("\n")
    assert len(lines) == 4
    assert "cut at the longest allowed length, without an end: line 2, 3" in result.err
    assert 1 <= len(lines[1].split()) <= 22


def test_a_tokenizer_in_place_of_the_other_is_noticed(trained: Path, mt: Mt) -> None:
    shutil.copy("weights/toy/tokenizer_it.json", "weights/toy/tokenizer_en.json")
    result = mt("translate", CAT)
    assert result.status == 2
    assert "tokenizer_en.json" in result.err
    assert "is not the tokenizer that checkpoint" in result.err


def test_a_config_that_does_not_describe_the_weights_is_noticed(trained: Path, mt: Mt) -> None:
    config = Path("weights/toy/config.yaml")
    config.write_text(config.read_text().replace("d_model: 32", "d_model: 64"))
    result = mt("translate", CAT)
    assert result.status == 2
    assert "32 in the checkpoint" in result.err
    assert "64 by config.yaml" in result.err


@pytest.mark.parametrize("arguments", [["x"], ["--input", "pairs.jsonl"], ["x", "--output", "o"]])
def test_before_any_training_it_says_to_train(corpus: Path, mt: Mt, arguments: list[str]) -> None:
    result = mt("translate", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"mt: no trained model in {corpus}/weights; run `mt train --config FILE` first, "
        "or name a model folder with --model\n"
    )
    assert [path.name for path in corpus.iterdir()] == ["pairs.jsonl"]


def test_a_folder_that_was_moved_elsewhere_is_all_that_it_takes(
    trained: Path, mt: Mt, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trained on a GPU, as far as its config says, and copied to a machine that has none."""
    other = tmp_path_factory.mktemp("other")
    shutil.move("weights/toy", other / "my model")
    shutil.rmtree(trained / "runs")
    monkeypatch.chdir(other)
    config = Path("my model/config.yaml")
    config.write_text(config.read_text().replace("device: cpu", "device: cuda"))
    assert "device: cuda" in config.read_text()
    assert mt("translate", "--model", "my model", CAT) == Result(0, CAT_IT + "\n", "")
    assert mt("translate", "--model", other / "my model", CAT).out == CAT_IT + "\n"


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("damage", ["emptied", "cut", "gone", "folder", "list"])
def test_a_damaged_tokenizer_is_named(trained: Path, mt: Mt, language: str, damage: str) -> None:
    file = trained / "weights" / "toy" / f"tokenizer_{language}.json"
    content = file.read_bytes()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage != "gone":
        half = content[: len(content) // 2]
        file.write_bytes({"emptied": b"", "cut": half, "list": b"[]"}[damage])
    result = mt("translate", CAT)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"mt: {file}: ")
    assert len(result.err.splitlines()) == 1


def test_a_tokenizer_of_another_model_is_refused_with_both_sizes(trained: Path, mt: Mt) -> None:
    file = Path("weights/toy/tokenizer_it.json")
    tokenizer = Tokenizer.load(file)
    size = tokenizer.vocab_size
    Tokenizer.train(["a b c"], "it", ModelFolder(file.parent).read_config().tokenizer).save(file)
    result = mt("translate", CAT)
    assert (result.status, result.out) == (2, "")
    assert f"{file.absolute()} (7 tokens) is not the tokenizer" in result.err
    assert f"({size} tokens)" in result.err
    assert "size mismatch" not in result.err


def test_damaged_weights_are_named_and_those_before_used(trained: Path, mt: Mt) -> None:
    newest = sorted(Path("weights/toy/checkpoints").iterdir())[-1]
    file = newest / "model.safetensors"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    result = mt("translate", CAT)
    assert result.status == 0
    assert len(result.out.splitlines()) == 1
    assert f"damaged checkpoint {newest.name} passed over: {file} does not match" in result.err
    for checkpoint in Path("weights/toy/checkpoints").iterdir():
        (checkpoint / "state.json").unlink()
    result = mt("translate", CAT)
    assert result.status == 2
    assert "every checkpoint in" in result.err


@pytest.mark.parametrize("kind", ["file", "folder", "weights", "state"])
def test_pickles_are_refused_and_never_run(trained: Path, mt: Mt, kind: str) -> None:
    bomb = pickle.dumps(Bomb())
    model = Path("bad")
    if kind == "file":
        model = Path("model.pt")
        model.write_bytes(bomb)
    elif kind == "folder":
        model.mkdir()
        (model / "model.pt").write_bytes(bomb)
    else:
        shutil.copytree("weights/toy", model)
        name = "model.safetensors" if kind == "weights" else "state.json"
        for checkpoint in (model / "checkpoints").iterdir():
            (checkpoint / name).write_bytes(bomb)
    result = mt("translate", "--model", model, CAT)
    assert (result.status, result.out) == (2, "")
    assert str(model.absolute()) in result.err
    assert not Path("PWNED").exists()
