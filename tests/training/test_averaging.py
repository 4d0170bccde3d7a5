"""Averages of weights: the arithmetic, and a moving average that is validated and translates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from mt.decoding.torch_engine import TorchEngine, open_translator
from mt.evaluation.validation import validation_loss
from mt.storage.checkpoint import list_checkpoints, read_part, write_checkpoint
from mt.storage.model_folder import ModelFolder
from mt.training.averaging import MovingAverage, average_of, swapped_in
from mt.training.metrics import read_metrics
from mt.training.run import Run
from tests.conftest import toy_pairs, write_jsonl
from tests.training.test_training import RESUMED, config, curves, same, train

CPU = torch.device("cpu")
AVERAGED = {
    **RESUMED,
    "training__optimizer": "muon",
    "training__weight_decay": 0.01,
    "training__ema": 0.8,
}


def tensors(checkpoint: Path) -> dict[str, torch.Tensor]:
    parts = ("model", "raw", "optimizer")
    return {f"{part}:{n}": t for part in parts for n, t in read_part(checkpoint, part).items()}


def newest() -> Path:
    return list_checkpoints(Path("weights/toy/checkpoints"))[-1]


@pytest.fixture
def corpus(here: Path) -> Path:
    return write_jsonl(here / "pairs.jsonl", toy_pairs(60))


def test_the_moving_average_is_its_formula_worked_out_by_hand() -> None:
    model = nn.Linear(1, 1, bias=False)
    average = MovingAverage(model, decay=0.3)
    found, expected = [], []
    value = model.weight.item()
    for updates, weight in enumerate([1.0, -2.0, 4.0, 0.5, 3.0], start=1):
        nn.init.constant_(model.weight, weight)
        average.update(updates)
        decay = [2 / 11, 3 / 12, 0.3, 0.3, 0.3][updates - 1]  # the warm-up is over at 4 / 13
        value = decay * value + (1 - decay) * weight
        expected.append(value)
        found.append(float(average.weights["weight"]))
    assert found == pytest.approx(expected)


def test_other_weights_are_there_within_the_block_alone_even_if_it_fails() -> None:
    model = nn.Linear(3, 2)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    others = {name: torch.randn_like(p) for name, p in before.items()}

    def fail() -> None:
        with swapped_in(model, others):
            assert same(dict(model.named_parameters()), others)
            raise MemoryError

    with pytest.raises(MemoryError):
        fail()
    assert same(dict(model.named_parameters()), before)


def test_the_average_of_checkpoints_is_their_mean(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(3, 4, 5)).astype(np.float32)
    paths = [
        write_checkpoint(tmp_path, i, {"model": {"w": torch.from_numpy(v)}}, {})
        for i, v in enumerate(values)
    ]
    found = average_of(paths)["w"]
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), values.astype(np.float64).mean(0), rtol=1e-6)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, torch.Tensor], list]:
    """Checkpoint and curves of a run with Muon and a moving average that nothing interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("straight"))
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        train(AVERAGED)
        return tensors(newest()), curves("toy")


@pytest.mark.parametrize("stops", [(1,), (3, 4, 9)], ids=str)
def test_interrupted_and_resumed_equals_straight(
    stops: tuple[int, ...], straight: tuple, corpus: Path
) -> None:
    for stop in stops:
        train(AVERAGED, stop_after=stop)
    run, weights = train(AVERAGED)
    assert run.resumed_from == stops[-1]
    found = tensors(newest())
    assert any(name.startswith("optimizer:momentum/") for name in found)
    assert same(found, straight[0])
    assert same(weights, read_part(newest(), "raw"))
    assert curves("toy") == straight[1]


def test_what_is_validated_and_translates_is_the_average(corpus: Path) -> None:
    run, weights = train(AVERAGED)
    best = ModelFolder(Path("weights/toy")).pointer("best")
    assert best is not None
    translator = open_translator(ModelFolder(Path("weights/toy")), CPU)
    assert isinstance(translator.engine, TorchEngine)
    loaded = dict(translator.engine.model.named_parameters())
    assert same(loaded, read_part(best, "model"))
    assert not same(loaded, read_part(best, "raw"))
    assert run.trainer.valid_data is not None
    loss = validation_loss(translator.engine.model, run.trainer.valid_data, CPU)
    logged = {line["step"]: line["valid/loss"] for line in curves("toy") if "valid/loss" in line}
    assert run.trainer.progress.best_step is not None
    assert logged[run.trainer.progress.best_step] == loss
    assert same(weights, {n: p.detach() for n, p in run.trainer.model.named_parameters()})


def test_an_average_begins_at_the_weights_of_another_model(corpus: Path) -> None:
    train({"training__max_steps": 2, "name": "first"})
    run = Run(config(training__init_from="first", training__ema=0.9, training__max_steps=1))
    start = {n: p.detach().clone() for n, p in run.trainer.model.named_parameters()}
    for _ in run.trainer.fit():
        pass
    run.close()
    raw = read_part(newest(), "raw")
    for name, tensor in read_part(newest(), "model").items():
        torch.testing.assert_close(tensor, start[name] * 2 / 11 + raw[name] * 9 / 11)


def test_muon_learns_and_its_learning_rate_is_drawn(corpus: Path) -> None:
    changes = {"training__optimizer": "muon", "training__lr": 5e-3, "training__muon_lr": 0.04,
               "training__epochs": 12, "training__schedule": "linear", "model__dropout": 0.0,
               "training__label_smoothing": 0.0, "training__bleu_samples": 0}  # fmt: skip
    run, _ = train(changes)
    lines = [line for line in read_metrics(Path("runs/toy")) if "train/loss" in line]
    assert lines[0]["train/loss"] > 3
    assert run.trainer.progress.scores["loss"] < 0.7  # of held-out pairs
    for line in lines:
        assert line["train/muon_lr"] == pytest.approx(8 * line["train/lr"])
