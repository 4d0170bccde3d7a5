"""`mt train` given again: what goes on, what is refused, what is moved aside, what is damaged."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from mt.cli.main import main
from mt.storage.checkpoint import list_checkpoints, read_state
from mt.training.metrics import read_metrics
from tests.cli.training import CHECKPOINTS, Mt, content, train
from tests.conftest import (
    toy_pairs,
    write_config,
    write_jsonl,
)


@pytest.fixture(scope="session")
def four_saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four steps, each with a checkpoint."""
    folder = tmp_path_factory.mktemp("four")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        changes = {"training__max_steps": 4, "training__save_every": "1 step"}
        assert main(["train", "--config", str(write_config(Path("toy.yaml"), **changes))]) == 0
    return folder


def test_two_fresh_runs_are_the_same_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for _ in range(2):
        monkeypatch.chdir(tmp_path_factory.mktemp("run"))
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        assert train(mt, training__max_steps=9).status == 0
        weights = list_checkpoints(CHECKPOINTS)[-1] / "model.safetensors"
        losses = [line.get("train/loss") for line in read_metrics(Path("runs/toy"))]
        files = [Path("weights/toy", f"tokenizer_{language}.json") for language in ("en", "it")]
        made.append((losses, [file.read_bytes() for file in [weights, *files]]))
    assert made[0] == made[1]


def test_the_same_command_again_has_nothing_to_do_and_touches_nothing(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    before = content(Path("weights"))
    result = train(mt)
    assert result.status == 0
    limit = "2 steps are made and training.max_steps is 2; raise it to go on, or give --restart"
    assert f"nothing left to do: {limit}" in result.err
    assert content(Path("weights")) == before
    assert len(list(Path("runs/toy").glob("events*"))) == 1


def test_a_run_without_a_checkpoint_may_begin_with_other_settings(corpus: Path, mt: Mt) -> None:
    """It was told to try another learning rate, and does."""
    settings = {"training__max_steps": 9, "training__clip_norm": None}
    assert train(mt, training__lr=1e38, **settings).status == 1
    result = train(mt, training__lr=1e-3, tokenizer__min_frequency=2, **settings)
    assert result.status == 0, result.err
    assert read_state(list_checkpoints(CHECKPOINTS)[-1])["progress"]["step"] == 9


def test_when_no_checkpoint_is_whole_it_names_them_and_leaves_them(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    for checkpoint in list_checkpoints(CHECKPOINTS):
        (checkpoint / "model.safetensors").write_bytes(b"")
    before = content(Path("weights"))
    result = train(mt)
    assert result.status == 2
    first, *named, way_out = result.err.splitlines()
    assert first == f"mt: every checkpoint in {CHECKPOINTS.absolute()} is damaged:"
    assert len(named) == len(list_checkpoints(CHECKPOINTS))
    assert all(line.endswith("model.safetensors does not match its checksum") for line in named)
    assert "--restart" in way_out
    assert content(Path("weights")) == before


def test_more_epochs_go_on_and_leave_earlier_checkpoints_as_they_were(corpus: Path, mt: Mt) -> None:
    more = {"training__max_steps": None, "training__schedule": "inverse_sqrt",
            "training__warmup_steps": 4, "training__keep": {"last": 9, "best": 1}}  # fmt: skip
    assert train(mt, training__epochs=2, **more).status == 0
    before = content(CHECKPOINTS)
    step = read_state(list_checkpoints(CHECKPOINTS)[-1])["progress"]["step"]
    result = train(mt, training__epochs=3, **more)
    assert result.status == 0
    assert f"resuming weights/toy after step {step}" in result.err
    after = content(CHECKPOINTS)
    assert {name: after[name] for name in before} == before
    progress = read_state(list_checkpoints(CHECKPOINTS)[-1])["progress"]
    assert (progress["epoch"], progress["step"]) == (3, step // 2 * 3)
    # The learning rate follows one curve, and each step is there once.
    points = [(line["step"], line["train/lr"]) for line in read_metrics(Path("runs/toy"))
              if "train/lr" in line]  # fmt: skip
    assert [s for s, _ in points] == list(range(1, progress["step"] + 1))
    for s, lr in points:
        assert lr == pytest.approx(1e-3 * min(s / 4, (4 / s) ** 0.5))


def test_another_config_is_refused_with_old_and_new_values(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    before = content(Path("weights"))
    result = train(mt, model__d_model=64, data__valid_size=5)
    assert (result.status, result.out) == (2, "")
    assert "model.d_model: 32 -> 64" in result.err
    assert "data.valid_size: 0.1 -> 5" in result.err
    assert "--restart" in result.err
    assert content(Path("weights")) == before


def test_a_restart_moves_the_old_run_aside_whole(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    before = content(Path("weights/toy"))
    result = train(mt, "--restart", model__d_model=64)
    assert result.status == 0
    aside = [p for p in Path("weights").iterdir() if p.name != "toy"]
    assert len(aside) == 1
    assert f"earlier run moved to {aside[0]}" in result.err
    assert content(aside[0]) == {
        name.replace("weights/toy", str(aside[0])): data for name, data in before.items()
    }
    assert len(list(Path("runs").iterdir())) == 2
    assert mt("translate", "--model", aside[0].name, "the cat").status == 0


def test_restarts_in_quick_succession_keep_every_run(corpus: Path, mt: Mt) -> None:
    for seed in range(4):
        assert train(mt, "--restart", seed=seed, training__max_steps=1).status == 0
    configs = [(path / "config.yaml").read_text() for path in Path("weights").iterdir()]
    assert {yaml.safe_load(text)["seed"] for text in configs} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "mistake",
    [{"data__source": "nope.jsonl"}, {"tokenizer__min_frequency": 1000}, {"device": "cuda:77"}],
    ids=str,
)
def test_a_restart_that_is_refused_moves_nothing(
    corpus: Path, mt: Mt, mistake: dict[str, Any]
) -> None:
    assert train(mt).status == 0
    before = content(Path("weights"))
    assert train(mt, "--restart", **mistake).status == 2
    assert content(Path("weights")) == before
    assert {p.name for p in Path("runs").iterdir()} == {"toy"}


def test_the_newest_checkpoint_is_that_of_the_highest_step(corpus: Path, mt: Mt) -> None:
    keep = {"training__save_every": "50 steps", "training__log_every": 50, "training__epochs": None}
    assert train(mt, training__max_steps=101, model__d_model=4, model__d_ff=4, **keep).status == 0
    names = [p.name for p in list_checkpoints(CHECKPOINTS)]
    assert names[-2:] == ["step-00000100", "step-00000101"]
    result = train(mt, training__max_steps=102, model__d_model=4, model__d_ff=4, **keep)
    assert "resuming weights/toy after step 101" in result.err


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("how", ["cut", "pickle"])
def test_a_damaged_newest_checkpoint_is_named_set_aside_and_the_one_before_used(
    four_saved: Path, here: Path, mt: Mt, file: str, how: str
) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.system, ("touch PWNED",)

    shutil.copytree(four_saved, here, dirs_exist_ok=True)
    newest = list_checkpoints(CHECKPOINTS)[-1]
    whole = (newest / file).read_bytes()
    damaged = whole[: len(whole) // 2] if how == "cut" else pickle.dumps(Bomb())
    (newest / file).write_bytes(damaged)
    result = train(mt, training__max_steps=5, training__save_every="1 step")
    assert result.status == 0
    assert "damaged checkpoint step-00000004 set aside as" in result.err
    assert f"{newest / file}" in result.err
    assert "resuming weights/toy after step 3" in result.err
    aside = next(CHECKPOINTS.glob("damaged-step-00000004-*"))
    assert (aside / file).read_bytes() == damaged
    assert not Path("PWNED").exists()


@pytest.mark.parametrize("damage", ["emptied", "gone", "other"])
def test_a_tokenizer_is_never_rebuilt_under_existing_weights(
    corpus: Path, mt: Mt, damage: str
) -> None:
    assert train(mt).status == 0
    file = Path("weights/toy/tokenizer_it.json")
    if damage == "emptied":
        file.write_text("")
    elif damage == "gone":
        file.unlink()
    else:
        file.write_text(file.read_text().replace("gatto", "gattone"))
    before = content(Path("weights"))
    result = train(mt, training__max_steps=4)
    assert result.status == 2
    assert f"{file.absolute()}" in result.err
    assert content(Path("weights")) == before
