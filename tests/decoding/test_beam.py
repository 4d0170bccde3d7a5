"""The search against the plain definition of it: one sentence, whole prefix, no cache."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.data.frame import frame
from mt.data.ragged import Ids
from mt.decoding.engine import Hypothesis, Search
from mt.decoding.torch_engine import TorchEngine
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.model.torch_backed import TorchTransformer
from mt.model.transformer import Transformer
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID
from tests.model.test_model import copy_weights

VOCABULARY = 12  # small, so that EOS comes up
endings: set[bool] = set()  # seen in the tests below: cut, and not cut


def random_model(implementation: str, seed: int, vocabulary: int = VOCABULARY) -> TranslationModel:
    config = ModelConfig(
        implementation=implementation, num_layers=2, d_model=16, num_heads=4, d_ff=32,
        dropout=0.1, attention_bias=True,
    )  # fmt: skip
    model = build_model(config, VOCABULARY, vocabulary, seed=seed)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        model.projection.bias[EOS_ID] += 1.0
    return model.eval()


def engine(model: TranslationModel) -> TorchEngine:
    return TorchEngine(model, torch.device("cpu"))


def sources(seed: int, lengths: Sequence[int] = (1, 9, 4, 4, 7, 2, 12, 3)) -> list[Ids]:
    generator = torch.Generator().manual_seed(seed)
    return [
        frame(torch.randint(4, VOCABULARY, (length,), generator=generator).tolist())
        for length in lengths
    ]


def find(
    model: TranslationModel,
    framed: Sequence[Ids],
    search: Search,
    limit: int | Sequence[int] = 8,
    prefix: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    limits = [limit] * len(framed) if isinstance(limit, int) else limit
    return engine(model).search(framed, limits, [prefix] * len(framed), search)


@torch.inference_mode()
def next_scores(model: TranslationModel, src: Tensor, ids: Sequence[int]) -> Tensor:
    prefix = torch.tensor([[SOS_ID, *ids]])
    scores = model(src[None], None, prefix)[0, -1].log_softmax(-1)
    scores[[PAD_ID, SOS_ID]] = -torch.inf
    if not ids:
        scores[EOS_ID] = -torch.inf
    return scores


def greedily(model: TranslationModel, source: Ids, max_length: int) -> Hypothesis:
    ids: list[int] = []
    total = 0.0
    while True:
        scores = next_scores(model, torch.as_tensor(source), ids)
        token = int(scores.argmax())
        if token == EOS_ID:
            return Hypothesis(ids, total + float(scores[token]), cut=False)
        if len(ids) == max_length:
            return Hypothesis(ids, total, cut=True)
        ids.append(token)
        total += float(scores[token])


@pytest.mark.parametrize("implementation", ["native", "torch"])
@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_in_a_batch_is_greedy_search_by_definition(
    implementation: str, seed: int
) -> None:
    model = random_model(implementation, seed)
    generator = torch.Generator().manual_seed(seed)
    framed = sources(seed)
    limits = [int(n) for n in torch.randint(1, 15, (len(framed),), generator=generator)]
    for source, limit, (found,) in zip(
        framed, limits, find(model, framed, Search(), limits), strict=True
    ):
        alone = greedily(model, source, limit)
        assert (found.ids, found.cut) == (alone.ids, alone.cut)
        assert found.log_probability == pytest.approx(alone.log_probability, abs=1e-4)
        assert sum(found.token_log_probabilities) == pytest.approx(found.log_probability, abs=1e-4)
        endings.add(found.cut)


def test_both_endings_came_up() -> None:
    assert endings == {True, False}


def every_sequence(
    model: TranslationModel, source: Ids, max_length: int, search: Search
) -> list[Hypothesis]:
    """All there are, by their scores: those that end, then those that are cut."""
    src = torch.as_tensor(source)
    found, open_ones = [], [([], 0.0)]
    for length in range(max_length + 1):
        longer = []
        for ids, total in open_ones:
            scores = next_scores(model, src, ids).tolist()
            if length < max_length:
                longer += [([*ids, i], total + s) for i, s in enumerate(scores) if s > -1e9]
            elif max(scores) == scores[EOS_ID]:
                longer.append(([*ids, EOS_ID], total + scores[EOS_ID]))
            else:
                found.append(Hypothesis(ids, total, True, total / search.penalty(length)))
        ended = [(ids, total) for ids, total in longer if ids[-1] == EOS_ID]
        found += [
            Hypothesis(ids[:-1], total, False, total / search.penalty(len(ids)))
            for ids, total in ended
        ]
        open_ones = [(ids, total) for ids, total in longer if ids[-1] != EOS_ID]
    return sorted(found, key=lambda h: (h.cut, -h.score))


@pytest.mark.parametrize(
    ("normalization", "alpha"),
    [("none", 1.0), ("length", 0.5), ("length", 1.0), ("length", 2.0), ("gnmt", 0.6)],
)
@pytest.mark.parametrize("seed", range(6))
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all_sequences(
    normalization: str, alpha: float, seed: int
) -> None:
    """With 3 words and up to 3 tokens there are 3 + 9 + 27 that end or are cut."""
    model = random_model("native" if seed % 2 else "torch", seed, vocabulary=6)
    search = Search(
        beam_size=81, n_best=5, length_normalization=normalization, length_penalty=alpha
    )
    framed = sources(seed, (3, 5))
    for source, found in zip(framed, find(model, framed, search, limit=3), strict=True):
        best = every_sequence(model, source, 3, search)[:5]
        assert [(h.ids, h.cut) for h in found] == [(h.ids, h.cut) for h in best]
        for mine, other in zip(found, best, strict=True):
            assert mine.score == pytest.approx(other.score, abs=1e-4)
            assert mine.log_probability == pytest.approx(other.log_probability, abs=1e-4)


def ruled_scores(scores: Tensor, ids: list[int], search: Search) -> list[float]:
    """The model's log-probabilities without what is forbidden, which sum to 1 again."""
    scores = scores.clone()
    scores[list(search.banned)] = -torch.inf
    n = search.no_repeat_ngram
    for first in range(len(ids) - n + 1 if n else 0):
        if ids[first : first + n - 1] == ids[len(ids) - n + 1 :]:
            scores[ids[first + n - 1]] = -torch.inf
    if len(ids) < search.min_length:
        scores[EOS_ID] = -torch.inf
    again: list[float] = scores.log_softmax(-1).tolist()
    return again


def by_definition(
    model: TranslationModel, source: Ids, max_length: int, search: Search
) -> list[Hypothesis]:
    """A beam of one sentence in plain lists: no cache, no batch, no bound on what can win.

    `log_probability` is of the search here, as the score is.
    """
    src, width = torch.as_tensor(source), search.beam_size
    beam: list[tuple[float, list[int]]] = [(0.0, [])]
    found: list[Hypothesis] = []
    ended = 0
    while ended < search.patience * width:
        scores = [next_scores(model, src, ids) for _, ids in beam]
        rows = [row.tolist() for row in scores]
        if search.ruled:
            rows = [ruled_scores(s, ids, search) for s, (_, ids) in zip(scores, beam, strict=True)]
        if len(beam[0][1]) == max_length:
            for (total, ids), row in zip(beam, rows, strict=True):
                cut = max(row) != row[EOS_ID]
                found.append(Hypothesis(ids, total + (0 if cut else row[EOS_ID]), cut))
            break
        longer = [
            (total + score, [*ids, token])
            for (total, ids), row in zip(beam, rows, strict=True)
            for token, score in enumerate(row)
            if score > -torch.inf
        ]
        longer.sort(reverse=True)
        for total, ids in longer[:width]:
            if ids[-1] == EOS_ID:
                found.append(Hypothesis(ids[:-1], total, cut=False))
                ended += 1
        beam = [candidate for candidate in longer if candidate[1][-1] != EOS_ID][:width]
    for hypothesis in found:
        tokens = len(hypothesis.ids) + (not hypothesis.cut)
        hypothesis.score = hypothesis.log_probability / search.penalty(tokens)
    return sorted(found, key=lambda h: (h.cut, -h.score))


@pytest.mark.parametrize(
    "settings",
    [
        {"length_normalization": "none", "patience": 1.0},
        {"length_normalization": "length", "length_penalty": 1.0},
        {"length_normalization": "gnmt", "length_penalty": 1.5, "patience": 3.0},
        {"no_repeat_ngram": 2, "banned": (6,), "min_length": 4},
    ],
    ids=["none", "length", "gnmt", "ruled"],
)
@pytest.mark.parametrize("width", [2, 4])
def test_a_beam_in_a_batch_is_one_by_definition(width: int, settings: dict[str, Any]) -> None:
    search = Search(beam_size=width, n_best=2, **settings)
    lengths = set()
    for seed in range(4):
        model, framed = random_model("native", seed), sources(seed)
        with torch.no_grad():
            model.projection.weight.mul_(0.4)  # unsure of itself: several lengths come up
        for source, found in zip(framed, find(model, framed, search, 10), strict=True):
            best = by_definition(model, source, 10, search)[:2]
            assert [(h.ids, h.cut) for h in found] == [(h.ids, h.cut) for h in best]
            assert [h.score for h in found] == pytest.approx([h.score for h in best], abs=1e-4)
            lengths |= {len(h.ids) for h in found if not h.cut}
    assert len(lengths) > 3


def test_a_wider_beam_never_finds_less_than_greedy_search_on_the_whole() -> None:
    """And it does find more, or it would not be a beam."""
    totals = []
    for width in (1, 4, 16):
        search = Search(beam_size=width, length_normalization="none")
        found = [
            h
            for seed in range(5)
            for h in find(random_model("native", seed), sources(seed), search, 30)
        ]
        totals.append(sum(h[0].log_probability for h in found))
    assert totals[0] < totals[1] < totals[2]


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_to_stop_when_nothing_can_win_changes_nothing_but_the_steps(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Search(beam_size=6, length_penalty=alpha, length_normalization="gnmt")
    models = [random_model("native", seed) for seed in range(4)]
    for model in models:
        with torch.no_grad():
            model.projection.weight.mul_(3.0)  # surer of itself, as a trained one is
            model.projection.bias[EOS_ID] += 2.0
    steps = 0
    advance = Transformer.advance

    def counted(self: Transformer, *arguments: Tensor) -> Tensor:
        nonlocal steps
        steps += len(arguments[0])
        return advance(self, *arguments)

    monkeypatch.setattr(Transformer, "advance", counted)

    def results() -> list[list[int]]:
        return [best.ids for m in models for (best,) in find(m, sources(4), search, 12)]

    stopping, fewer = results(), steps
    monkeypatch.setattr(
        "mt.decoding.beam.Beams._may_win", lambda self, scores: (scores != -torch.inf).any(dim=1)
    )
    assert results() == stopping
    assert fewer < steps - fewer


@pytest.mark.parametrize("search", [Search(), Search(beam_size=4, n_best=3)], ids=["1", "4"])
def test_native_and_torch_layers_find_the_same(search: Search) -> None:
    """So a cache gives what no cache gives: torch's layers have none."""
    native = random_model("native", 5)
    backed = random_model("torch", 6)
    assert isinstance(native, Transformer)
    assert isinstance(backed, TorchTransformer)
    with torch.no_grad():
        copy_weights(native, backed)
        backed.projection.load_state_dict(native.projection.state_dict())
    framed = sources(5)
    pairs = zip(find(native, framed, search), find(backed, framed, search), strict=True)
    for mine, theirs in pairs:
        assert [h.ids for h in mine] == [h.ids for h in theirs]
        for a, b in zip(mine, theirs, strict=True):
            assert a.score == pytest.approx(b.score, abs=1e-4)


@pytest.mark.parametrize("width", [2, 5])
def test_the_n_best_are_sorted_distinct_and_what_the_model_says_they_are(width: int) -> None:
    model = random_model("native", 1)
    search = Search(beam_size=width, n_best=width, length_normalization="none")
    framed = sources(1)
    for source, found in zip(framed, find(model, framed, search, 15), strict=True):
        assert len(found) == width
        assert len({tuple(h.ids) for h in found}) == width
        ended = [h.score for h in found if not h.cut]
        assert ended == sorted(ended, reverse=True)
        assert [h.cut for h in found] == sorted(h.cut for h in found)
        for hypothesis in found:
            tokens = hypothesis.ids + ([] if hypothesis.cut else [EOS_ID])
            src = torch.as_tensor(source)
            said = [
                float(next_scores(model, src, hypothesis.ids[:i])[token])
                for i, token in enumerate(tokens)
            ]
            assert hypothesis.token_log_probabilities == pytest.approx(said, abs=1e-4)


def test_alignments_of_a_beam_are_those_of_its_words_read_again() -> None:
    model = random_model("native", 2)
    framed = sources(2)
    search = Search(beam_size=4, n_best=4, align=True)
    for source, found in zip(framed, find(model, framed, search, 10), strict=True):
        src = torch.as_tensor(source)[None]
        for hypothesis in found:
            state = model.start(model.encode(src, None), None, watch=True)
            model.advance(torch.tensor([[SOS_ID, *hypothesis.ids[:-1]]]), state)
            weights = state.attention[0].mean(dim=(0, 1))[:, 1:-1]  # (T, S): SOS and EOS aside
            assert hypothesis.alignment == (weights.argmax(-1) + 1).tolist()


def test_an_output_is_never_empty_and_never_padding() -> None:
    model = random_model("native", 0)
    with torch.no_grad():
        model.projection.bias[[EOS_ID, PAD_ID, SOS_ID]] = 100.0
    for search in (Search(), Search(beam_size=4), Search(sample=True)):
        ((hypothesis,),) = find(model, [frame([5])], search, 9)
        assert len(hypothesis.ids) == 1
        assert hypothesis.ids[0] not in (PAD_ID, SOS_ID, EOS_ID)


SEARCHES = {
    "greedy": Search(),
    "beam": Search(beam_size=4, n_best=4),
    "sample": Search(sample=True),
}


@pytest.fixture(params=SEARCHES)
def plain(request: pytest.FixtureRequest) -> Search:
    return SEARCHES[request.param]


def all_ids(search: Search, prefix: Sequence[int] = (), limit: int = 12) -> list[list[int]]:
    return [
        hypothesis.ids
        for seed in range(3)
        for found in find(random_model("native", seed), sources(seed), search, limit, prefix)
        for hypothesis in found
    ]


def test_lengths_keep_between_the_least_and_the_most(plain: Search) -> None:
    assert min(map(len, all_ids(plain))) < 5
    assert min(map(len, all_ids(replace(plain, min_length=5)))) == 5
    assert max(map(len, all_ids(plain, limit=4))) == 4


def repeats(ids: list[int], n: int) -> bool:
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return len(set(grams)) < len(grams)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_n_gram_comes_twice(plain: Search, n: int) -> None:
    assert any(repeats(ids, n) for ids in all_ids(plain))
    assert not any(repeats(ids, n) for ids in all_ids(replace(plain, no_repeat_ngram=n), limit=30))


def test_what_is_banned_is_not_said_unless_it_is_in_the_prefix(plain: Search) -> None:
    banned = (4, 6)
    assert set(banned) <= set(itertools.chain(*all_ids(plain)))
    search = replace(plain, banned=banned)
    assert not set(banned) & set(itertools.chain(*all_ids(search)))
    for ids in all_ids(search, prefix=(6, 5)):
        assert ids[:2] == [6, 5]
        assert not set(banned) & set(ids[2:])


def test_a_prefix_comes_first_and_what_follows_is_what_would(plain: Search) -> None:
    if plain.sample:
        assert all(ids[:2] == [6, 4] for ids in all_ids(plain, prefix=(6, 4)))
        return
    for seed, width in itertools.product(range(3), (1, 3)):
        model, framed = random_model("native", seed), sources(seed)
        free = find(model, framed, replace(plain, beam_size=width, n_best=1))
        for source, (own,) in zip(framed, free, strict=True):
            ((again,),) = find(
                model, [source], Search(beam_size=width), prefix=own.ids[: len(own.ids) // 2]
            )
            assert again.score >= own.score - 1e-4
            if width == 1:
                assert again.ids == own.ids
                assert again.log_probability == pytest.approx(own.log_probability, abs=1e-4)


def test_prefixes_of_several_lengths_in_a_batch_are_each_their_own() -> None:
    model, framed = random_model("native", 1), sources(1)
    prefixes = [[4, 5, 6][: i % 4] for i in range(len(framed))]
    search = Search(beam_size=3, n_best=2)
    together = engine(model).search(framed, [9] * len(framed), prefixes, search)
    for source, prefix, found in zip(framed, prefixes, together, strict=True):
        (alone,) = find(model, [source], search, 9, prefix)
        assert [h.ids for h in found] == [h.ids for h in alone]
        assert all(h.ids[: len(prefix)] == prefix for h in found)


def test_a_repetition_penalty_makes_what_was_said_rarer(plain: Search) -> None:
    def distinct(ids: list[list[int]]) -> float:
        return sum(len(set(words)) for words in ids) / sum(map(len, ids))

    assert (
        distinct(all_ids(replace(plain, repetition_penalty=5.0))) > distinct(all_ids(plain)) + 0.1
    )


def test_distinct_first_words_are_the_likeliest_and_each_goes_on_as_well_as_it_can() -> None:
    for seed in range(3):
        model, framed = random_model("native", seed), sources(seed)
        search = Search(beam_size=2, n_best=4, distinct_first=True)
        for source, found in zip(framed, find(model, framed, search), strict=True):
            scores = next_scores(model, torch.as_tensor(source), [])
            assert {h.ids[0] for h in found} == set(scores.topk(4).indices.tolist())
            assert [(h.cut, -h.score) for h in found] == sorted((h.cut, -h.score) for h in found)
            for hypothesis in found:
                ((best,),) = find(model, [source], Search(beam_size=2), prefix=hypothesis.ids[:1])
                assert best.ids == hypothesis.ids
