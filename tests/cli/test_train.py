"""`mt train`: what is refused before anything is made, and what is reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mt.storage.checkpoint import list_checkpoints, read_part, read_state
from tests.cli.training import CHECKPOINTS, Mt, Names, train
from tests.conftest import (
    Result,
    write_config,
    write_jsonl,
)


def test_what_it_says_and_what_it_makes(corpus: Path, mt: Mt, names: Names) -> None:
    result = train(mt, training__lr=1e-4)
    assert (result.status, result.out) == (0, "")
    for part in ("60 pairs of 60 rows read", "vocabulary ", " parameters", "lr 0.0001", "steps ",
                 "now: mt translate --model weights/toy"):  # fmt: skip
        assert part in result.err
    assert names() == {"pairs.jsonl", "toy.yaml", "weights", "runs"}
    assert {p.name for p in Path("weights/toy").iterdir()} >= {
        "config.yaml", "tokenizer_en.json", "tokenizer_it.json", "data.json", "checkpoints", "best",
        "last",
    }  # fmt: skip
    log = Path("runs/toy/train.log").read_text("utf-8")
    assert all(line in log for line in result.err.splitlines())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "toy.yaml: the config is empty"),
        ("data: [", "toy.yaml, line 2: not valid YAML"),
        ("name: toy\nextra: !!python/object/apply:os.system ['touch PWNED']",
         "toy.yaml, line 2: not valid YAML"),
        ("data: {source: x, src: en, tgt: it}\ntraining: {num_epoch: 5, learning_rat: 3}",
         "2 mistakes"),
        ("data: {source: x, src: en, tgt: it}\nmodel: {d_model: 30, num_heads: 4}",
         "line 2: model.d_model (30) must be divisible by model.num_heads (4); nearest: 28 or 32"),
        ("name: ../../escape\ndata: {source: x, src: en, tgt: it}",
         "line 1: name (../../escape): expected a plain folder name"),
        ("name: toy\ndata: {source: x, src: ../../en, tgt: it}",
         "line 2: data.src (../../en): expected a language code"),
        ("data: {source: x, src: en, tgt: it}\ndevice: cuda:77", "device cuda:77: there "),
        ("data: {source: nope.jsonl, src: en, tgt: it}", "nope.jsonl"),
        ("data: {source: nope/, src: en, tgt: it}", "nope"),
        ("data: {source: ., src: en, tgt: it, train: x}", "both given"),
        ("data: {source: pairs.jsonl, src: en, tgt: de}", "de"),
        ("data: {source: empty.jsonl, src: en, tgt: it}", "empty.jsonl"),
        ("data: {source: blank.jsonl, src: en, tgt: it}", "blank.jsonl"),
        ("data: {source: pairs.jsonl, src: en, tgt: it, valid: empty.jsonl}", "empty.jsonl"),
        ("data: {source: pairs.jsonl, src: en, tgt: it, max_length: 3}", "data.max_length"),
        ("data: {source: pairs.jsonl, src: en, tgt: it}\ntokenizer: {min_frequency: 1000}",
         "the vocabulary of en (src) is empty at tokenizer.min_frequency 1000"),
        ("data: {source: pairs.jsonl, src: en, tgt: it}\ntraining: {precision: bf16}\ndevice: cpu",
         "training.precision bf16: cpu has no bf16"),
    ],
    ids=lambda value: value[-30:],
)  # fmt: skip
def test_what_is_refused_leaves_nothing_behind(
    corpus: Path, mt: Mt, names: Names, text: str, expected: str
) -> None:
    Path("toy.yaml").write_text(text + "\n")
    Path("empty.jsonl").write_text("")
    write_jsonl(Path("blank.jsonl"), [("", "a"), ("b", "")])
    before = names()
    beside = {path.name for path in corpus.parent.iterdir()}
    result = mt("train", "--config", "toy.yaml")
    assert (result.status, result.out) == (2, ""), result.err
    assert result.err.startswith("mt: ")
    assert expected in result.err
    assert names() == before
    assert {path.name for path in corpus.parent.iterdir()} == beside


def test_config_files_that_are_not_there(corpus: Path, mt: Mt, names: Names) -> None:
    before = names()
    result = mt("train", "--config", "nope.yaml")
    assert result == Result(2, "", f"mt: no such config file: {corpus}/nope.yaml\n")
    result = mt("train", "--config", ".")
    assert result == Result(2, "", f"mt: {corpus} is a folder, not a config file\n")
    assert names() == before


def test_all_mistakes_and_the_way_out_of_each(corpus: Path, mt: Mt) -> None:
    result = train(mt, "--set", "training.num_epoch=50", "--set", "learning_rat=0.5")
    assert result.status == 2
    lines = result.err.splitlines()
    assert re.fullmatch(r"mt: .*toy\.yaml: 2 mistakes", lines[0])
    assert any("training.num_epoch is not a key; did you mean epochs?" in line for line in lines)
    assert any("learning_rat is not a key" in line for line in lines)


def test_from_another_folder_paths_are_those_of_the_current_folder(
    corpus: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(Path("toy.yaml"), training__max_steps=1)
    Path("other").mkdir()
    monkeypatch.chdir("other")
    result = mt("train", "--config", "../toy.yaml")
    assert result.status == 2
    assert f"{corpus}/other/pairs.jsonl" in result.err
    assert list(Path().iterdir()) == []
    result = mt("train", "--config", "../toy.yaml", "--set", "data.source=../pairs.jsonl")
    assert result.status == 0
    assert {p.name for p in Path().iterdir()} == {"weights", "runs"}
    assert mt("translate", "the cat").status == 0


@pytest.mark.parametrize("place", ["weights", "runs", "weights/toy", "runs/toy"])
def test_a_place_that_cannot_be_written_is_found_first(
    corpus: Path, mt: Mt, names: Names, place: str
) -> None:
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).write_text("in the way")
    write_config(Path("toy.yaml"))
    before = names()
    result = mt("train", "--config", "toy.yaml")
    assert result.status == 2
    kind = place.split("/")[0]
    assert result.err == (
        f"mt: cannot write {corpus}/{kind}/toy: {corpus}/{place} is a file, not a folder\n"
    )
    assert names() == before
    assert Path(place).read_text() == "in the way"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"training__max_steps": 3}, "ended after step 3: training.max_steps is 3"),
        ({"training__max_steps": None}, "ended after step 14: training.epochs is 2"),
        (
            {"training__max_steps": 90, "training__epochs": None, "training__lr": 1.0,
             "training__early_stopping": {"metric": "loss", "patience": 2}},
            r"stopped early after step \d+: no better valid loss in 2 validations "
            r"\(training.early_stopping.patience\)",
        ),
        (
            {"training__max_steps": 9,
             "training__early_stopping": {"metric": "loss", "patience": 2, "min_delta": 9.0}},
            r"stopped early after step 3: no better valid loss by more than 9 \(min_delta\) in 2 "
            r"validations \(training.early_stopping.patience\)",
        ),
    ],
    ids=["max_steps", "epochs", "early", "min_delta"],
)  # fmt: skip
def test_it_says_why_it_ended_what_was_best_and_where_that_is(
    corpus: Path, mt: Mt, changes: dict[str, Any], why: str
) -> None:
    result = train(mt, training__validate_every="1 step", **changes)
    assert result.status == 0
    ended, best, costs, done = result.err.splitlines()[-4:]
    assert re.fullmatch(why, ended)
    named = Path("weights/toy/best").read_text().strip()
    progress = read_state(CHECKPOINTS / named)["progress"]
    assert best.startswith(f"best: step {progress['step']}, valid loss {progress['best']:.3f}   ")
    assert best.endswith(f", in weights/toy/checkpoints/{named}")
    assert re.fullmatch(
        r"time: \d+% batches, \d+% validating, \d+% saving, the rest on steps; at most [\d,]+ MiB",
        costs,
    )
    assert done.endswith("; now: mt translate --model weights/toy")


def test_an_average_that_is_better_is_what_evaluate_scores(corpus: Path, mt: Mt) -> None:
    changes = {"training__max_steps": 24, "training__epochs": None, "training__lr": 0.3,
               "training__save_every": "2 steps", "training__validate_every": "24 steps",
               "training__keep": {"last": 4}, "training__average": {"last": 4},
               "data__valid_size": 8}  # fmt: skip
    result = train(mt, **changes)
    assert result.status == 0, result.err
    found = re.search(r"^best: average, valid loss \S+   ppl \S+   BLEU (\S+)   chrF (\S+), in "
                      r"weights/toy/checkpoints/average$", result.err, re.M)  # fmt: skip
    assert found, result.err
    out = mt("evaluate", "--model", "toy", "--split", "valid").out
    assert re.findall(r"^(?:BLEU|chrF2) (\S+)", out, re.M) == [found[1], found[2]]
    assert "nothing left to do" in train(mt, **changes).err


def test_a_warm_up_longer_than_the_run_is_told(corpus: Path, mt: Mt) -> None:
    result = train(mt, training__max_steps=None, training__epochs=1, training__warmup_steps=7)
    assert (
        "warning      training.warmup_steps (7) are not over when training ends, after 7 steps"
        in result.err
    )


def test_what_is_averaged_and_how_fast_what_learns_is_told(corpus: Path, mt: Mt) -> None:
    result = train(mt, training__optimizer="muon", training__ema=0.99, training__max_steps=9,
                   training__warmup_steps=2)  # fmt: skip
    assert (
        "learning     lr 0.001 (matrices 0.02 by Muon), constant schedule, 2 steps of warm-up"
        in result.err
    )
    assert "average      of the weights with decay 0.99: it is what is validated" in result.err
    assert "   of the averaged weights   (best so far)" in result.err


def test_a_line_now_and_then_has_the_figures(
    corpus: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.cli.train.SECONDS_BETWEEN_LINES", 0.0)
    result = train(mt, training__max_steps=3)
    assert re.search(
        r"^step 2 of 3: loss \d\.\d{3}   lr 0\.001   gradient \S+   [\d,]+ tokens/s   \d+ s left$",
        result.err, re.M,
    )  # fmt: skip


def test_a_model_larger_than_memory_is_refused_before_anything_is_made(
    corpus: Path, mt: Mt, names: Names
) -> None:
    before = names()
    result = train(mt, model__d_model=10_000_000, model__num_heads=4)
    assert result.status == 2
    assert "this model is too large for cpu: its weights, gradients and moments, and" in result.err
    assert "lower model.d_model (10000000)" in result.err
    assert names() - before <= {"toy.yaml"}


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_good_weights(
    corpus: Path, mt: Mt
) -> None:
    result = train(mt, training__lr=1e38, training__clip_norm=None, training__max_steps=30)
    assert (result.status, result.out) == (1, "")
    last = result.err.splitlines()[-1]
    assert "not finite" in last
    assert "step" in last
    assert "epoch" in last
    assert "training.lr" in last
    for checkpoint in list_checkpoints(CHECKPOINTS):
        assert all(tensor.isfinite().all() for tensor in read_part(checkpoint, "model").values())
