"""The end of a run: the average of checkpoints, when it is used, and the final scores."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.decoding.torch_engine import TorchEngine, open_translator
from mt.errors import UserError
from mt.evaluation.evaluate import held_out
from mt.evaluation.scores import score
from mt.evaluation.validation import validation_loss
from mt.storage.checkpoint import list_checkpoints, read_part, read_state
from mt.storage.failure import WriteError
from mt.storage.model_folder import ModelFolder
from mt.training.averaging import average_of
from mt.training.ending import finish
from mt.training.metrics import read_metrics
from mt.training.run import Run
from tests.conftest import toy_pairs, write_jsonl
from tests.training.test_training import config, curves, same

CPU = torch.device("cpu")
FOLDER = ModelFolder(Path("weights/toy"))
EVERY_TWO: dict[str, Any] = {
    "training__validate_every": "2 steps",
    "training__save_every": "2 steps",
    "training__max_steps": 24,
    "training__epochs": None,
    "training__keep": {"last": 4, "best": 3},
    "training__average": {"last": 4},
    "training__bleu_samples": 0,
    "data__valid_size": 8,
}
NOISY = {"training__lr": 0.3}  # far too much: single checkpoints are thrown about
FALLING = {"training__lr": 3e-3}  # each checkpoint is better than all before


@pytest.fixture
def corpus(here: Path) -> Path:
    return write_jsonl(here / "pairs.jsonl", toy_pairs(60))


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    logging.getLogger("mt").propagate = True
    caplog.set_level(logging.INFO, logger="mt")
    return caplog


def train(**changes: object) -> Run:
    run = Run(config(**{**EVERY_TWO, **changes}))
    for _ in run.trainer.fit():
        pass
    if run.trainer.done:
        finish(run)
    run.close()
    return run


@pytest.fixture(scope="module")
def ended_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a noisy run went straight to its end, and its average is used."""
    folder = tmp_path_factory.mktemp("ended")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        train(**NOISY)
    return folder


@pytest.fixture
def ended(ended_folder: Path, here: Path) -> Path:
    """The current folder, with a copy of that run."""
    shutil.copytree(ended_folder, here, dirs_exist_ok=True)
    return here


def final() -> dict[str, object]:
    (line,) = [line for line in read_metrics(Path("runs/toy")) if "final/steps" in line]
    return {tag: value for tag, value in line.items() if tag.startswith("final/")}


@pytest.mark.parametrize("which", ["last", "best"])
def test_an_average_that_is_better_translates_and_its_scores_are_those_of_evaluate(
    corpus: Path, which: str, said: pytest.LogCaptureFixture
) -> None:
    run = train(**{**NOISY, "training__average": {which: 3}, "training__bleu_samples": 50})
    checkpoints = list_checkpoints(FOLDER.checkpoints)
    state = read_state(FOLDER.average)
    chosen = [FOLDER.checkpoints / name for name in state["of"]]
    best = run.saver.best_first(checkpoints)[:3]
    assert chosen == {"last": checkpoints[-3:], "best": sorted(best)}[which]
    assert len(chosen) == 3
    translator = open_translator(FOLDER, CPU)
    assert isinstance(translator.engine, TorchEngine)
    assert FOLDER.pointer("best") == FOLDER.average
    assert same(dict(translator.engine.model.named_parameters()), average_of(chosen))
    scores = state["progress"]["scores"]
    assert run.trainer.progress.best is not None
    assert scores["loss"] < run.trainer.progress.best
    assert run.trainer.valid_data is not None
    assert validation_loss(translator.engine.model, run.trainer.valid_data, CPU) == scores["loss"]
    valid = held_out(FOLDER, run.config, "valid")
    texts = [translation.text for translation in translator.translate(valid.sources)]
    for name, result in score(texts, valid.references).items():
        assert result.value == scores[name]
    assert f"average      of {', '.join(state['of'])}: valid loss {scores['loss']:.3f}" in said.text
    single = f"step-{run.trainer.progress.best_step:08d}"
    best = run.trainer.progress.best
    assert f"best single  {single}: valid loss {best:.3f}" in said.text
    assert "used         the average, by valid loss" in said.text
    assert final() == {
        "final/loss": scores["loss"], "final/bleu": scores["bleu"], "final/chrf": scores["chrf"],
        "final/steps": 24,
    }  # fmt: skip


def test_an_average_that_is_worse_does_not(corpus: Path, said: pytest.LogCaptureFixture) -> None:
    run = train(**FALLING)
    progress = run.trainer.progress
    assert progress.best_step == progress.step == 24
    assert read_state(FOLDER.average)["progress"]["scores"]["loss"] > progress.best
    assert FOLDER.pointer("best") == FOLDER.checkpoints / "step-00000024"
    assert "used         the single one, by valid loss" in said.text
    assert final()["final/loss"] == progress.best


def test_started_again_it_has_nothing_to_do_and_leaves_all_as_it_is(
    ended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {p: p.read_bytes() for p in Path().rglob("*") if p.is_file() and p.name != ".lock"}
    again = Run(config(**{**EVERY_TWO, **NOISY}))
    monkeypatch.setattr(again.trainer, "score", None)  # nothing is scored again
    assert again.trainer.done
    finish(again)
    again.close()
    assert {p: p.read_bytes() for p in before} == before


def test_an_average_that_was_made_but_not_named_is_named_at_the_next_start(ended: Path) -> None:
    """Killed between the writing of it and the pointing at it."""
    single = FOLDER.checkpoints / f"step-{read_state(FOLDER.average)['progress']['best_step']:08d}"
    FOLDER.point("best", single)
    train(**NOISY)
    assert FOLDER.pointer("best") == FOLDER.average


def test_where_no_best_one_is_kept_the_average_is_compared_with_the_newest(
    corpus: Path, said: pytest.LogCaptureFixture
) -> None:
    keep = {"training__keep": {"last": 4, "best": 0}}
    for steps in range(22, 40, 2):  # until the newest one is not the best, which chance decides
        run = train(**{**NOISY, **keep, "training__max_steps": steps})
        if run.trainer.progress.best_step != steps:
            break
    newest = FOLDER.checkpoints / f"step-{steps:08}"
    scores = [read_state(path)["progress"]["scores"]["loss"] for path in (FOLDER.average, newest)]
    assert run.trainer.progress.best_step != steps
    assert f"best single  {newest.name}: valid loss {scores[1]:.3f}" in said.text
    assert FOLDER.pointer("best") == (FOLDER.average if scores[0] < scores[1] else newest)


def test_an_average_that_cannot_be_written_is_told_as_a_checkpoint_is(corpus: Path) -> None:
    run = Run(config(**{**EVERY_TWO, **NOISY}))
    for _ in run.trainer.fit():
        pass
    FOLDER.average.write_text("")  # a file where the folder should be
    with pytest.raises(WriteError) as refused:
        finish(run)
    run.close()
    where = FOLDER.checkpoints.absolute()
    assert str(refused.value).startswith(f"cannot write the average of checkpoints in {where}: ")


def test_an_average_may_be_asked_for_after_the_end(corpus: Path) -> None:
    train(**{**NOISY, "training__average": None})
    assert not FOLDER.average.exists()
    train(**{**NOISY, "training__average": {"last": 3}})
    assert len(read_state(FOLDER.average)["of"]) == 3
    assert final()["final/loss"] == read_state(FOLDER.average)["progress"]["scores"]["loss"]


def test_an_end_that_was_not_recorded_is_recorded_at_the_next_start(corpus: Path) -> None:
    """Killed between the last checkpoint and the record."""
    run = Run(config(**{**EVERY_TWO, **NOISY}))
    for _ in run.trainer.fit():
        pass
    run.close()
    before = curves("toy")
    train(**NOISY)
    *rest, last = curves("toy")
    assert rest == before
    assert last.keys() >= {"final/loss", "final/steps", "average/loss"}


def test_a_run_that_goes_on_after_its_end_is_the_run_that_never_ended(
    corpus: Path, ended_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The average is nothing to resume from, and what was recorded of the end is taken back."""
    train(**{**NOISY, "training__max_steps": 16})
    run = train(**NOISY)
    assert run.resumed_from == 16
    found = curves("toy"), average_of([FOLDER.average]), FOLDER.pointer("best")
    monkeypatch.chdir(ended_folder)
    assert found[0] == curves("toy")
    assert same(found[1], average_of([FOLDER.average]))
    assert found[2] == FOLDER.pointer("best")


def test_a_damaged_checkpoint_is_left_out(corpus: Path, said: pytest.LogCaptureFixture) -> None:
    run = Run(config(**{**EVERY_TWO, **NOISY}))
    for _ in run.trainer.fit():
        pass
    (FOLDER.checkpoints / "step-00000022" / "optimizer.safetensors").write_bytes(b"")
    finish(run)
    run.close()
    assert read_state(FOLDER.average)["of"][-1] == "step-00000024"
    assert "step-00000022" not in read_state(FOLDER.average)["of"]
    assert "damaged checkpoint step-00000022 left out: " in said.text


def test_one_checkpoint_alone_is_no_average(corpus: Path, said: pytest.LogCaptureFixture) -> None:
    train(training__max_steps=2)
    assert "average      none: there are not two checkpoints to average" in said.text
    assert not FOLDER.average.exists()


def test_without_validation_pairs_an_average_is_refused(corpus: Path) -> None:
    with pytest.raises(UserError) as refused:
        Run(config(**{**EVERY_TWO, "data__valid_size": 0}))
    assert str(refused.value) == (
        "training.average needs validation pairs, to tell whether the average is better: "
        "data.valid_size is 0"
    )
    assert [path.name for path in Path().iterdir()] == ["pairs.jsonl"]


def test_an_average_that_is_damaged_is_passed_over(ended: Path) -> None:
    (FOLDER.average / "model.safetensors").write_bytes(b"")
    weights, used = FOLDER.weights(*FOLDER.tokenizers(config(**EVERY_TWO)))
    assert used == list_checkpoints(FOLDER.checkpoints)[-1]
    assert same(weights, read_part(used, "model"))


def test_the_best_of_a_run_without_kept_best_ones_is_known_by_its_value(corpus: Path) -> None:
    keep = {"training__keep": {"last": 2, "best": 0}, "training__average": None}
    run = train(**{**NOISY, **keep})
    assert FOLDER.pointer("best") is None or run.trainer.progress.best_step in (22, 24)
    assert final()["final/loss"] == run.trainer.progress.best
    json.dumps(final())
