"""What the onnxruntime engine refuses; that it translates as torch does is in tests/export."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.decoding.engine import Search
from mt.decoding.onnx_engine import OnnxEngine
from mt.errors import UserError
from mt.export.export import export
from mt.storage.model_folder import ModelFolder
from tests.random_models import random_model, sources


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    folder = random_model(tmp_path_factory.mktemp("models") / "model", "phrasebook")
    return export(folder, "onnx")


@pytest.mark.parametrize(
    ("search", "prefix", "named"),
    [
        (Search(beam_size=4, n_best=2), (), "beam size, n best"),
        (Search(sample=True), (), "sample"),
        (Search(min_length=3), (), "min length"),
        (Search(no_repeat_ngram=2, repetition_penalty=2.0), (), "no repeat ngram, repetition"),
        (Search(), (5,), "prefix"),
    ],
)
def test_it_is_for_greedy_search_alone(
    exported: ModelFolder, search: Search, prefix: tuple[int, ...], named: str
) -> None:
    src, _ = exported.tokenizers(exported.read_config())
    framed = sources(src)[:1]
    with pytest.raises(
        UserError, match=f"--engine onnx is for greedy search alone, without {named}"
    ):
        OnnxEngine(exported, "cpu").search(framed, (5,), (prefix,), search)


def test_a_device_that_it_has_not(exported: ModelFolder) -> None:
    with pytest.raises(UserError, match="--device cuda: --engine onnx runs on cpu"):
        OnnxEngine(exported, "cuda")


@pytest.mark.parametrize("content", [None, b"nothing of use"])
def test_a_damaged_model(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "encoder.onnx").write_bytes(content)
    with pytest.raises(UserError, match=r"encoder\.onnx: onnxruntime cannot use it"):
        OnnxEngine(ModelFolder(tmp_path), "cpu")
