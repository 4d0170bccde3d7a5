"""The validation loss: cross-entropy of a split's references under the model, nothing decoded."""

from __future__ import annotations

import torch

from mt.data.dataset import BilingualDataset
from mt.data.plan import BatchSize, plan_batches
from mt.distributed import ALONE, World
from mt.model.interface import TranslationModel
from mt.model.loss import projected_cross_entropy
from mt.progress import track

PLACES = 4096  # of a batch, padding included


@torch.inference_mode()
def validation_loss(
    model: TranslationModel,
    dataset: BilingualDataset,
    device: torch.device,
    world: World = ALONE,
) -> float:
    """Nats per real target token, EOS included, without label smoothing or dropout.

    The batches are shared out over the processes of `world`; all of them get the result.

    The model must be in evaluation mode, and the dataset not be empty.
    """
    assert not model.training
    plan = plan_batches(dataset.lengths, BatchSize(tokens=PLACES), seed=0, epoch=0)
    total, tokens = 0.0, 0
    for i in track(world.share(range(len(plan))), "validation loss", unit=" batches"):
        batch = dataset.batch(plan[i]).to(device)
        features = model.features(batch.src, batch.src_padding, batch.tgt_in)
        real = features.flatten(0, 1).index_select(0, batch.real)  # (N, D)
        targets = batch.tgt_out.flatten().index_select(0, batch.real)  # (N,)
        _, entropy = projected_cross_entropy(real, model.projection, targets)
        total += float(entropy)
        tokens += batch.tokens
    total, count = world.sum([total, float(tokens)])
    return total / count
