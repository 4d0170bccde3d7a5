"""What TensorBoard has besides curves: charts of several of them, and the lengths of pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard.summary import custom_scalars, histogram

from mt.data.ragged import Lengths

# Chart to the curves in it, on the page "Custom Scalars".
CHARTS = {
    "loss, nats a token": ("train/loss", "valid/loss"),
    "perplexity": ("train/ppl", "valid/ppl"),
    "scores of validation": ("valid/bleu", "valid/chrf"),
    "learning rate": ("train/lr", "train/muon_lr"),
    "where the time goes, shares": ("time/batches", "time/validating", "time/saving"),
}
MOST_PAIRS = 10**6  # whose lengths are counted, evenly spread over a larger split


def layout() -> Summary:
    """The charts, as the page of the plugin reads them."""
    charts = {title: ("Multiline", list(tags)) for title, tags in CHARTS.items()}
    summary: Summary = custom_scalars({"training": charts})  # type: ignore[no-untyped-call]
    return summary


def histograms(lengths: Lengths) -> Iterator[Summary]:
    """How many training pairs have how many tokens a side, of lengths (N, 2)."""
    every = -(-len(lengths) // MOST_PAIRS)
    for side, column in zip(("source", "target"), lengths[::every].T, strict=True):
        edges = np.arange(column.min(), int(column.max()) + 2) - 0.5
        yield histogram(f"data/{side}_tokens", column, edges)  # type: ignore[no-untyped-call]
