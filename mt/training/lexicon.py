"""First embeddings out of the training text: tokens that translate each other begin alike.

A small corpus is soon read, and what a model learns first of it, and longest, is which word stands
for which. Counting tells that in seconds, so the embeddings can begin with it (docs/recipe.md).
Letters: V source vocabulary, W target vocabulary, D model, P pairs of tokens of one sentence pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mt.data.dataset import BilingualDataset
from mt.data.frame import FRAME
from mt.model.interface import TranslationModel

MOST_PAIRS = 10**7  # P, so that memory has a bound; sentences evenly spread over a larger corpus
ROUNDS = 5  # of expectation and maximisation
UNSEEN = 1.0  # times that each token is taken to have been seen beside any other, by chance
POWER_ITERATIONS = 4  # of the randomised decomposition (Halko et al. 2011)

Array = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lexicon:
    """How much likelier than by chance a target token is beside a source token, where it is.

    `gain` (N,) is log p(y | x) - log p(y), over 0, for the source tokens x = `src` (N,) and the
    target tokens y = `tgt` (N,); of all others it is taken to be 0.
    """

    src: Array
    tgt: Array
    gain: Floats
    shape: tuple[int, int]  # V, W


def start_from_lexicon(model: TranslationModel, train: BilingualDataset, seed: int) -> None:
    """Sets embeddings and output layer: rows in direction by the lexicon of `train`, of length 1.

    The product of a source row and a target row is then in proportion to their gain. A token that
    the lexicon does not know keeps its direction. Where one embedding is for both sides, a row is
    the mean of both, by how often the token is on each side.
    """
    source, target = model.src_embedding.weight, model.tgt_embedding.weight
    lexicon, counts = learn_lexicon(train, (len(source), len(target)))
    of_source, of_target = map(_unit, factors(lexicon, source.size(1), seed))
    if source is target:
        on_source, on_target = (torch.from_numpy(count).float()[:, None] for count in counts)
        mean = _unit(on_source * of_source + on_target * of_target)
        matrices = [(target, mean)]
    else:
        matrices = [(source, of_source), (target, of_target)]
    if model.projection.weight is not target:
        matrices.append((model.projection.weight, matrices[-1][1]))
    with torch.no_grad():
        for matrix, rows in matrices:
            matrix.copy_(torch.where(rows.any(dim=1, keepdim=True), rows, matrix))


def learn_lexicon(
    train: BilingualDataset, shape: tuple[int, int]
) -> tuple[Lexicon, tuple[Floats, Floats]]:
    """By model 1 of Brown et al. 1993, each token counted once a sentence; and those counts.

    Counts are (V,) and (W,), each `UNSEEN` / 2 too large, so that none is 0.
    """
    sources, targets = _sentences(train)
    src_counts, tgt_counts = (
        (np.bincount(np.concatenate(side), minlength=size) + UNSEEN / 2).astype(np.float64)
        for side, size in zip((sources, targets), shape, strict=True)
    )
    chance = tgt_counts / tgt_counts.sum()  # (W,) p(y)
    src, tgt, place = _pairs(sources, targets)
    known, which = np.unique(src * shape[1] + tgt, return_inverse=True)
    x, y = np.divmod(known, shape[1])
    likely = np.ones(len(known))  # p(y | x), but for a factor of each x at first
    for _ in range(ROUNDS):
        share = likely[which]
        share /= np.bincount(place, share)[place]  # of y that is due to this x of its sentence
        seen = np.bincount(which, share, minlength=len(known))
        total = np.bincount(x, seen, minlength=shape[0])
        likely = seen / total[x]
    gain = np.log((seen / chance[y] + UNSEEN) / (total[x] + UNSEEN))
    better = gain > 0
    return Lexicon(x[better], y[better], gain[better], shape), (src_counts, tgt_counts)


def factors(lexicon: Lexicon, width: int, seed: int) -> tuple[Tensor, Tensor]:
    """(V, D) and (W, D) whose product is as near to the gains as rank D allows."""
    gains = torch.sparse_coo_tensor(
        torch.from_numpy(np.stack((lexicon.src, lexicon.tgt))),
        torch.from_numpy(lexicon.gain).float(),
        lexicon.shape,
        is_coalesced=True,
        check_invariants=True,
    )
    rank = min(width, *lexicon.shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        left, size, right = torch.svd_lowrank(gains, q=rank, niter=POWER_ITERATIONS)
    return tuple(  # type: ignore[return-value]
        nn.functional.pad(side * size.sqrt(), (0, width - rank)) for side in (left, right)
    )


def _sentences(train: BilingualDataset) -> tuple[list[Array], list[Array]]:
    """The different tokens of each source and of each target, EOS on both sides, no SOS."""
    lengths = train.lengths.astype(np.int64)
    every = max(1, math.ceil(float((lengths[:, 0] * lengths[:, 1]).sum()) / MOST_PAIRS))
    sources, targets = [], []
    for index in range(0, len(train), every):
        pair = train[index]
        sources.append(np.unique(np.asarray(pair.src[FRAME - 1 :], np.int64)))
        targets.append(np.unique(np.asarray(pair.tgt_out, np.int64)))
    return sources, targets


def _pairs(sources: list[Array], targets: list[Array]) -> tuple[Array, Array, Array]:
    """(P,) source tokens, target tokens, and the number of that token among all `targets`."""
    wide = np.array([len(side) for side in sources])
    tall = np.array([len(side) for side in targets])
    src = np.repeat(np.concatenate(sources), np.repeat(tall, wide))
    first = np.cumsum(tall) - tall  # of each sentence, in all targets
    size = np.repeat(tall, wide)  # of the run that belongs to each source token
    place = np.arange(len(src)) - np.repeat(np.cumsum(size) - size, size)
    place += np.repeat(np.repeat(first, wide), size)
    return src, np.concatenate(targets)[place], place


def _unit(rows: Tensor) -> Tensor:
    """(V, D) rows of length 1; what is next to nothing becomes 0."""
    length = rows.norm(dim=1, keepdim=True)
    return torch.where(length > 1e-3, rows / length.clamp(min=1e-3), 0.0)
