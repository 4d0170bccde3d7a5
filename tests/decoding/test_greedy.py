"""Greedy search against the plain definition of it: one sentence, whole prefix, no cache."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.data.batch import pad
from mt.data.frame import frame
from mt.data.masks import padding_mask
from mt.decoding.engine import Hypothesis
from mt.decoding.greedy import greedy
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID

VOCABULARY = 12  # small, so that EOS comes up
endings: set[bool] = set()  # seen in the tests below: cut, and not cut


def random_model(implementation: str, seed: int) -> TranslationModel:
    config = ModelConfig(
        implementation=implementation, num_layers=2, d_model=16, num_heads=4, d_ff=32,
        dropout=0.1, attention_bias=True,
    )  # fmt: skip
    model = build_model(config, VOCABULARY, VOCABULARY, seed=seed)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        model.projection.bias[EOS_ID] += 1.0
    return model.eval()


@torch.inference_mode()
def by_definition(model: TranslationModel, src: Tensor, max_length: int) -> Hypothesis:
    ids: list[int] = []
    total = 0.0
    while True:
        prefix = torch.tensor([[SOS_ID, *ids]])
        scores = model(src[None], None, prefix)[0, -1].log_softmax(-1)
        scores[[PAD_ID, SOS_ID]] = -torch.inf
        if not ids:
            scores[EOS_ID] = -torch.inf
        token = int(scores.argmax())
        if token == EOS_ID:
            return Hypothesis(ids, total + float(scores[token]), cut=False)
        if len(ids) == max_length:
            return Hypothesis(ids, total, cut=True)
        ids.append(token)
        total += float(scores[token])


@pytest.mark.parametrize("implementation", ["native", "torch"])
@pytest.mark.parametrize("seed", range(5))
def test_a_batch_gives_what_each_sentence_gives_by_definition(
    implementation: str, seed: int
) -> None:
    model = random_model(implementation, seed)
    generator = torch.Generator().manual_seed(seed)
    sources = [
        torch.randint(4, VOCABULARY, (length,), generator=generator).tolist()
        for length in (1, 9, 4, 4, 7, 2, 12, 3)
    ]
    limits = [int(n) for n in torch.randint(1, 15, (len(sources),), generator=generator)]
    src = pad([frame(ids) for ids in sources])
    found = greedy(model, src, padding_mask(src, PAD_ID), torch.tensor(limits))
    for ids, limit, hypothesis in zip(sources, limits, found, strict=True):
        alone = by_definition(model, torch.tensor(frame(ids)).long(), limit)
        assert hypothesis.ids == alone.ids
        assert hypothesis.cut == alone.cut
        assert hypothesis.log_probability == pytest.approx(alone.log_probability, abs=1e-4)
    endings.update(hypothesis.cut for hypothesis in found)


def test_both_endings_came_up() -> None:
    assert endings == {True, False}


def test_an_output_is_never_empty_and_never_padding() -> None:
    model = random_model("native", 0)
    with torch.no_grad():
        model.projection.bias[[EOS_ID, PAD_ID, SOS_ID]] = 100.0
    (hypothesis,) = greedy(model, torch.tensor([[SOS_ID, 5, EOS_ID]]), None, torch.tensor([9]))
    assert len(hypothesis.ids) == 1
    assert hypothesis.ids[0] not in (PAD_ID, SOS_ID, EOS_ID)
