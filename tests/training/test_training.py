"""The Trainer: what it learns, that splitting a batch changes nothing, and exact resume."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from mt.config import Config
from mt.config_file import config_from_dict
from mt.data.batch import Batch
from mt.data.plan import plan_batches
from mt.distributed import ALONE
from mt.errors import RunError, UserError
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.storage.checkpoint import list_checkpoints, read_part, read_state
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import PAD_ID
from mt.training import step as step_module
from mt.training import trainer as trainer_module
from mt.training.metrics import read_metrics, repeatable
from mt.training.optimizer import build_optimizer
from mt.training.run import Run, move_aside
from mt.training.step import StepResult, train_step
from mt.training.trainer import NotFiniteError
from tests.conftest import toy_config, toy_pairs, write_jsonl


def config(**changes: object) -> Config:
    return config_from_dict(toy_config(**changes), "test")


def train(
    changes: dict[str, object], stop_after: int | None = None
) -> tuple[Run, dict[str, torch.Tensor]]:
    """Trains `config(**changes)`, perhaps told to stop after a step; the run and its weights."""
    run = Run(config(**changes))
    for _ in run.trainer.fit():
        if run.trainer.progress.step == stop_after:
            run.trainer.stop_requested = True
    run.close()
    return run, {n: p.detach().clone() for n, p in run.trainer.model.named_parameters()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def curves(name: str) -> list[dict[str, object]]:
    """The metrics of a run without what the clock says."""
    return [repeatable(line) for line in read_metrics(Path("runs") / name)]


@pytest.fixture
def corpus(here: Path) -> Path:
    return write_jsonl(here / "pairs.jsonl", toy_pairs(60))


def test_splitting_a_step_into_micro_batches_changes_nothing(corpus: Path) -> None:
    run = Run(config(model__dropout=0.0))
    data = run.trainer.train_data
    rows = np.arange(24)
    weights = []
    for parts in (1, 4):
        model = build_model(run.config.model, run.data.src.vocab_size, run.data.tgt.vocab_size, 3)
        optimizer = build_optimizer(model, run.config.training)
        batches = [data.batch(part) for part in np.split(rows, parts)]
        result = train_step(
            model, optimizer, batches, lr=0.01, label_smoothing=0.1, clip_norm=1.0,
            dtype=torch.float32, seed=(0, 0),
        )  # fmt: skip
        weights.append((result, list(model.parameters())))
    (whole, one), (split, four) = weights
    assert whole.tokens == split.tokens
    assert whole.loss == pytest.approx(split.loss, rel=1e-5)
    assert whole.grad_norm == pytest.approx(split.grad_norm, rel=1e-4)
    for a, b in zip(one, four, strict=True):
        torch.testing.assert_close(a, b, atol=2e-5, rtol=0)
    run.close()


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_out_of_memory_is_answered_by_halves(
    corpus: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Micro-batches of at most 5 pairs fit: the gradient is that of the whole all the same."""
    run = Run(config(model__dropout=0.0))
    model, data = run.trainer.model, run.trainer.train_data
    batches = [data.batch(range(12)), data.batch(range(12, 16))]
    settings = {"label_smoothing": 0.1, "scale": 0.01, "dtype": torch.float32, "seed": (0, 0)}
    expected = step_module.backward_in_memory(model, batches, world=ALONE, **settings)
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    whole, tried = step_module.backward, []

    def small_only(model: TranslationModel, batch: Batch, *rest: object) -> torch.Tensor:
        tried.append(len(batch.src))
        too_much = len(batch.src) > 5
        if too_much and where == "forward":
            raise MemoryError
        entropy = whole(model, batch, *rest)
        if too_much:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return entropy

    monkeypatch.setattr(step_module, "backward", small_only)
    found = step_module.backward_in_memory(model, batches, world=ALONE, **settings)
    assert tried == [12, 6, 3, 3, 3, 3, 1, 1, 1, 1]
    torch.testing.assert_close(found, expected)
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)
    run.close()


def test_out_of_memory_with_one_pair_ends_the_run(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> torch.Tensor:
        raise MemoryError

    monkeypatch.setattr(step_module, "backward", never)
    with pytest.raises(MemoryError):
        train({"training__max_steps": 1})


def test_first_loss_is_about_the_logarithm_of_the_vocabulary(corpus: Path) -> None:
    run, _ = train({"training__max_steps": 1, "model__dropout": 0.0})
    first = curves("toy")[0]
    assert first["train/loss"] == pytest.approx(math.log(run.data.tgt.vocab_size), abs=1.0)


# Steps an epoch: 54 training pairs in batches of 8, two micro-batches a step, are 4 steps.
RESUMED = {
    "model__dropout": 0.3,
    "training__accumulate": 2,
    "training__epochs": 3,
    "training__schedule": "cosine",
    "training__warmup_steps": 3,
    "training__log_every": 3,
    "training__validate_every": "2 steps",
    "training__early_stopping": {"metric": "loss", "patience": 50},
    "data__valid_size": 6,
}


@pytest.fixture(scope="module")
def straight(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, torch.Tensor], list, dict]:
    """Weights, curves and optimizer of a run that nothing interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("straight"))
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        _, weights = train(RESUMED)
        last = ModelFolder(Path("weights/toy")).pointer("last")
        assert last is not None
        return weights, curves("toy"), read_part(last, "optimizer")


@pytest.mark.parametrize("stops", [(1,), (2, 3), (4,), (5, 6, 7), (8,), (11,)], ids=str)
def test_interrupted_and_resumed_equals_straight(
    stops: tuple[int, ...], straight: tuple, corpus: Path
) -> None:
    for stop in stops:
        run, _ = train(RESUMED, stop_after=stop)
        assert run.trainer.progress.step == stop
    run, weights = train(RESUMED)
    assert run.resumed_from == stops[-1]
    expected, expected_curves, moments = straight
    assert same(weights, expected)
    assert curves("toy") == expected_curves
    last = ModelFolder(Path("weights/toy")).pointer("last")
    assert last is not None
    assert same(read_part(last, "optimizer"), moments)


def test_the_same_seed_twice_is_the_same_and_another_is_not(here: Path, straight: tuple) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    _, again = train(RESUMED)
    assert same(again, straight[0])
    _, other = train({**RESUMED, "seed": 8, "name": "other"})
    assert not same(other, straight[0])


def test_a_step_is_lost_without_a_save_and_made_again(corpus: Path, straight: tuple) -> None:
    """Killed between checkpoints: what came after the last one is taken back, curves and all."""
    run = Run(config(**RESUMED))
    for _ in run.trainer.fit():
        if run.trainer.progress.step == 7:
            break  # no save: as if the process had been killed here
    run.trainer.metrics.flush()
    run.close()
    assert curves("toy")[-1]["step"] == 6
    _, weights = train(RESUMED)
    assert same(weights, straight[0])
    assert curves("toy") == straight[1]


def test_tensorboard_has_each_step_once_after_a_resume(corpus: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    changes = {**RESUMED, "training__log_every": 1, "training__save_every": "3 steps"}
    run = Run(config(**changes))
    for _ in run.trainer.fit():
        if run.trainer.progress.step == 5:
            break
    run.close()
    train(changes)
    board = EventAccumulator("runs/toy", size_guidance={"scalars": 0, "tensors": 0, "images": 0})
    board.Reload()
    tags = set(board.Tags()["scalars"])
    assert tags == {
        "train/loss", "train/ppl", "train/lr", "train/grad_norm", "train/tokens_per_second",
        "train/padding", "time/left_seconds", "time/batches", "time/validating", "time/saving",
        "memory/peak_mib", "valid/loss", "valid/ppl", "valid/bleu", "valid/chrf",
    }  # fmt: skip
    assert "valid/samples/text_summary" in board.Tags()["tensors"]
    assert board.Tags()["images"] == ["attention/1", "attention/2"]
    validated = [event.step for event in board.Scalars("valid/loss")]
    for tag in board.Tags()["images"]:
        pictures = board.Images(tag)
        assert [picture.step for picture in pictures] == validated
        assert all(picture.encoded_image_string.startswith(b"\x89PNG") for picture in pictures)
        assert all(min(picture.width, picture.height) > 100 for picture in pictures)
    assert [event.step for event in board.Scalars("train/loss")] == list(range(1, 13))
    logged = {line["step"]: line for line in curves("toy") if "train/loss" in line}
    for event in board.Scalars("train/loss"):
        assert event.value == pytest.approx(logged[event.step]["train/loss"], rel=1e-6)


def test_checkpoints_kept_are_the_newest_and_the_best(corpus: Path) -> None:
    changes = {
        "training__validate_every": "1 step",
        "training__save_every": "1 step",
        "training__max_steps": 8,
        "training__keep": {"last": 2, "best": 1},
        "training__lr": 0.05,
    }
    run, _ = train(changes)
    folder = ModelFolder(Path("weights/toy"))
    steps = [read_state(path)["progress"]["step"] for path in list_checkpoints(folder.checkpoints)]
    losses = {line["step"]: line["valid/loss"] for line in curves("toy") if "valid/loss" in line}
    best = min(losses, key=lambda step: losses[step])
    assert steps == sorted({best, 7, 8})
    assert folder.pointer("best") == folder.checkpoints / f"step-{best:08d}"
    assert run.trainer.progress.best_step == best


def test_early_stopping_stops_and_resuming_does_not_go_on(corpus: Path) -> None:
    changes = {
        "training__validate_every": "1 step",
        "training__epochs": 50,
        "training__lr": 1.0,  # far too much: the loss only rises
        "training__clip_norm": None,
        "training__early_stopping": {"metric": "loss", "patience": 3},
    }
    run, _ = train(changes)
    progress = run.trainer.progress
    assert progress.best_step is not None
    assert progress.step == progress.best_step + 3
    again = Run(config(**changes))
    assert again.trainer.done
    again.close()


def test_a_loss_spike_is_told_with_what_is_usual(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(trainer_module.log, "warning", lambda text, *v: said.append(text % v))

    def step(*_: object, seed: tuple[int, int], **__: object) -> StepResult:
        return StepResult(900.0 if seed[1] == 70 else 200.0, 100, 12.3456)

    monkeypatch.setattr(trainer_module, "train_step", step)
    train({"training__max_steps": 90, "training__epochs": None, "training__log_every": 100})
    assert said == [
        "loss spike at step 71: 9.000, usually 2.000; gradient norm 12.3. If there are many, a "
        "lower training.lr or training.clip_norm may help"
    ]


def test_not_finite_stops_the_run_and_is_not_saved(corpus: Path) -> None:
    changes = {"training__lr": 1e38, "training__clip_norm": None, "training__epochs": 3}
    with pytest.raises(RunError, match=r"not finite .* 3 times in a row, at step \d+.*lr 1e\+38"):
        train(changes)
    for checkpoint in list_checkpoints(Path("weights/toy/checkpoints")):
        for tensor in read_part(checkpoint, "model").values():
            assert tensor.isfinite().all()


def test_the_pairs_of_a_step_that_is_not_finite_are_named(corpus: Path) -> None:
    run = Run(config(training__lr=1e38, training__clip_norm=None))
    with pytest.raises(NotFiniteError) as stopped:
        for _ in run.trainer.fit():
            pass
    path = run.keep_pairs(stopped.value.rows)
    run.close()
    kept = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(kept) == 8
    train = run.data.corpus.splits["train"]
    assert [pair["row"] for pair in kept] == [train[row]["row"] for row in stopped.value.rows]
    assert path.name == f"not-finite-step-{run.trainer.progress.step + 1}.jsonl"


def test_damaged_checkpoint_is_set_aside_and_the_one_before_used(
    corpus: Path, straight: tuple, caplog: pytest.LogCaptureFixture
) -> None:
    changes = {**RESUMED, "training__save_every": "2 steps"}
    train(changes, stop_after=6)
    newest = list_checkpoints(Path("weights/toy/checkpoints"))[-1]
    file = newest / "optimizer.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1  # a single bit
    file.write_bytes(content)
    run, weights = train(changes)
    assert run.resumed_from == 4
    assert same(weights, straight[0])
    assert len(list(newest.parent.glob("damaged-step-00000006-*"))) == 1


def test_another_config_is_refused_with_the_differences(corpus: Path) -> None:
    train({"training__max_steps": 1})
    with pytest.raises(UserError) as refused:
        Run(config(training__max_steps=1, model__d_model=64, training__lr=0.5))
    assert "model.d_model: 32 -> 64" in str(refused.value)
    assert "training.lr: 0.001 -> 0.5" in str(refused.value)
    assert "--restart" in str(refused.value)


def test_more_epochs_and_other_devices_are_no_obstacle(corpus: Path) -> None:
    train({"training__epochs": 1})
    run, _ = train({"training__epochs": 2, "device": "auto", "training__log_every": 5})
    assert run.resumed_from == 7
    assert run.trainer.progress.step == 14


def test_other_data_is_refused(corpus: Path) -> None:
    train({"training__max_steps": 1})
    write_jsonl(corpus, toy_pairs(59))
    with pytest.raises(UserError, match=r"the data is not what .*weights/toy was trained on"):
        Run(config(training__max_steps=1))


def test_other_tokenizer_is_refused(corpus: Path) -> None:
    train({"training__max_steps": 1})
    file = Path("weights/toy/tokenizer_en.json")
    content = json.loads(file.read_text())
    del content["model"]["vocab"]["cat"]
    file.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"tokenizer_en.json \(\d+ tokens\) is not the tokenizer"):
        Run(config(training__max_steps=1))


def test_restart_moves_the_old_run_aside(corpus: Path) -> None:
    _, before = train({"training__max_steps": 1})
    moved = move_aside("toy")
    assert len(moved) == 2
    old = ModelFolder(moved[0])
    assert same(read_part(list_checkpoints(old.checkpoints)[0], "model"), before)
    run, _ = train({"training__max_steps": 1})
    assert run.resumed_from is None


def test_two_runs_cannot_write_one_folder(corpus: Path) -> None:
    first = Run(config())
    with pytest.raises(UserError, match=r"is being trained by another process \(process \d+\)"):
        Run(config())
    first.close()
    Run(config()).close()


def test_tokenizers_come_from_the_training_split_alone(here: Path) -> None:
    pairs = [(f"word{i} here.", f"parola{i} qui.") for i in range(40)]
    write_jsonl(here / "pairs.jsonl", pairs)
    run = Run(config(data__valid_size=0.25))
    valid = run.data.corpus.splits["valid"]
    assert len(valid) >= 5
    for row in valid:
        assert len(run.data.src.unknown(row["src"])) == 1
    run.close()


def test_without_validation_pairs_it_trains_all_the_same(corpus: Path) -> None:
    run, _ = train({"data__valid_size": 0, "training__max_steps": 2})
    assert run.trainer.valid_data is None
    folder = ModelFolder(Path("weights/toy"))
    assert folder.pointer("best") is None
    assert folder.pointer("last") is not None


@pytest.mark.parametrize("place", ["weights", "runs"])
def test_a_file_in_the_way_is_found_before_anything_is_made(corpus: Path, place: str) -> None:
    Path(place).write_text("")
    with pytest.raises(UserError, match=rf"cannot write .*/{place}/toy: .*/{place} is a file"):
        Run(config())
    assert sorted(p.name for p in corpus.parent.iterdir()) == sorted(["pairs.jsonl", place])


def test_padding_id_of_the_target_is_left_out_of_the_loss(corpus: Path) -> None:
    run = Run(config())
    plan = plan_batches(run.trainer.train_data.lengths, run.trainer.batch_size, 0, 0)
    for i in range(len(plan)):
        batch = run.trainer.train_data.batch(plan[i])
        assert (batch.tgt_out.flatten()[batch.real] != PAD_ID).all()
        assert batch.tokens == int((batch.tgt_out != PAD_ID).sum())
    run.close()
