"""First embeddings by a lexicon: model 1 as the paper states it, and what training gains by it."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch

from mt.config_file import config_from_dict
from mt.data.dataset import BilingualDataset
from mt.model.build import build_model
from mt.training import lexicon as lexicon_module
from mt.training.lexicon import ROUNDS, UNSEEN, factors, learn_lexicon, start_from_lexicon
from mt.training.run import Run
from tests.conftest import toy_config, toy_pairs, write_jsonl
from tests.data.test_batch import encoded

WORDS = range(4, 24)  # ids of the source; word w is translated by w + 20
SIZE = 44


def sentences(count: int = 400) -> list[tuple[list[int], list[int]]]:
    """Sentences of six words, translated word for word, in another order."""
    random = np.random.default_rng(3)
    pairs = []
    for _ in range(count):
        words = random.choice(WORDS, 6).tolist()
        pairs.append((words, [w + 20 for w in random.permutation(words).tolist()]))
    return pairs


def dataset(pairs: list[tuple[list[int], list[int]]]) -> BilingualDataset:
    return BilingualDataset(encoded(pairs), max_length=100)


def by_the_book(train: BilingualDataset) -> dict[tuple[int, int], tuple[float, float]]:
    """Expected counts of pairs (x, y) and of x, by plain loops over the formulas of the paper."""
    pairs = [(set(train[i].src[1:]), set(train[i].tgt_out)) for i in range(len(train))]
    t: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        count: dict[tuple[int, int], float] = defaultdict(float)
        total: dict[int, float] = defaultdict(float)
        for src, tgt in pairs:
            for y in tgt:
                all_of_it = sum(t[x, y] for x in src)
                for x in src:
                    count[x, y] += t[x, y] / all_of_it
                    total[x] += t[x, y] / all_of_it
        for (x, y), seen in count.items():
            t[x, y] = seen / total[x]
    return {(x, y): (seen, total[x]) for (x, y), seen in count.items()}


def test_the_gains_are_those_of_plain_loops() -> None:
    train = dataset(sentences(30))
    lexicon, (_, tgt_counts) = learn_lexicon(train, (SIZE, SIZE))
    chance = tgt_counts / tgt_counts.sum()
    expected = {
        (x, y): math.log((seen / chance[y] + UNSEEN) / (total + UNSEEN))
        for (x, y), (seen, total) in by_the_book(train).items()
    }
    found = dict(zip(zip(lexicon.src, lexicon.tgt, strict=True), lexicon.gain, strict=True))
    assert found.keys() == {pair for pair, gain in expected.items() if gain > 0}
    for pair, gain in found.items():
        assert gain == pytest.approx(expected[pair], abs=1e-9)


def test_counts_are_of_sentences_on_each_side() -> None:
    train = dataset([([5, 5, 6], [7]), ([5], [7, 8, 8])])
    _, (src, tgt) = learn_lexicon(train, (9, 10))
    assert (src - UNSEEN / 2).tolist() == [0, 0, 0, 2, 0, 2, 1, 0, 0]  # EOS is the third
    assert (tgt - UNSEEN / 2).tolist() == [0, 0, 0, 2, 0, 0, 0, 2, 1, 0]


def test_of_full_width_the_factors_give_the_gains_back() -> None:
    lexicon, _ = learn_lexicon(dataset(sentences()), (SIZE, SIZE))
    left, right = factors(lexicon, SIZE, seed=1)
    dense = torch.zeros(SIZE, SIZE)
    dense[lexicon.src, lexicon.tgt] = torch.from_numpy(lexicon.gain).float()
    torch.testing.assert_close(left @ right.T, dense, atol=1e-4, rtol=0)
    wider, _ = factors(lexicon, SIZE + 6, seed=1)
    assert wider.shape == (SIZE, SIZE + 6)


@pytest.mark.parametrize("tie", ["none", "decoder"])
def test_a_word_lies_nearest_to_its_translation(tie: str) -> None:
    config = toy_config(model__tie_embeddings=tie, model__embedding_init="lexicon")
    model = build_model(config_from_dict(config, "test").model, SIZE, SIZE)
    before = model.src_embedding.weight.detach().clone()
    start_from_lexicon(model, dataset(sentences()), seed=1)
    source = model.src_embedding.weight
    words = torch.tensor(WORDS)
    for target in (model.tgt_embedding.weight, model.projection.weight):
        assert (source[words] @ target.T).argmax(dim=1).tolist() == [w + 20 for w in WORDS]
        torch.testing.assert_close(target[words + 20].norm(dim=1), torch.ones(20))
    never = [i for i in range(SIZE) if i not in WORDS and i != 3]
    assert torch.equal(source[never], before[never])


def test_an_embedding_for_both_sides_is_the_mean_of_both() -> None:
    """No id is on both sides here, so each has the row of its own side."""
    config = toy_config(model__tie_embeddings="all", model__embedding_init="lexicon")
    config["tokenizer"] = {"kind": "bpe", "vocab_size": 300, "shared": True}
    model = build_model(config_from_dict(config, "test").model, SIZE, SIZE)
    start_from_lexicon(model, dataset(sentences()), seed=1)
    rows = model.src_embedding.weight
    words = torch.tensor(WORDS)
    likeness = rows[words] @ rows.T
    likeness[torch.arange(20), words] = 0  # each is most like itself
    assert likeness.argmax(dim=1).tolist() == [w + 20 for w in WORDS]


def test_of_a_large_corpus_sentences_evenly_spread_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = dataset(sentences())
    monkeypatch.setattr(lexicon_module, "MOST_PAIRS", 64 * 100)
    _, (src, _) = learn_lexicon(train, (SIZE, SIZE))
    assert src[3] - UNSEEN / 2 == 100  # EOS is in each sentence that was counted, one in four


def run(**changes: object) -> Run:
    return Run(config_from_dict(toy_config(**changes), "test"))


def test_a_model_that_begins_with_it_learns_faster(here: Path) -> None:
    data = {"source": "phrasebook", "src": "en", "tgt": "it", "max_length": 40, "valid_size": 200}
    settings = {
        "data": data, "model__tie_embeddings": "decoder", "model__d_model": 64,
        "training__epochs": None, "training__max_steps": 60, "training__lr": 3e-3,
        "training__batch_size": 32, "training__validate_every": "60 steps",
        "training__bleu_samples": 0,
    }  # fmt: skip
    losses = []
    for kind in ("unit", "lexicon"):
        one = run(name=kind, model__embedding_init=kind, **settings)
        for _ in one.trainer.fit():
            pass
        one.close()
        losses.append(one.trainer.progress.scores["loss"])
    assert losses[1] < losses[0] - 0.4  # 0.95 less when this was written


def test_a_run_begins_with_it_once(here: Path) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    settings = {"model__embedding_init": "lexicon", "training__max_steps": 2}
    one = run(name="one", **settings)
    first = one.trainer.model.src_embedding.weight.detach().clone()
    for _ in one.trainer.fit():
        pass
    one.close()
    again = run(name="one", **settings)
    assert again.resumed_from == 2
    learnt = one.trainer.model.src_embedding.weight
    assert torch.equal(again.trainer.model.src_embedding.weight, learnt)
    again.close()
    anew = run(name="anew", **settings)
    assert torch.equal(anew.trainer.model.src_embedding.weight, first)  # a function of the corpus
    anew.close()


def test_what_comes_from_another_model_counts_for_more(here: Path) -> None:
    write_jsonl(here / "pairs.jsonl", toy_pairs(60))
    one = run(name="one", training__max_steps=2)
    for _ in one.trainer.fit():
        pass
    one.close()
    two = run(name="two", model__embedding_init="lexicon", training__init_from="one")
    assert torch.equal(
        two.trainer.model.src_embedding.weight, one.trainer.model.src_embedding.weight
    )
    two.close()
