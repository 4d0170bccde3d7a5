"""What a recipe is chosen by: the corpus looked at, and the machine tried for a moment."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, replace
from typing import Any

import datasets
import torch

from mt.config import Config, ModelConfig
from mt.config_file import config_from_dict
from mt.data.batch import Batch, collate
from mt.errors import UserError
from mt.model.build import build_model
from mt.model.device import memory_of, resolve_device, resolve_precision
from mt.text.corpus import Corpus, load_corpus
from mt.text.scripts import main_script
from mt.training.optimizer import build_optimizer
from mt.training.recipe import HELD_OUT, SIZES, Side, flops_a_token
from mt.training.step import train_step

SAMPLE = 50_000  # pairs that are looked at, evenly spread
TRIAL_PIECES = 4_000
TRIAL_STEPS = 4  # the first does not count
TRIAL_SECONDS = 3.0  # after which no other step is begun


@dataclass(frozen=True)
class Text:
    """What the corpus is like."""

    pairs: int  # for training, and those held out of them
    given: tuple[str, ...]  # splits that it brings along
    src: Side
    tgt: Side


@dataclass(frozen=True)
class Machine:
    """What there is to train on."""

    device: torch.device
    cores: int
    memory: int | None  # bytes, of the device
    flops: float  # a second, in training

    def __str__(self) -> str:
        memory = f", {self.memory / 2**30:.0f} GiB" if self.memory else ""
        what = f"{self.cores} cores"
        if self.device.type == "cuda":
            what = torch.cuda.get_device_name(self.device)
        return f"{what}{memory}, {self.flops / 1e9:,.0f} GFLOP/s in a few steps of training"


def read_text(config: Config) -> Text:
    """The corpus of a config, of which the data section counts alone. Raises UserError.

    It is read with as much held out as a large one is, so that training finds it in the cache.
    """
    data, mine = config.data, config.data.model_fields_set
    sizes = {key: HELD_OUT for key in ("valid_size", "test_size") if key not in mine}
    try:
        corpus = load_corpus(data.model_copy(update=sizes))
    except UserError:  # too small for that, or what is said here again
        small = dict.fromkeys(sizes, 0.0)
        corpus = load_corpus(data.model_copy(update=small))
    splits = corpus.report.splits
    given = tuple(s for s in ("valid", "test") if splits[s].pairs and splits[s].origin == "given")
    pairs = sum(split.pairs for name, split in splits.items() if name not in given)
    return Text(pairs, given, *(_side(corpus, side) for side in ("src", "tgt")))


def _side(corpus: Corpus, side: str) -> Side:
    train: datasets.Dataset = corpus.splits["train"]
    texts = train[:: max(1, len(train) // SAMPLE)][side]
    lengths = sorted(map(len, texts))
    types = {word for text in texts for word in re.findall(r"\w+", text)}
    return Side(
        language=getattr(corpus.report, side),
        words=sum(len(text.split()) for text in texts) / len(texts),
        characters=sum(lengths) / len(texts),
        long=lengths[min(len(lengths) - 1, round(0.995 * len(lengths)))],
        types=len(types),
        script=main_script(" ".join(texts[:2000])),
    )


def try_machine(config: Config, text: Text) -> Machine:
    """The device of a config, and how fast it trains: some steps on sentences without meaning."""
    device = resolve_device(config.device)
    dtype = resolve_precision(config.training.precision, device)
    gpu = device.type == "cuda"
    size = SIZES[-1] if gpu else SIZES[1]
    model_config = ModelConfig(
        num_layers=size.layers, d_model=size.d_model, num_heads=size.num_heads, d_ff=size.d_ff,
        tie_embeddings="all",
    )  # fmt: skip
    model = build_model(model_config, TRIAL_PIECES, TRIAL_PIECES).to(device)
    settings = config.training.model_copy(update={"optimizer": "adamw"})
    optimizer = build_optimizer(model, settings)
    batch = _nonsense(text, 8192 if gpu else 512).to(device)
    took: list[float] = []
    state = torch.random.get_rng_state()
    while len(took) < TRIAL_STEPS and sum(took) < TRIAL_SECONDS:
        began = time.perf_counter()
        train_step(
            model, optimizer, [batch], lr=1e-6, label_smoothing=0.1, clip_norm=1.0, dtype=dtype,
            seed=(0, len(took)),
        )  # fmt: skip
        if gpu:
            torch.cuda.synchronize()
        took.append(time.perf_counter() - began)
    torch.random.set_rng_state(state)
    seconds = min(took[1:] or took)
    # As if the source was as long as the target: what is longer was paid for.
    both = (text.src.pieces + text.tgt.pieces) / (2 * text.tgt.pieces)
    flops = flops_a_token(size, TRIAL_PIECES) * both * batch.tokens / seconds
    return Machine(device, _cores(), memory_of(device), flops)


def _cores() -> int:
    """Those that this process may use, where that is told."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


def _nonsense(text: Text, tokens: int) -> Batch:
    """Sentences of random ids, as long as those of the text are on average."""
    lengths = [max(3, min(tokens, round(side.pieces) + 1)) for side in (text.src, text.tgt)]
    pairs = max(1, tokens // max(lengths))
    generator = torch.Generator().manual_seed(0)
    sides = [
        torch.randint(4, TRIAL_PIECES, (pairs, length), generator=generator).numpy()
        for length in lengths
    ]
    return collate(list(sides[0]), list(sides[1]))


def asked(name: str, data: dict[str, Any], overrides: tuple[str, ...]) -> Config:
    """The config of what the user gave alone, to read by. Raises UserError for mistakes in it."""
    places = {"data.src": "--src", "data.tgt": "--tgt", "data.source": "--data", "name": "--name"}
    return config_from_dict({"name": name, "data": data}, "--config auto", overrides, places)


def faster(machine: Machine, processes: int) -> Machine:
    """Several processes that train as one."""
    return replace(machine, flops=machine.flops * processes)
