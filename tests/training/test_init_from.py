"""Starting from another model: the same answers before step 1, rows by token, and what is said."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch

from mt.config_file import config_from_dict
from mt.errors import UserError
from mt.storage.checkpoint import list_checkpoints, read_part
from mt.training.run import Run
from tests.conftest import toy_config, toy_pairs, write_jsonl


def run(**changes: object) -> Run:
    return Run(config_from_dict(toy_config(**changes), "test"))


@pytest.fixture
def first(here: Path, caplog: pytest.LogCaptureFixture) -> dict[str, torch.Tensor]:
    """The weights of a model called `first`, trained on some of the toy pairs."""
    logging.getLogger("mt").propagate = True
    caplog.set_level(logging.INFO, logger="mt")
    write_jsonl(here / "pairs.jsonl", [p for p in toy_pairs(120) if "cat" not in p[0]][:60])
    trained = run(name="first", training__max_steps=3)
    for _ in trained.trainer.fit():
        pass
    trained.close()
    return read_part(list_checkpoints(Path("weights/first/checkpoints"))[-1], "model")


def test_with_the_same_vocabulary_all_is_taken(first: dict[str, torch.Tensor]) -> None:
    second = run(name="second", training__init_from="first")
    for name, parameter in second.trainer.model.named_parameters():
        assert torch.equal(parameter, first[name])
    assert second.trainer.progress.step == 0
    assert not second.trainer.optimizer.state
    second.close()


def test_rows_go_by_token_and_new_tokens_start_at_random(
    first: dict[str, torch.Tensor], here: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = run(name="first", training__max_steps=3)
    old.close()
    write_jsonl(here / "pairs.jsonl", toy_pairs(120)[::-1])
    second = run(name="second", training__init_from="first")
    fresh = run(name="fresh")
    tensors = dict(second.trainer.model.named_parameters())
    random = dict(fresh.trainer.model.named_parameters())
    for name, side in (("src_embedding.weight", "src"), ("projection.bias", "tgt")):
        known = getattr(old.data, side).vocabulary
        new = 0
        for token, i in getattr(second.data, side).vocabulary.items():
            expected = first[name][known[token]] if token in known else random[name][i]
            assert torch.equal(tensors[name][i], expected)
            new += token not in known
        assert new
    name = "encoder.0.feed_forward.0.weight"
    assert torch.equal(tensors[name], first[name])
    said = caplog.text
    assert f"step-00000003: {len(tensors)} of {len(tensors)} parameters taken" in said
    assert f"en: {len(old.data.src.vocabulary)} of {second.data.src.vocab_size} tokens" in said
    second.close()
    fresh.close()


def test_another_depth_takes_what_fits_and_says_what_does_not(
    first: dict[str, torch.Tensor], caplog: pytest.LogCaptureFixture
) -> None:
    second = run(name="second", training__init_from="first", model__num_layers=2)
    assert "not taken, as it does not fit: encoder.1.attention" in caplog.text
    name = "encoder.0.feed_forward.0.weight"
    assert torch.equal(dict(second.trainer.model.named_parameters())[name], first[name])
    second.close()


def test_a_resumed_run_goes_on_as_it_was(first: dict[str, torch.Tensor]) -> None:
    changes = {"name": "second", "training__init_from": "first", "training__max_steps": 2}
    second = run(**changes)
    for _ in second.trainer.fit():
        pass
    second.close()
    reached = {n: p.clone() for n, p in second.trainer.model.named_parameters()}
    again = run(**{**changes, "training__max_steps": 4})
    assert again.resumed_from == 2
    for name, parameter in again.trainer.model.named_parameters():
        assert torch.equal(parameter, reached[name])
    again.close()


def test_what_cannot_be_started_from(first: dict[str, torch.Tensor]) -> None:
    with pytest.raises(UserError, match=r"training\.init_from \(nope\): no model nope"):
        run(name="second", training__init_from="nope")
    says = r"training\.init_from \(first\): .*first has model.d_model 32, this model 12: they"
    with pytest.raises(UserError, match=says):
        run(name="third", training__init_from="first", model__d_model=12, model__d_ff=20)
    assert [folder.name for folder in Path("weights").iterdir()] == ["first"]
    assert [folder.name for folder in Path("runs").iterdir()] == ["first"]
