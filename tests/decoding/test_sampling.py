"""Sampling: the right distribution, the same draw for the same seed in any batch."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch

from mt.decoding.engine import Search
from mt.decoding.sampling import kept
from mt.text.tokenizer import EOS_ID
from tests.decoding.test_beam import find, next_scores, random_model, sources

DRAWS = 2000


def expected(temperature: float, top_k: int, top_p: float) -> dict[int, float]:
    """Probabilities of the first token, written out with no tensor operation but softmax."""
    model, source = random_model("native", 3), sources(3)[1]
    scores = next_scores(model, torch.as_tensor(source), []).double()
    shares = (scores / temperature).softmax(-1).tolist()
    ranked = sorted(range(len(shares)), key=lambda i: -shares[i])[: top_k or None]
    whole, taken, stay = sum(shares[i] for i in ranked), 0.0, []
    for i in ranked:
        if taken >= top_p * whole:
            break
        stay.append(i)
        taken += shares[i]
    return {i: shares[i] / taken for i in stay if shares[i] > 0}


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, 0, 1.0), (0.5, 0, 1.0), (2.0, 3, 1.0), (1.0, 0, 0.6), (1.5, 5, 0.8), (1.0, 1, 1.0)],
)
def test_first_tokens_are_drawn_with_the_probabilities_that_they_should_have(
    temperature: float, top_k: int, top_p: float
) -> None:
    search = Search(
        sample=True, n_best=DRAWS, temperature=temperature, top_k=top_k, top_p=top_p, seed=1
    )
    (found,) = find(random_model("native", 3), [sources(3)[1]], search, limit=1)
    counts = Counter(h.ids[0] for h in found)
    shares = expected(temperature, top_k, top_p)
    assert set(counts) <= set(shares)
    rare = {i for i, p in shares.items() if DRAWS * p < 5}  # counted together
    cells = [(counts[i], DRAWS * p) for i, p in shares.items() if i not in rare]
    cells.append((sum(counts[i] for i in rare), sum(DRAWS * shares[i] for i in rare) + 1e-9))
    surprise = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    assert surprise < 30  # chi-square with at most 8 degrees of freedom: once in 5,000 seeds


def test_a_draw_is_a_function_of_seed_and_sentence() -> None:
    model, framed = random_model("native", 1), sources(1)
    search = Search(sample=True, n_best=2, seed=3)

    def ids(order: list[int], seed: int = 3) -> list[list[list[int]]]:
        chosen = [framed[i] for i in order]
        found = find(model, chosen, Search(sample=True, n_best=2, seed=seed), limit=12)
        return [[h.ids for h in hypotheses] for hypotheses in found]

    straight = ids(list(range(8)))
    assert ids(list(range(8))) == straight
    assert ids(list(range(8))[::-1])[::-1] == straight
    assert [ids([i])[0] for i in range(8)] == straight
    assert ids(list(range(8)), seed=4) != straight
    assert any(a != b for a, b in straight)  # the samples of one sentence are not one draw
    assert search.n_best == 2


def test_a_cold_draw_is_greedy_search() -> None:
    model, framed = random_model("native", 2), sources(2)
    cold = find(model, framed, Search(sample=True, temperature=1e-4), 12)
    greedy = find(model, framed, Search(), 12)
    assert [h.ids for (h,) in cold] == [h.ids for (h,) in greedy]
    for (a,), (b,) in zip(cold, greedy, strict=True):  # the model's, whatever the temperature
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)


def test_whole_samples_have_the_probability_of_their_sequence() -> None:
    """Counted over all sequences of up to two tokens: each comes as often as the model says."""
    model, source = random_model("native", 3, vocabulary=6), sources(3)[1]
    (found,) = find(model, [source], Search(sample=True, n_best=DRAWS), limit=2)
    counts = Counter((tuple(h.ids), h.cut) for h in found)
    src = torch.as_tensor(source)
    for ids in itertools.chain([(i,) for i in (0, 4, 5)], itertools.product((0, 4, 5), repeat=2)):
        scores = [next_scores(model, src, list(ids[:i])) for i in range(len(ids))]
        # What is forbidden is drawn again, so to say: the rest shares its mass.
        shares = [float(s.softmax(-1)[i]) for s, i in zip(scores, ids, strict=True)]
        end = float(next_scores(model, src, list(ids)).softmax(-1)[EOS_ID])
        share = torch.tensor(shares).prod().item() * (end if len(ids) == 1 else 1.0)
        seen = counts[ids, False] + (counts[ids, True] if len(ids) == 2 else 0)
        spread = (DRAWS * share * (1 - share)) ** 0.5
        assert abs(seen - DRAWS * share) < 4.5 * spread + 1


def test_the_likeliest_always_stays() -> None:
    scores = torch.tensor([[0.1, 3.0, 0.2], [5.0, 1.0, -torch.inf]])
    for top_k, top_p in ((1, 1.0), (0, 1e-6), (1, 1e-6)):
        left = kept(scores, top_k, top_p)
        assert (left > -torch.inf).sum(1).tolist() == [1, 1]
        assert left.argmax(1).tolist() == [1, 0]
