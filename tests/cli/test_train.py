"""`mt train`: what is refused before anything is made, what is reported, and what is kept."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mt.cli.main import main
from mt.storage.checkpoint import list_checkpoints, read_part, read_state
from mt.training.metrics import read_metrics
from tests.conftest import (
    ROOT,
    Result,
    mt_process,
    toy_config,
    toy_pairs,
    write_config,
    write_jsonl,
)

Mt = Callable[..., Result]
Names = Callable[[], set[str]]
CHECKPOINTS = Path("weights/toy/checkpoints")


def train(mt: Mt, *arguments: str, **changes: Any) -> Result:
    changes.setdefault("training__max_steps", 2)
    write_config(Path("toy.yaml"), **changes)
    return mt("train", "--config", "toy.yaml", *arguments)


def add_rows(*rows: object) -> None:
    with Path("pairs.jsonl").open("a", encoding="utf-8") as file:
        for row in rows:
            file.write((row if isinstance(row, str) else json.dumps(row)) + "\n")


def pair(en: object, it: object) -> dict[str, object]:
    return {"translation": {"en": en, "it": it}}


def vocabulary(language: str) -> set[str]:
    text = Path(f"weights/toy/tokenizer_{language}.json").read_text("utf-8")
    return set(json.loads(text)["model"]["vocab"])


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}


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


def test_rows_that_are_left_out_are_counted_with_a_reason(corpus: Path, mt: Mt) -> None:
    add_rows(pair("", "il gatto."), pair("the fox runs.", " \u00a0"), pair("a\u200b", "\u200b"))
    result = train(mt)
    assert result.status == 0
    assert "60 pairs of 63 rows read" in result.err
    assert any(
        re.search(r"\b3\b", line) and ("blank" in line or "empty" in line) and "row 61" in line
        for line in result.err.splitlines()
    ), result.err


def test_pairs_that_are_too_long_are_found_before_step_1(corpus: Path, mt: Mt) -> None:
    add_rows(pair("cat " * 200, "gatto " * 190))
    result = train(mt, data__valid_size=0)
    assert result.status == 0
    said = next(line for line in result.err.splitlines() if "too long" in line)
    assert re.search(r"\b1 .*data\.max_length \(24 tokens a side\).*\b61\b", said)


def test_repetitions_are_reported_and_never_on_both_sides(here: Path, mt: Mt) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(20) * 3)
    result = train(mt, data__valid_size=0.2)
    assert result.status == 0
    assert re.search(r"40\b.*duplicate", result.err)
    data = json.loads(Path("weights/toy/data.json").read_text())
    assert data["splits"]["train"]["pairs"] + data["splits"]["valid"]["pairs"] == 20
    for kinds in data["leaks"].values():
        for name in kinds.keys() & {"same pair", "same source text"}:
            assert kinds[name]["count"] == 0


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_text_pairs_have_one_vocabulary_whatever_their_line_ends(
    here: Path, mt: Mt, prefix: bytes, end: bytes
) -> None:
    for side, language in enumerate(("en", "it")):
        lines = [p[side].encode() + end for p in toy_pairs(40)]
        Path(f"a.{language}").write_bytes(prefix + b"".join(lines))
    sources = [{"src_file": "a.en", "tgt_file": "a.it"}]
    result = train(mt, data__source=sources, data__valid_size=0)
    assert result.status == 0, result.err
    assert "40 pairs of 40 rows read" in result.err
    words = {word for side in toy_pairs(40) for word in side[0].rstrip(".").split()}
    assert vocabulary("en") == words | {".", "[UNK]", "[PAD]", "[SOS]", "[EOS]"}
    assert not any("\ufeff" in t or "\r" in t for lang in ("en", "it") for t in vocabulary(lang))


def test_hidden_line_breaks_do_not_shift_text_pairs(here: Path, mt: Mt) -> None:
    Path("a.en").write_text("the cat\u2028sleeps.\nthe dog eats.\n")
    Path("a.it").write_text("il gatto dorme.\nil cane mangia.\n")
    sources = [{"src_file": "a.en", "tgt_file": "a.it"}]
    result = train(mt, data__source=sources, data__valid_size=0)
    assert result.status == 0
    assert "2 pairs of 2 rows read" in result.err


def test_text_pairs_of_unequal_length_are_refused_with_both_counts(
    here: Path, mt: Mt, names: Names
) -> None:
    Path("a.en").write_text("one\ntwo\nthree\n")
    Path("a.it").write_text("uno\ndue\n")
    result = train(mt, data__source=[{"src_file": "a.en", "tgt_file": "a.it"}])
    assert result.status == 2
    assert all(part in result.err for part in ("a.en", "a.it", "3", "2"))
    assert names() == {"a.en", "a.it", "toy.yaml"}


def test_a_corpus_that_is_not_utf8_is_named_with_the_line(here: Path, mt: Mt, names: Names) -> None:
    Path("a.en").write_bytes(b"the cat\nthe coffee\n")
    Path("a.it").write_bytes(b"il gatto\nil caff\xe8\n")
    result = train(mt, data__source=[{"src_file": "a.en", "tgt_file": "a.it"}])
    assert result.status == 2
    assert "a.it" in result.err
    assert "line 2" in result.err
    assert "not UTF-8" in result.err
    assert names() == {"a.en", "a.it", "toy.yaml"}


def test_control_characters_and_entities_are_not_learnt(corpus: Path, mt: Mt) -> None:
    add_rows(
        pair("the cat\x00sleeps\x07 well.", "il gatto dorme."),
        pair("it&apos;s the cat &amp; the dog.", "&egrave; il gatto &amp; il cane."),
    )
    result = train(mt, data__valid_size=0)
    assert result.status == 0
    tokens = vocabulary("en") | vocabulary("it")
    assert not any(unicodedata.category(c) == "Cc" for token in tokens for c in token)
    assert not tokens & {"apos", "amp", "egrave"}
    assert {"è", "&"} <= {token.strip() for token in tokens}
    assert "entities" in result.err


def test_the_vocabulary_is_the_same_in_either_unicode_form(here: Path, mt: Mt) -> None:
    found = []
    for form in ("NFC", "NFD"):
        accents = [("coffee why.", "caffè perché."), ("the city is so.", "la città è così.")]
        pairs = [(s, unicodedata.normalize(form, t)) for s, t in toy_pairs(10) + accents]
        write_jsonl(Path("pairs.jsonl"), pairs)
        assert train(mt, data__valid_size=0, name=form.lower()).status == 0
        found.append(Path(f"weights/{form.lower()}/tokenizer_it.json").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("code", ["no", "on"])
def test_norwegian_is_a_language(here: Path, mt: Mt, code: str) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(20), tgt=code)
    text = yaml.safe_dump(toy_config(data__tgt="XX")).replace("XX", code)
    Path("toy.yaml").write_text(text)
    assert f"tgt: {code}\n" in text
    assert mt("train", "--config", "toy.yaml", "--set", "training.max_steps=1").status == 0
    assert Path(f"weights/toy/tokenizer_{code}.json").exists()
    assert not [p for p in Path("weights/toy").iterdir() if "False" in p.name or "True" in p.name]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_validation_pairs_is_said_before_training(here: Path, mt: Mt, count: int) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(count))
    result = train(mt)
    assert result.status == 0
    assert "valid" in result.err
    assert "nan" not in result.err.lower().replace("finance", "")
    for line in read_metrics(Path("runs/toy")):
        assert all(value == value for value in line.values())


def test_random_digits_cannot_be_guessed(here: Path, mt: Mt) -> None:
    """Held-out loss stays near ln 10 = 2.30 unless the decoder sees what it has to say."""
    chance = random.Random(1)
    digits = ["zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]
    lines = [" ".join(chance.choice(digits) for _ in range(8)) for _ in range(300)]
    write_jsonl(Path("pairs.jsonl"), [("go", line) for line in lines])
    result = train(mt, training__max_steps=150, training__batch_size=32, training__lr=5e-3,
                   training__label_smoothing=0.0, data__valid_size=0.2, training__epochs=None,
                   training__validate_every="50 steps", model__dropout=0.0,
                   data__cleaning={"max_ratio": None})  # fmt: skip
    assert result.status == 0
    losses = [line["valid/loss"] for line in read_metrics(Path("runs/toy")) if "valid/loss" in line]
    assert len(losses) == 3
    assert all(loss >= 1.9 for loss in losses)  # 9 tokens with EOS: 8 / 9 of 2.30 is 2.05
    assert losses[0] < 2.8  # it did learn which words there are


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
    assert [line.split()[1] for line in out.splitlines()[1:]] == [found[1], found[2]]
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


def test_a_model_larger_than_memory_is_refused_before_anything_is_made(
    corpus: Path, mt: Mt, names: Names
) -> None:
    before = names()
    result = train(mt, model__d_model=10_000_000, model__num_heads=4)
    assert result.status == 2
    assert "this model is too large for cpu: its weights, gradients and moments, and" in result.err
    assert "lower model.d_model (10000000)" in result.err
    assert names() - before <= {"toy.yaml"}


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


def test_the_newest_checkpoint_is_that_of_the_highest_step(corpus: Path, mt: Mt) -> None:
    keep = {"training__save_every": "50 steps", "training__log_every": 50, "training__epochs": None}
    assert train(mt, training__max_steps=101, model__d_model=4, model__d_ff=4, **keep).status == 0
    names = [p.name for p in list_checkpoints(CHECKPOINTS)]
    assert names[-2:] == ["step-00000100", "step-00000101"]
    result = train(mt, training__max_steps=102, model__d_model=4, model__d_ff=4, **keep)
    assert "resuming weights/toy after step 101" in result.err


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


def test_other_data_under_the_same_name_is_refused(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    before = content(Path("weights"))
    write_jsonl(Path("pairs.jsonl"), toy_pairs(30))
    result = train(mt, training__max_steps=9)
    assert result.status == 2
    assert "the data is not what" in result.err
    assert "--restart" in result.err
    assert content(Path("weights")) == before


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


def test_without_a_network_it_says_so_and_what_to_do(here: Path, mt: Mt) -> None:
    result = mt("train", "--config", ROOT / "configs" / "opus_books_en_it.yaml")
    assert (result.status, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    for part in ("offline", "Helsinki-NLP/opus_books", "data.source=FILE", "phrasebook"):
        assert part in result.err
    assert list(here.iterdir()) == []


def test_with_a_network_that_answers_nothing_it_says_so_in_good_time(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`mt_process` ends it after two minutes; what is asked of it is one."""
    dead = "http://127.0.0.1:9"
    environment = {
        **os.environ, "HF_HOME": str(tmp_path_factory.mktemp("hf")), "HF_HUB_OFFLINE": "0",
        "HTTPS_PROXY": dead, "HTTP_PROXY": dead, "https_proxy": dead, "http_proxy": dead,
        "NO_PROXY": "", "no_proxy": "",
    }  # fmt: skip
    ended = mt_process(
        "train", "--config", ROOT / "configs" / "opus_books_en_it.yaml", env=environment
    )
    said = ended.stderr.decode()
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert "cannot reach" in said
    assert "Helsinki-NLP/opus_books" in said
    assert len(said.splitlines()) == 1
    assert list(here.iterdir()) == []


def test_one_vocabulary_for_both_sides_is_told_as_one(corpus: Path, mt: Mt) -> None:
    tokenizer = {"tokenizer__kind": "bpe", "tokenizer__vocab_size": 300}
    shared = train(mt, tokenizer__shared=True, **tokenizer)
    assert "\nvocabulary   300, shared by en and it\n" in shared.err
    result = mt("data", "--config", "toy.yaml", "--set", "tokenizer.shared=false")
    assert "\nvocabulary   300 en, 300 it\n" in result.out


def test_a_budget_smaller_than_the_longest_pair_is_refused(corpus: Path, mt: Mt) -> None:
    result = train(mt, training__batch_size=None, training__batch_tokens=4)
    assert result.status == 2
    assert re.search(
        r"training\.batch_tokens \(4\) is smaller than the longest training pair \(\d+ tokens a "
        r"side\): raise it to \d+ or more, or lower data\.max_length \(\d+\)",
        result.err,
    )
    assert not Path("weights").exists()
