"""Every shipped config, shrunk: learns 50 pairs by heart, checkpoints, resumes and translates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mt.config_file import load_config
from mt.text.phrasebook import phrasebook
from mt.training.metrics import read_metrics
from tests.conftest import ROOT, Result, write_jsonl

# Of the recipes, which differ in sizes alone, one.
CONFIGS = [*sorted((ROOT / "configs").glob("*.yaml")), ROOT / "configs" / "recipes" / "small.yaml"]
STEPS = 240
SHRUNK = [
    "model.num_layers=2",
    "model.d_model=64",
    "model.num_heads=4",
    "model.d_ff=128",
    "model.dropout=0",
    "tokenizer.min_frequency=1",
    "training.label_smoothing=0",
    "training.lr=2e-3",
    "training.warmup_steps=40",
    "training.batch_tokens=null",
    "training.batch_size=25",
    "training.log_every=20",
    "training.validate_every=1000 steps",
    "training.save_every=1000 steps",
    "training.epochs=null",
    "training.minutes=null",
    "data.source=pairs.jsonl",
    "data.subset=null",
    "data.valid_size=0",
    "data.test_size=0",
]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return phrasebook()["train"][:50]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_preset_learns_fifty_pairs_by_heart(
    path: Path, pairs: list[tuple[str, str]], here: Path, mt: Callable[..., Result]
) -> None:
    write_jsonl(here / "pairs.jsonl", pairs)
    (here / "in.txt").write_text("".join(f"{source}\n" for source, _ in pairs), "utf-8")
    settings = [part for override in SHRUNK for part in ("--set", override)]
    # In two parts: the second resumes from the checkpoint of the first.
    for steps in (STEPS // 2, STEPS):
        result = mt("train", "--config", path, *settings, "--set", f"training.max_steps={steps}")
        assert result.status == 0, result.err
    assert f"resuming weights/{path.stem} after step {STEPS // 2}" in result.err

    last = [line for line in read_metrics(Path("runs") / path.stem) if "train/loss" in line][-1]
    assert last["step"] == STEPS
    assert float(str(last["train/loss"])) < 0.1
    assert mt("translate", "--input", "in.txt", "--output", "out.txt").status == 0
    assert Path("out.txt").read_text("utf-8").splitlines() == [target for _, target in pairs]


def test_reference_recipe_is_the_published_one() -> None:
    config = load_config(ROOT / "configs" / "opus_books_en_it.yaml")
    model, training = config.model, config.training
    assert (model.depth, model.d_model, model.num_heads, model.d_ff) == ((6, 6), 512, 8, 2048)
    assert (model.norm, model.activation, model.attention_bias) == ("pre", "relu", False)
    assert (model.dropout, model.init, model.tie_embeddings) == (0.1, "xavier_normal", "none")
    assert (training.optimizer, training.lr, training.eps) == ("adam", 1e-4, 1e-9)
    assert (training.pairs_per_batch, training.max_epochs) == (8, 20)
    assert training.label_smoothing == 0.1
    assert (config.tokenizer.kind, config.data.max_length) == ("word", 350)
