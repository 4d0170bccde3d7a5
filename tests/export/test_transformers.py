"""transformers itself reads an exported folder and computes what our model does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers.models.marian.modeling_marian import MarianMTModel

from mt.data.batch import pad
from mt.decoding.engine import Search
from mt.decoding.torch_engine import TorchEngine
from mt.errors import UserError
from mt.export.export import export
from mt.text.tokenizer import PAD_ID
from tests.random_models import SHAPES, config_of, random_model, sources

POST_NORM = [shape for shape in SHAPES if config_of(shape).model.norm == "post"]


@pytest.mark.parametrize("shape", POST_NORM)
def test_logits_and_greedy_search_are_the_same(tmp_path: Path, shape: str) -> None:
    folder = random_model(tmp_path / "model", shape)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    engine = TorchEngine.load(folder, config, src, tgt, torch.device("cpu"))
    theirs, report = MarianMTModel.from_pretrained(
        export(folder, "transformers").path, output_loading_info=True
    )
    assert not any(report.values()), report  # no weight missing, none left over
    framed = sources(src)
    src_ids = pad(framed)
    padding = src_ids == PAD_ID
    generator = torch.Generator().manual_seed(0)
    tgt_in = torch.randint(4, tgt.vocab_size, (len(src_ids), 6), generator=generator)
    mask = (~padding).long()
    with torch.inference_mode():
        expected = engine.model(src_ids, padding, tgt_in)
        found = theirs(input_ids=src_ids, attention_mask=mask, decoder_input_ids=tgt_in).logits
    np.testing.assert_allclose(found, expected, atol=2e-4)

    generated = theirs.generate(src_ids, attention_mask=mask, max_new_tokens=9).tolist()
    greedy = engine.search(framed, [9] * 4, [()] * 4, Search())
    for row, (hypothesis,) in zip(generated, greedy, strict=True):
        assert [i for i in row if i > 3] == [i for i in hypothesis.ids if i > 3]


def test_at_least_two_shapes_are_checked() -> None:
    assert len(POST_NORM) >= 3


def test_pre_norm_is_refused(tmp_path: Path) -> None:
    folder = random_model(tmp_path / "model", "phrasebook")
    with pytest.raises(UserError, match=r"--format transformers: the model has model\.norm pre"):
        export(folder, "transformers")
    assert not (folder.path / "transformers").exists()
