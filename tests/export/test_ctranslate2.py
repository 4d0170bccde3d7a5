"""What CTranslate2 gives for an exported model is what torch gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mt.decoding.ctranslate2_engine import CTranslate2Engine
from mt.decoding.engine import Search
from mt.decoding.torch_engine import TorchEngine
from mt.errors import UserError
from mt.export.export import export
from mt.export.parts import parts_of
from mt.export.to_ctranslate2 import write_ctranslate2
from mt.model.build import build_model
from mt.text.tokenizer import UNK_ID
from tests.random_models import SHAPES, config_of, random_model, sources

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("banned", [(), (UNK_ID, 5, 6, 7)], ids=["all tokens", "some banned"])
def test_greedy_search_gives_the_same_ids_and_probabilities(
    tmp_path: Path, shape: str, banned: tuple[int, ...]
) -> None:
    folder = random_model(tmp_path / "model", shape)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    ours = TorchEngine.load(folder, config, src, tgt, CPU)
    theirs = CTranslate2Engine(export(folder, "ctranslate2"), src, tgt, "cpu")
    framed = sources(src)
    lengths, prefixes = (12, 4, 1, 20), ((), (), (), ())
    for (mine,), (other,) in zip(
        ours.search(framed, lengths, prefixes, Search(banned=banned)),
        theirs.search(framed, lengths, prefixes, Search(banned=banned)),
        strict=True,
    ):
        assert other.ids == mine.ids
        assert other.cut == mine.cut
        assert other.log_probability == pytest.approx(mine.log_probability, abs=1e-3)
        assert sum(other.token_log_probabilities) == pytest.approx(other.log_probability)


@pytest.mark.parametrize(
    "search",
    [
        Search(beam_size=5, length_normalization="none"),
        Search(beam_size=5, n_best=3, length_normalization="length", length_penalty=1.0),
        Search(beam_size=5, length_penalty=0.6),
        Search(beam_size=4, no_repeat_ngram=2, min_length=4, banned=(5, 9)),
        Search(beam_size=4, repetition_penalty=1.5),
    ],
    ids=["none", "length", "gnmt", "forbidden", "penalised"],
)
def test_beams_find_the_same_hypotheses_and_scores(tmp_path: Path, search: Search) -> None:
    folder = random_model(tmp_path / "model", "phrasebook")
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    ours = TorchEngine.load(folder, config, src, tgt, CPU)
    theirs = CTranslate2Engine(export(folder, "ctranslate2"), src, tgt, "cpu")
    framed = sources(src)
    room, prefixes = [20] * len(framed), [()] * len(framed)
    ended = 0
    for mine, others in zip(
        ours.search(framed, room, prefixes, search),
        theirs.search(framed, room, prefixes, search),
        strict=True,
    ):
        whole = [h for h in mine if not h.cut]  # what has no room is chosen otherwise
        for a, b in zip(whole, others, strict=False):
            assert b.ids == a.ids
            assert b.log_probability == pytest.approx(a.log_probability, abs=1e-3)
            assert b.score == pytest.approx(a.score, abs=1e-3)
        ended += len(whole)
    assert ended >= len(framed)


@pytest.mark.parametrize("quantization", ["int8", "float16", "int16"])
def test_coarser_numbers_take_less_room(tmp_path: Path, quantization: str) -> None:
    folder = random_model(tmp_path / "model", "phrasebook")
    fine = export(folder, "ctranslate2", tmp_path / "fine").path / "model.bin"
    coarse = export(folder, "ctranslate2", tmp_path / "coarse", quantization).path / "model.bin"
    assert coarse.stat().st_size < fine.stat().st_size
    src, tgt = folder.tokenizers(folder.read_config())
    engine = CTranslate2Engine(export(folder, "ctranslate2", tmp_path / "coarse"), src, tgt, "cpu")
    assert engine.search(sources(src)[:1], (8,), ((),), Search())[0][0].ids


def test_shared_matrices_are_written_once(tmp_path: Path) -> None:
    folder = random_model(tmp_path / "model", "all tied")
    written = (export(folder, "ctranslate2").path / "model.bin").read_bytes()
    weights, _ = folder.weights(*folder.tokenizers(folder.read_config()))
    (shared,) = [tensor for tensor in weights.values() if len(tensor) == 300 and tensor.dim() == 2]
    assert written.count(shared.numpy().tobytes()) == 1


def test_ids_that_share_a_token_are_refused(tmp_path: Path) -> None:
    config = config_of("phrasebook")
    folder = random_model(tmp_path / "model", "phrasebook")
    src, tgt = folder.tokenizers(config)
    model = build_model(config.model, src.vocab_size, tgt.vocab_size)
    src._vocabulary[5] = src._vocabulary[6]
    with pytest.raises(UserError, match=r"the en vocabulary has \d+ ids and \d+ different tokens"):
        write_ctranslate2(parts_of(model, config), src, tgt, tmp_path, "float32")
