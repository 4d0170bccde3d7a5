"""The CTranslate2 engine: each thing that can be asked of a search, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mt.data.ragged import Ids
from mt.decoding.ctranslate2_engine import CTranslate2Engine
from mt.decoding.engine import Hypothesis, Search
from mt.errors import UserError
from mt.export.export import export
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, Tokenizer
from tests.random_models import random_model, sources

SHAPE = "phrasebook"  # of the random models one that ends some of its sentences
LENGTHS = (12, 9, 6, 12)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    return export(random_model(tmp_path_factory.mktemp("models") / "model", SHAPE), "ctranslate2")


@pytest.fixture(scope="module")
def tokenizers(exported: ModelFolder) -> tuple[Tokenizer, Tokenizer]:
    return exported.tokenizers(exported.read_config())


@pytest.fixture(scope="module")
def engine(exported: ModelFolder, tokenizers: tuple[Tokenizer, Tokenizer]) -> CTranslate2Engine:
    return CTranslate2Engine(exported, *tokenizers, "cpu")


@pytest.fixture(scope="module")
def framed(tokenizers: tuple[Tokenizer, Tokenizer]) -> list[Ids]:
    return sources(tokenizers[0])


def found(
    engine: CTranslate2Engine, framed: list[Ids], search: Search, **others: object
) -> list[list[Hypothesis]]:
    settings = {"max_lengths": LENGTHS, "prefixes": [()] * len(framed), **others}
    return engine.search(framed, search=search, **settings)  # type: ignore[arg-type]


def ids(hypotheses: list[list[Hypothesis]]) -> list[list[list[int]]]:
    return [[hypothesis.ids for hypothesis in some] for some in hypotheses]


def test_a_sentence_is_translated_alike_in_any_batch(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    for search in (Search(), Search(beam_size=3)):
        together = found(engine, framed, search)
        for i, source in enumerate(framed):
            (alone,) = found(engine, [source], search, max_lengths=LENGTHS[i : i + 1])
            assert ids([alone]) == ids([together[i]])


def test_beams_find_likelier_translations_and_rank_them(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    search = Search(beam_size=5, n_best=3, length_normalization="none")
    greedy = found(engine, framed, Search(length_normalization="none"))
    for (single,), several in zip(greedy, found(engine, framed, search), strict=True):
        assert len(several) == 3
        scores = [(not hypothesis.cut, hypothesis.score) for hypothesis in several]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(hypothesis.ids) for hypothesis in several}) == 3
        assert several[0].score >= single.score - 1e-4


def test_scores_are_the_log_probability_by_the_length(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    for alpha in (0.0, 0.6, 1.0):
        search = Search(beam_size=2, length_penalty=alpha, length_normalization="length")
        for (best,) in found(engine, framed, search):
            tokens = len(best.ids) + (not best.cut)
            assert len(best.token_log_probabilities) == tokens
            assert sum(best.token_log_probabilities) == pytest.approx(best.log_probability)
            assert best.score == pytest.approx(best.log_probability / tokens**alpha)


def test_without_scores_the_translations_are_the_same(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    search = Search(beam_size=2)
    quick = found(engine, framed, Search(beam_size=2, scored=False))
    assert ids(quick) == ids(found(engine, framed, search))
    assert all(some[0].token_log_probabilities == [] for some in quick)
    assert all(some[0].score < 0 for some in quick)


@pytest.mark.parametrize("search", [Search(), Search(beam_size=3)], ids=["greedy", "beams"])
def test_the_longest_length_is_held_by_each_sentence(
    engine: CTranslate2Engine, framed: list[Ids], search: Search
) -> None:
    banned = Search(**{**vars(search), "banned": (EOS_ID,)})  # so that nothing ends by itself
    for (best,), length in zip(found(engine, framed, banned), LENGTHS, strict=True):
        assert len(best.ids) == length
        assert best.cut
    assert any(not best.cut for (best,) in found(engine, framed, search))


def test_a_translation_begins_with_its_prefix(engine: CTranslate2Engine, framed: list[Ids]) -> None:
    prefixes = [[7, 8, 9], [], [5] * 6, [0]]
    for beams in (1, 3):
        some = found(engine, framed, Search(beam_size=beams, align=True), prefixes=prefixes)
        for (best,), prefix, length in zip(some, prefixes, LENGTHS, strict=True):
            assert best.ids[: len(prefix)] == prefix
            assert len(best.alignment) == len(best.ids) <= length
            assert sum(best.token_log_probabilities) == pytest.approx(best.log_probability)


def test_the_shortest_length(engine: CTranslate2Engine, framed: list[Ids]) -> None:
    assert min(len(best.ids) for (best,) in found(engine, framed, Search())) < 5
    for (best,) in found(engine, framed, Search(min_length=5)):
        assert len(best.ids) >= 5


def test_no_n_gram_comes_twice(engine: CTranslate2Engine, framed: list[Ids]) -> None:
    def repeats(some: list[list[Hypothesis]]) -> bool:
        pairs = [list(zip(best.ids, best.ids[1:], strict=False)) for (best,) in some]
        return any(len(set(p)) < len(p) for p in pairs)

    search = Search(min_length=9)
    assert repeats(found(engine, framed, search, max_lengths=[9] * 4))
    search = Search(min_length=9, no_repeat_ngram=2)
    assert not repeats(found(engine, framed, search, max_lengths=[9] * 4))


def test_what_was_said_is_made_less_likely(engine: CTranslate2Engine, framed: list[Ids]) -> None:
    def kinds(penalty: float) -> int:
        search = Search(min_length=9, repetition_penalty=penalty)
        some = found(engine, framed, search, max_lengths=[9] * 4)
        return sum(len(set(best.ids)) for (best,) in some)

    assert kinds(3.0) > kinds(1.0)


def test_alternatives_begin_with_different_tokens(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    search = Search(beam_size=3, n_best=3, distinct_first=True, align=True)
    for some in found(engine, framed, search):
        assert len({hypothesis.ids[0] for hypothesis in some}) == 3
        assert all(len(h.alignment) == len(h.ids) for h in some)


def test_samples_differ_and_are_repeated_with_the_seed(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    def samples(seed: int) -> list[list[list[int]]]:
        search = Search(sample=True, n_best=3, temperature=3.0, seed=seed)
        return ids(found(engine, framed, search))

    first = samples(1)
    other = samples(2)
    assert first != other
    assert samples(1) == first
    assert any(len({tuple(hypothesis) for hypothesis in some}) > 1 for some in first)


def test_sampling_from_the_likeliest_alone_is_greedy_search(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    greedy = ids(found(engine, framed, Search()))
    for search in (
        Search(sample=True, top_k=1, seed=4),
        Search(sample=True, top_p=1e-4, seed=4),
        Search(sample=True, temperature=1e-3, seed=4),
    ):
        assert ids(found(engine, framed, search)) == greedy


def test_an_alignment_is_a_word_for_each_token(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    for (best,), source in zip(found(engine, framed, Search(align=True)), framed, strict=True):
        assert len(best.alignment) == len(best.ids)
        assert all(0 < place < len(source) - 1 for place in best.alignment)


def test_probabilities_are_probabilities(engine: CTranslate2Engine, framed: list[Ids]) -> None:
    for (best,) in found(engine, framed, Search()):
        assert all(0 < math.exp(gain) <= 1 for gain in best.token_log_probabilities)


def test_the_best_are_those_of_all_finished_by_our_own_normalisation(
    engine: CTranslate2Engine, framed: list[Ids]
) -> None:
    def asked(n_best: int, **how: object) -> list[list[Hypothesis]]:
        search = Search(beam_size=5, n_best=n_best, scored=False, **how)  # type: ignore[arg-type]
        return found(engine, framed, search)

    for normalization in ("gnmt", "length"):
        everything = asked(5, length_penalty=0.6, length_normalization=normalization)
        some = asked(2, length_penalty=0.6, length_normalization=normalization)
        assert ids(some) == [hypotheses[:2] for hypotheses in ids(everything)]
    longest = asked(1, length_penalty=9.0, length_normalization="gnmt")
    shortest = asked(1, length_penalty=0.0, length_normalization="gnmt")
    lengths = [sum(len(best.ids) for (best,) in each) for each in (longest, shortest)]
    assert lengths[0] > lengths[1]


@pytest.mark.parametrize(
    ("device", "message"), [("mps", "runs on cpu and cuda"), ("cuda:99", "CTranslate2 finds none")]
)
def test_a_device_that_it_has_not(
    exported: ModelFolder, tokenizers: tuple[Tokenizer, Tokenizer], device: str, message: str
) -> None:
    with pytest.raises(UserError, match=f"--device {device}: .*{message}"):
        CTranslate2Engine(exported, *tokenizers, device)


def test_a_damaged_model(tmp_path: Path, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    (tmp_path / "model.bin").write_bytes(b"nothing of use")
    with pytest.raises(UserError, match=r"CTranslate2 cannot use it .* `mt export"):
        CTranslate2Engine(ModelFolder(tmp_path), *tokenizers, "cpu")
