"""Forced scores: the same as the search's own, as the loss's, and in any batch."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from mt.data.batch import collate
from mt.data.frame import frame
from mt.decoding.attention import attention_maps
from mt.decoding.ctranslate2_engine import CTranslate2Engine
from mt.decoding.engine import Search
from mt.decoding.scoring import Scored, score_pairs
from mt.decoding.torch_engine import TorchEngine
from mt.decoding.translator import Translator
from mt.export.export import export
from mt.model.loss import projected_cross_entropy
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS, SOS
from tests.conftest import toy_pairs
from tests.random_models import random_model

CPU = torch.device("cpu")
PAIRS = [*toy_pairs(30), ("", "il gatto"), ("the cat", ""), ("", ""), ("the " * 60, "il " * 60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    return random_model(tmp_path_factory.mktemp("models") / "model", "phrasebook")


@pytest.fixture(scope="module")
def translator(folder: ModelFolder) -> Translator:
    return translator_of(folder)


def translator_of(folder: ModelFolder) -> Translator:
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    return Translator(TorchEngine.load(folder, config, src, tgt, CPU), src, tgt, config)


def gains(scored: list[Scored]) -> list[float]:
    return [gain for one in scored for gain in one.token_log_probabilities]


def test_a_score_is_the_same_in_any_batch(translator: Translator) -> None:
    together = score_pairs(translator, PAIRS)
    for size in (1, 7):
        apart = score_pairs(translator, PAIRS[::-1], size)[::-1]
        assert gains(apart) == pytest.approx(gains(together), abs=1e-5)
        totals = [one.log_probability for one in apart]
        assert totals[:-1] == pytest.approx([s.log_probability for s in together[:-1]], abs=1e-5)


def test_a_score_is_the_loss_that_training_would_see(translator: Translator) -> None:
    engine = translator.engine
    assert isinstance(engine, TorchEngine)
    sources = [frame(translator.src.encode(s)) for s, _ in toy_pairs(30)]
    targets = [frame(translator.tgt.encode(t)) for _, t in toy_pairs(30)]
    batch = collate(sources, targets)
    with torch.no_grad():
        features = engine.model.features(batch.src, batch.src_padding, batch.tgt_in)
        real = features.flatten(0, 1)[batch.real]
        truth = batch.tgt_out.flatten()[batch.real]
        _, entropy = projected_cross_entropy(real, engine.model.projection, truth)
    scored = score_pairs(translator, toy_pairs(30))
    assert -sum(one.log_probability for one in scored) == pytest.approx(float(entropy), rel=1e-5)
    assert sum(len(one.tokens) for one in scored) == batch.tokens


@pytest.mark.parametrize("search", [Search(), Search(beam_size=4, n_best=4)])
def test_a_score_is_what_the_search_says_of_its_own(translator: Translator, search: Search) -> None:
    """By ids, so that nothing hangs on how they are cut again."""
    sources = [frame(translator.src.encode(s)) for s, _ in toy_pairs(12)]
    found = translator.engine.search(sources, [12] * 12, [[]] * 12, search)
    ended = 0
    for source, hypotheses in zip(sources, found, strict=True):
        for hypothesis in hypotheses:
            (own,) = translator.engine.score([source], [frame(hypothesis.ids)])
            if hypothesis.cut:
                own = own[:-1]
            ended += not hypothesis.cut
            assert own == pytest.approx(hypothesis.token_log_probabilities, abs=1e-4)
            assert sum(own) == pytest.approx(hypothesis.log_probability, abs=1e-4)
    assert ended > 3


def test_a_text_that_is_cut_as_it_was_said_has_the_score_of_its_translation(
    translator: Translator,
) -> None:
    sources = [s for s, _ in toy_pairs(30)]
    translations = [t for t in translator.translate(sources) if not t.cut]
    same = [
        t for t in translations if translator.tgt.encode(t.text) == t.alternatives[0].hypothesis.ids
    ]
    assert same
    scored = score_pairs(translator, [(t.source, t.text) for t in same])
    assert [one.log_probability for one in scored] == pytest.approx(
        [t.log_probability for t in same], abs=1e-4
    )


def test_what_is_told_of_a_pair(translator: Translator) -> None:
    one, blank, long, empty = score_pairs(
        translator, [("the cat", "il XYZ"), (" ", "\t"), ("the " * 60, "il"), ("the cat", "")]
    )
    assert (one.tokens, one.unknown) == (["il", "[UNK]", EOS], ["XYZ"])
    assert one.perplexity == pytest.approx(math.exp(-one.log_probability / 3))
    assert (blank.tokens, blank.log_probability, blank.perplexity) == ([], 0.0, 1.0)
    assert (long.source_cut, one.source_cut) == (True, False)
    assert empty.tokens == [EOS]
    (short,) = score_pairs(translator, [("the " * translator.source_limit, "il")])
    assert long.log_probability == pytest.approx(short.log_probability, abs=1e-6)
    assert score_pairs(translator, []) == []


def test_what_is_all_but_impossible_has_a_perplexity() -> None:
    assert 1e300 < Scored("", "", ["a"], [-1e6]).perplexity < math.inf


def test_ctranslate2_scores_as_torch_does(
    translator: Translator, folder: ModelFolder, tmp_path: Path
) -> None:
    exported = export(folder, "ctranslate2")
    config = exported.read_config()
    src, tgt = exported.tokenizers(config)
    other = Translator(CTranslate2Engine(exported, src, tgt, "cpu"), src, tgt, config)
    expected = score_pairs(translator, PAIRS)
    assert gains(score_pairs(other, PAIRS, 7)) == pytest.approx(gains(expected), abs=1e-3)


@pytest.mark.parametrize("shape", ["phrasebook", "torch_builtin", "post_norm_gelu"])
def test_attention_is_of_every_layer_and_head_and_points_where_the_search_looked(
    tmp_path: Path, shape: str
) -> None:
    made = translator_of(random_model(tmp_path / "model", shape))
    made.search = Search(align=True)
    translations = made.translate([s for s, _ in toy_pairs(5)] + ["the " * made.source_limit])
    for translation in translations:
        maps = attention_maps(made, translation)
        hypothesis = translation.alternatives[0].hypothesis
        layers, heads, tgt, src = maps.weights.shape
        assert (layers, heads) == (2, 4)
        assert (src, tgt) == (len(maps.src), len(maps.tgt))
        assert tgt == len(hypothesis.ids) + (not hypothesis.cut)
        assert (maps.src[0], maps.src[-1]) == (SOS, EOS)
        assert torch.from_numpy(maps.weights).sum(-1) == pytest.approx(1.0, abs=1e-5)
        looked = 1 + maps.mean[: len(hypothesis.ids), 1:-1].argmax(axis=1)
        assert looked.tolist() == hypothesis.alignment


def test_the_labels_are_what_was_written(translator: Translator) -> None:
    (translation,) = translator.translate(["the ZEBRA sleeps"])
    maps = attention_maps(translator, translation)
    assert maps.src == [SOS, "the", "ZEBRA", "sleeps", EOS]
    said = translator.tgt.pieces(translation.alternatives[0].hypothesis.ids)
    assert maps.tgt == said + ([] if translation.cut else [EOS])
