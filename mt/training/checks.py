"""What a run needs before it begins: a device, room for the model, folders, agreement of all."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

import torch

from mt import __version__
from mt.config import Config
from mt.config_file import differences
from mt.distributed import World
from mt.errors import UserError
from mt.model.build import bytes_to_train
from mt.model.device import memory_of
from mt.training.data import TrainingData


def own_device(device: torch.device, world: World) -> torch.device:
    """The GPU of this process where there are several: the one with its number on the machine.

    Raises UserError if there are fewer GPUs than processes.
    """
    if device.type == "cuda" and world.size > 1:
        if world.local_rank >= torch.cuda.device_count():
            raise UserError(
                f"more processes than GPUs on this machine, which has {torch.cuda.device_count()}: "
                "lower --nproc-per-node, or choose device: cpu"
            )
        device = torch.device("cuda", world.local_rank)
        torch.cuda.set_device(device)
    return device


def check_writable(folder: Path) -> None:
    """Raises UserError unless `folder` is there or can be made, and written in."""
    nearest = folder.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise UserError(f"cannot write {folder.absolute()}: {nearest} is a file, not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"cannot write {folder.absolute()}: no permission to write in {nearest}")


def check_budget(config: Config, data: TrainingData) -> None:
    """Raises UserError if the longest training pair is more than a batch may hold."""
    budget, longest = config.training.batch_tokens, int(data.train.lengths.max())
    if budget is not None and longest > budget:
        raise UserError(
            f"training.batch_tokens ({budget}) is smaller than the longest training pair "
            f"({longest} tokens a side): raise it to {longest} or more, or lower data.max_length "
            f"({config.data.max_length}), which leaves longer pairs out"
        )


def check_memory(config: Config, data: TrainingData, device: torch.device) -> None:
    """Raises UserError if the model alone is more than the memory of the device."""
    each = bytes_to_train(config.model, data.src.vocab_size, data.tgt.vocab_size) // 4
    saved = each * (3 if config.training.ema is None else 4)  # weights, two moments, the average
    needed = each + saved  # with the gradients
    if device.type == "cpu":
        needed += saved  # the copy that is written
    there = memory_of(device)
    if there is not None and needed > there:
        raise UserError(
            f"this model is too large for {device}: its weights, gradients and moments, and on a "
            f"CPU the copy that is saved, need {needed / 2**30:,.1f} GiB, and there are "
            f"{there / 2**30:,.1f}; lower model.d_model ({config.model.d_model}), "
            f"d_ff ({config.model.d_ff}) or num_layers, or "
            f"tokenizer.vocab_size ({config.tokenizer.vocab_size})"
        )


def check_average(config: Config, data: TrainingData) -> None:
    """Raises UserError if an average of checkpoints is asked for that could not be validated."""
    if config.training.average is not None and not len(data.valid):
        raise UserError(
            "training.average needs validation pairs, to tell whether the average is better: "
            f"data.valid_size is {config.data.valid_size:g}"
        )


def check_same_everywhere(world: World, config: Config, data: TrainingData) -> None:
    """Raises UserError if processes have read different configs, data or versions of `mt`."""
    train = data.corpus.splits["train"]
    some = train[:: max(1, len(train) // 1000)]["src"]
    order = hashlib.sha256("\n".join(some).encode("utf-8", "surrogatepass"))
    order.update(data.train.lengths.tobytes())
    splits = data.corpus.report.as_dict()["splits"]
    texts = {name: f"{s['pairs']:,} pairs, {s['hash']}" for name, s in splits.items()}
    own = {"mt": __version__, "order of the pairs": order.hexdigest()[:16], **texts}
    everywhere = world.gather([(platform.node(), config, own)])
    host, first_config, first = everywhere[0]
    for rank, (other_host, other_config, other) in enumerate(everywhere):
        changed = differences(first_config, other_config)
        changed = [line for line in changed if not line.startswith("device:")]
        changed += [
            f"{key}: {first[key]} -> {other[key]}" for key in first if first[key] != other[key]
        ]
        if changed:
            raise UserError(
                f"process {rank} on {other_host} does not train what process 0 on {host} does "
                "(there -> here):\n  " + "\n  ".join(changed) + "\n  Give every machine the same "
                "config, the same corpus and the same version of mt"
            )
