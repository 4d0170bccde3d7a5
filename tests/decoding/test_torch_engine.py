"""TorchEngine: the same ids alone and in any batch, even where the model has two minds."""

from __future__ import annotations

import random

import pytest
import torch

from mt.decoding.engine import Search
from mt.decoding.torch_engine import Task
from mt.model.interface import TranslationModel
from tests.decoding.test_beam import engine, find, random_model, sources

LENGTHS = [1 + i % 13 for i in range(24)]


def undecided(seed: int) -> TranslationModel:
    """A model in which each word has a twin whose logit differs by less than rounding does."""
    model = random_model("native", seed, vocabulary=22)
    torch.manual_seed(seed)
    with torch.no_grad():
        projection = model.projection
        projection.weight[13:22] = projection.weight[4:13] + 1e-7 * torch.randn(9, 16)
        projection.bias[13:22] = projection.bias[4:13]
        # Twins go on alike, but for what they lead to in the end.
        model.tgt_embedding.weight[13:22] = model.tgt_embedding.weight[4:13] + 0.1
    return model


@pytest.mark.parametrize(
    "search",
    [Search(), Search(beam_size=4), Search(beam_size=4, n_best=4), Search(sample=True, top_k=4)],
    ids=["greedy", "beam", "n-best", "sample"],
)
def test_close_decisions_are_the_same_in_any_batch(search: Search) -> None:
    model, framed = undecided(1), sources(1, LENGTHS)
    alone = [find(model, [source], search)[0] for source in framed]
    order = list(range(len(framed)))
    for size in (7, 24):
        random.Random(size).shuffle(order)
        for at in range(0, len(order), size):
            places = order[at : at + size]
            found = find(model, [framed[i] for i in places], search)
            for i, hypotheses in zip(places, found, strict=True):
                assert [h.ids for h in hypotheses] == [h.ids for h in alone[i]]


def test_a_batch_alone_would_decide_otherwise_and_knows_where() -> None:
    """Else the test above would prove nothing: some do differ, and each of them is marked."""
    search = Search(beam_size=4, n_best=4)
    differ = 0
    for seed in range(2):
        model, framed = undecided(seed), sources(seed, LENGTHS)
        tasks = [Task(source, 8, ()) for source in framed]
        together = engine(model).run(tasks, search)
        for task, found in zip(tasks, together, strict=True):
            alone = engine(model).run([task], search)[0].best()
            if [h.ids for h in found.best()] != [h.ids for h in alone]:
                assert found.unsure
                differ += 1
    assert differ


def test_what_is_clear_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model("native", 1)
    calls: list[int] = []
    chosen = engine(model)
    run = chosen.run
    monkeypatch.setattr(chosen, "run", lambda tasks, search: calls.append(1) or run(tasks, search))
    chosen.search(sources(1), [8] * 8, [()] * 8, Search())
    assert len(calls) == 1
