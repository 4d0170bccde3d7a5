"""What onnxruntime gives for an exported model is what torch gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from mt.data.batch import pad
from mt.decoding.engine import Search
from mt.decoding.onnx_engine import OnnxEngine
from mt.decoding.torch_engine import TorchEngine
from mt.export.export import export
from mt.export.onnx_graph import ALIGNED
from mt.export.parts import POSITIONS
from mt.text.tokenizer import PAD_ID, UNK_ID
from tests.random_models import SHAPES, random_model, sources

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_search_gives_the_same_hypotheses(tmp_path: Path, shape: str) -> None:
    folder = random_model(tmp_path / "model", shape)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    ours = TorchEngine.load(folder, config, src, tgt, CPU)
    theirs = OnnxEngine(export(folder, "onnx"), "cpu")
    search = Search(banned=(UNK_ID,), align=True)
    batch = sources(src), (12, 4, 1, 20), ((), (), (), ()), search
    for (mine,), (other,) in zip(ours.search(*batch), theirs.search(*batch), strict=True):
        assert other.ids == mine.ids
        assert other.cut == mine.cut
        assert other.alignment == mine.alignment
        assert other.log_probability == pytest.approx(mine.log_probability, abs=1e-3)
        assert sum(other.token_log_probabilities) == pytest.approx(other.log_probability)


@pytest.mark.parametrize("shape", SHAPES)
def test_several_tokens_at_once_after_others(tmp_path: Path, shape: str) -> None:
    """Three pieces of a target, the cache between them, against one pass of the model."""
    folder = random_model(tmp_path / "model", shape)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    model = TorchEngine.load(folder, config, src, tgt, CPU).model
    src_ids = pad(sources(src))
    generator = torch.Generator().manual_seed(0)
    tgt_ids = torch.randint(4, tgt.vocab_size, (len(src_ids), 6), generator=generator)
    with torch.inference_mode():
        expected = model(src_ids, src_ids == PAD_ID, tgt_ids).numpy()
    path = export(folder, "onnx").path
    encoder, decoder = (
        onnxruntime.InferenceSession(path / f"{n}.onnx") for n in ("encoder", "decoder")
    )
    fixed = {"src": src_ids.numpy().astype(np.int64)}
    fixed["cross"] = encoder.run(["cross"], fixed)[0]
    past = fixed["cross"][:, :, :, :, :0]
    logits = []
    for piece in np.split(tgt_ids.numpy(), [1, 4], axis=1):
        outputs = decoder.run(["logits", "present"], {**fixed, "tgt": piece, "past": past})
        logits.append(outputs[0])
        past = outputs[1]
    np.testing.assert_allclose(np.concatenate(logits, axis=1), expected, atol=2e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_files_are_sound_and_hold_every_weight_once(tmp_path: Path, shape: str) -> None:
    folder = random_model(tmp_path / "model", shape)
    path = export(folder, "onnx").path
    for name in ("encoder.onnx", "decoder.onnx"):
        onnx.checker.check_model(path / name, full_check=True)
        graph = onnx.load(path / name, load_external_data=False).graph
        assert all(np.prod(tensor.dims) <= 8 for tensor in graph.initializer if tensor.raw_data)
    config = folder.read_config()
    weights, _ = folder.weights(*folder.tokenizers(config))
    needed = 4 * (sum(w.numel() for w in weights.values()) + POSITIONS * config.model.d_model)
    assert 0 <= (path / "weights.bin").stat().st_size - needed < ALIGNED * len(weights) * 3


def test_the_readme_tells_the_inputs_and_outputs(tmp_path: Path) -> None:
    path = export(random_model(tmp_path / "model", "phrasebook"), "onnx").path
    told = (path / "README.txt").read_text("utf-8")
    for name in ("encoder.onnx", "decoder.onnx"):
        session = onnxruntime.InferenceSession(path / name)
        for value in (*session.get_inputs(), *session.get_outputs()):
            assert f"\n  {value.name} " in told
