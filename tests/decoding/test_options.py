"""The largest scores by blocks are the largest scores."""

from __future__ import annotations

import pytest
import torch

from mt.decoding.options import largest


@pytest.mark.parametrize("vocabulary", [12, 640, 1000, 8001])
@pytest.mark.parametrize("count", [1, 2, 6, 11])
def test_the_largest_are_what_topk_says(vocabulary: int, count: int) -> None:
    torch.manual_seed(vocabulary + count)
    scores = torch.randn(9, vocabulary)
    scores[:4, 64:128] += 5.0  # in one row all of them in one block
    scores[4:6, -3:] += 5.0  # and among what is left after the last block
    scores[6, :] = -torch.inf
    gains, tokens = largest(scores, count)
    expected = scores.topk(count)
    assert torch.equal(gains, expected.values)
    assert torch.equal(tokens[:6], expected.indices[:6])
    assert torch.equal(scores.gather(1, tokens), gains)
    assert all(len(set(row)) == count for row in tokens.tolist())
