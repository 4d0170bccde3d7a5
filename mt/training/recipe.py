"""The recipe for a corpus, a machine and a time: `choose` makes a config of what is known of them.

The tables at the top are what experiments may change; the function only looks things up in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mt.config import Config
from mt.config_file import config_from_dict
from mt.errors import UserError


class Size(NamedTuple):
    """A model, and what it takes to be worth it; the last one in SIZES that fits is taken."""

    name: str
    pairs: int  # at least, of training
    tokens: float  # at least, of the target side, read in the time there is, repetitions counted
    d_model: int
    layers: int  # of encoder and decoder each
    d_ff: int
    num_heads: int
    lr: float


SIZES = (
    Size("tiny", 0, 0.0, 128, 2, 512, 4, 3e-3),
    Size("small", 500, 3e5, 256, 2, 1024, 4, 3e-3),
    Size("base", 500, 1.2e7, 256, 3, 1024, 4, 3e-3),
    Size("big", 100_000, 5e7, 512, 6, 2048, 8, 2e-3),
)
# From so many training pairs on, so many pieces for both languages; twice that without spaces.
PIECES = ((0, 1_000), (1_000, 2_000), (4_000, 4_000), (50_000, 8_000), (1_000_000, 16_000))
DROPOUT = ((0.0, 0.1), (8.0, 0.2), (20.0, 0.3))  # from so many passes over the pairs on
BATCH_TOKENS = {"cpu": ((0, 1024), (20_000, 2048)), "gpu": ((0, 2048), (20_000, 8192))}  # by pairs
OPTIMIZER: dict[str, Any] = {"optimizer": "muon", "betas": [0.9, 0.98]}
SCHEDULE, WARMUP = "linear", 0.1  # share of the steps
BEAM_SIZE = 5
DECODING: dict[str, Any] = {"beam_size": BEAM_SIZE, "length_penalty": 1.5, "no_repeat_ngram": 4}
MOST_PASSES = 300  # over the pairs; more do not help, whatever the time
VALIDATIONS = ((0.0, 2), (5.0, 3), (15.0, 5), (60.0, 10))  # in so many minutes and more
FOR_VALIDATION = 0.08  # most of the time that it may take, in all
MOST_BLEU_SAMPLES, FEWEST_BLEU_SAMPLES = 200, 10
HELD_OUT, HELD_OUT_SHARE = 500, 0.05  # pairs for validation and for test each, and of all at most
FEWEST_TO_HOLD_OUT = 20  # pairs in all
FEWEST_STEPS = 200  # that teach something
MINUTES = 30.0  # if nobody says how many

FILLED = 0.85  # of a batch is real tokens
ON_STEPS = 0.9  # of the time
ON_PASSES = 0.7  # of the steps' time; the rest is Muon's
CHARACTERS_A_PIECE = {True: 4.0, False: 1.5}  # in text with spaces and without
SEARCH_SPEED = 0.25  # of the arithmetic of training, in which hypotheses are searched
LEAST_SECONDS = 1.0  # that must be left for training


@dataclass(frozen=True)
class Side:
    """One side of the training text, from a sample where there is much of it."""

    language: str
    words: float  # mean a sentence
    characters: float  # mean a sentence
    long: int  # characters of a sentence that 995 in 1,000 are no longer than
    types: int  # different words in the sample
    script: str

    @property
    def spaced(self) -> bool:
        """Whether spaces part the words."""
        return self.characters < 16 * max(self.words, 1.0)

    @property
    def pieces(self) -> float:
        """Of a sentence, mean, about."""
        return self.characters / CHARACTERS_A_PIECE[self.spaced] + 1


@dataclass(frozen=True)
class Facts:
    """What is known before the choice."""

    name: str
    data: dict[str, Any]  # the section of the config, as far as the user gave it
    pairs: int  # to train on and to hold out of
    given: tuple[str, ...]  # splits that the corpus brings: "valid", "test"
    src: Side
    tgt: Side
    gpu: bool
    flops: float  # floating-point operations a second in training, of all processes
    minutes: float  # that the whole run may take
    seconds: float  # that are left of them for training, what comes after it included
    overrides: Sequence[str] = field(default=())  # as of --set


class Choice(NamedTuple):
    """The config, and why it is so, in lines."""

    config: Config
    why: tuple[str, ...]


def choose(facts: Facts) -> Choice:
    """The recipe; a pure function. Raises UserError if there is no time to train at all."""
    left = facts.seconds * ON_STEPS * ON_PASSES
    if left < LEAST_SECONDS:
        raise UserError(
            f"--minutes {facts.minutes:g} is too little: reading and preparing the corpus and "
            f"trying the machine take {60 * facts.minutes - facts.seconds:.0f} seconds; give more"
        )
    held = _held_out(facts)
    pairs = max(1, facts.pairs - sum(held[f"{split}_size"] for split in _split_off(facts)))
    pieces = _at(PIECES, pairs) * (1 if facts.src.spaced and facts.tgt.spaced else 2)
    size = _size(facts, pairs, pieces, left)
    tokens = left * _tokens_a_second(facts, size, pieces)
    a_pass = pairs * facts.tgt.pieces
    passes = min(MOST_PASSES, tokens / a_pass)
    budget = _at(BATCH_TOKENS["gpu" if facts.gpu else "cpu"], pairs)
    steps = max(1, round(passes * max(a_pass / (budget * FILLED), 1.0)))
    used = min(left, left * MOST_PASSES * a_pass / tokens)
    validation = _validation(facts, size, pieces, steps, used, held["valid_size"])
    config: dict[str, Any] = {
        "name": facts.name,
        "data": {**facts.data, **held, "max_length": _max_length(facts, budget)},
        "tokenizer": {"kind": "bpe", "vocab_size": pieces, "shared": True},
        "model": {
            "num_layers": size.layers,
            "d_model": size.d_model,
            "num_heads": size.num_heads,
            "d_ff": size.d_ff,
            "dropout": _at(DROPOUT, passes),
            "tie_embeddings": "decoder",
            "embedding_init": "lexicon",
        },
        "training": {
            "minutes": facts.minutes,
            **({"epochs": MOST_PASSES} if passes >= MOST_PASSES else {}),
            "batch_tokens": budget,
            **OPTIMIZER,
            "lr": size.lr,
            "schedule": SCHEDULE,
            "warmup_steps": 0,
            **validation,
        },
        "decoding": DECODING,
    }
    asked = config_from_dict(config, "--config auto", facts.overrides).training.max_steps
    steps = min(steps, asked or steps)
    if steps > 1:
        config["training"]["warmup_steps"] = max(1, round(WARMUP * steps))
    found = config_from_dict(config, "--config auto", facts.overrides)
    return Choice(found, tuple(_why(facts, found, size, pairs, passes, steps)))


def flops_a_token(size: Size, pieces: int) -> float:
    """Operations of training for a target token, and the source token that goes with it.

    Six for each weight that multiplies: two forward and four backward; attention's own products
    are left out, small beside these for sentences.
    """
    d, inner = size.d_model, 2 * size.d_model * size.d_ff
    weights = size.layers * (4 * d * d + inner) + size.layers * (8 * d * d + inner) + pieces * d
    return 6.0 * weights


def _at(table: Sequence[tuple[float, Any]], value: float) -> Any:
    """The entry of the last row that begins at `value` or below."""
    return [entry for start, entry in table if value >= start][-1]


def _tokens_a_second(facts: Facts, size: Size, pieces: int) -> float:
    sides = (facts.src.pieces + facts.tgt.pieces) / (2 * facts.tgt.pieces)  # the source's share
    return facts.flops / (flops_a_token(size, pieces) * sides)


def _size(facts: Facts, pairs: int, pieces: int, seconds: float) -> Size:
    fitting = [
        size
        for size in SIZES
        if pairs >= size.pairs and seconds * _tokens_a_second(facts, size, pieces) >= size.tokens
    ]
    return fitting[-1]


def _held_out(facts: Facts) -> dict[str, int]:
    """Sizes of valid and test; not used where the corpus brings its own."""
    enough = facts.pairs >= FEWEST_TO_HOLD_OUT
    each = min(HELD_OUT, max(1, int(HELD_OUT_SHARE * facts.pairs))) if enough else 0
    return {f"{s}_size": HELD_OUT if s in facts.given else each for s in ("valid", "test")}


def _split_off(facts: Facts) -> list[str]:
    return [split for split in ("valid", "test") if split not in facts.given]


def _max_length(facts: Facts, budget: int) -> int:
    """Tokens a side that all but the very longest sentences stay under."""
    sides = (facts.src, facts.tgt)
    tokens = max(side.long / CHARACTERS_A_PIECE[side.spaced] for side in sides)
    return min(budget, 350, max(64, math.ceil(1.5 * tokens / 16) * 16))


def _validation(
    facts: Facts, size: Size, pieces: int, steps: int, seconds: float, pairs: int
) -> dict[str, Any]:
    """How often to validate, on how many of the pairs, so that it takes a small share of time."""
    times = min(_at(VALIDATIONS, seconds / 60), steps)
    every = f"{math.ceil(steps / times)} steps"
    a_sentence = facts.tgt.pieces * BEAM_SIZE * flops_a_token(size, pieces) / 3
    affordable = FOR_VALIDATION * seconds / times * SEARCH_SPEED * facts.flops / a_sentence
    samples = min(MOST_BLEU_SAMPLES, int(affordable))
    return {
        "validate_every": every,
        "save_every": every,
        "bleu_samples": min(samples, pairs) if samples >= FEWEST_BLEU_SAMPLES else 0,
    }


def _why(
    facts: Facts, config: Config, size: Size, pairs: int, passes: float, steps: int
) -> list[str]:
    """Why the recipe is as it is, as values stand after what the user laid over it."""
    model, training = config.model, config.training
    read = passes * pairs * facts.tgt.pieces
    lines = [
        f"model        {size.name}: {model.d_model} wide, {' + '.join(map(str, model.depth))} "
        f"layers, for {pairs:,} pairs and about {_round(read)} tokens read in the time",
        f"pieces       {config.tokenizer.vocab_size:,} for both languages, by the number of pairs",
        f"dropout      {model.dropout:g}, as the pairs are read about {passes:.2g} times",
        f"steps        about {_round(steps)} of {training.batch_tokens or 0:,} tokens; "
        f"{training.warmup_steps:,} of warm-up, then to zero in a line",
    ]
    if steps < FEWEST_STEPS and passes < MOST_PASSES:
        lines.append(f"warning      about {steps:,} steps teach next to nothing: give more time")
    if passes >= MOST_PASSES:
        lines.append(
            f"time         not all of it is used: more than {MOST_PASSES} times the same pairs "
            "teach nothing new"
        )
    if not config.data.valid_size and "valid" not in facts.given:
        lines.append("validation   none: there are too few pairs to hold some out")
    elif not training.bleu_samples:
        lines.append("validation   of the loss alone: there is no time to translate")
    else:
        lines.append(
            f"validation   every {training.validate_every}, {training.bleu_samples} sentences "
            f"translated with beam {config.decoding.beam_size}"
        )
    return lines


def _round(number: float) -> str:
    """Two digits of it: 1,200, 0.73 M."""
    if number >= 1e5:
        return f"{number / 1e6:.2g} M" if number < 1e8 else f"{number / 1e6:,.0f} M"
    digits = 10 ** max(0, len(str(round(number))) - 2)
    return f"{round(number / digits) * digits:,}"
