"""Shows that a sentence's translation does not depend on what else is in its batch.

    python scripts/same_in_any_batch.py weights/NAME SENTENCES.txt --beam-size 1 5

Every sentence is searched alone, then all of them in batches of 7 and 64, sorted by length and
shuffled. Printed for each are: how many translations differ from those alone (there must be none);
how many would differ if close decisions were not made again alone; how many sentences had one; and
the most that a log-probability of a token, and of a sentence, differed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mt.data.frame import FRAME, frame
from mt.decoding.engine import Hypothesis, Search
from mt.decoding.torch_engine import Task, TorchEngine
from mt.storage.model_folder import find_model

Found = dict[int, list[Hypothesis]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a model folder")
    parser.add_argument("sentences", type=Path, help="a text file, a sentence a line")
    parser.add_argument("--beam-size", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--n-best", type=int, default=1)
    parser.add_argument("--most", type=int, default=500, help="sentences to use")
    arguments = parser.parse_args()
    folder = find_model(arguments.model)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    engine = TorchEngine.load(folder, config, src, tgt, torch.device("cpu"))
    lines = arguments.sentences.read_text(encoding="utf-8").splitlines()[: arguments.most]
    limit = config.data.max_length - FRAME
    framed = [ids for line in lines if len(ids := frame(src.encode(line)[:limit])) > FRAME]
    failures = 0
    for width in arguments.beam_size:
        search = replace(
            Search.of(config.decoding), beam_size=width, n_best=min(arguments.n_best, width)
        )
        tasks = [Task(ids, search.max_length(len(ids) - FRAME, limit), ()) for ids in framed]
        failures += compare(engine, tasks, search)
    sys.exit(1 if failures else 0)


def compare(engine: TorchEngine, tasks: Sequence[Task], search: Search) -> int:
    """Prints the comparison for one search; how many translations differed."""
    alone = in_batches(engine, tasks, list(range(len(tasks))), 1, search)[0]
    by_length = sorted(range(len(tasks)), key=lambda i: len(tasks[i].source))
    shuffled = random.Random(0).sample(range(len(tasks)), len(tasks))
    failures = 0
    for name, order in (("sorted", by_length), ("shuffled", shuffled)):
        for size in (7, 64):
            began = time.perf_counter()
            found, first, unsure = in_batches(engine, tasks, order, size, search)
            token, sentence = most_apart(alone, first)
            wrong = differing(alone, found)
            failures += len(wrong)
            print(
                f"beam {search.beam_size}, {len(tasks)} sentences, {name}, batches of {size}: "
                f"{len(wrong)} differ; {len(differing(alone, first))} would, of {unsure} with a "
                f"close decision; most apart: token {token:.1e}, sentence {sentence:.1e}; "
                f"{time.perf_counter() - began:.1f} s",
                flush=True,
            )
    return failures


def in_batches(
    engine: TorchEngine, tasks: Sequence[Task], order: Sequence[int], size: int, search: Search
) -> tuple[Found, Found, int]:
    """What the engine finds; what it found at first; and how many sentences it did again."""
    found: Found = {}
    first: Found = {}
    unsure = 0
    for at in range(0, len(order), size):
        places = order[at : at + size]
        finished = engine.run([tasks[i] for i in places], search)
        for i, one in zip(places, finished, strict=True):
            first[i] = found[i] = one.best()
            unsure += one.unsure
            if one.unsure and len(places) > 1:
                found[i] = engine.run([tasks[i]], search)[0].best()
    return found, first, unsure


def differing(alone: Found, found: Found) -> list[int]:
    """The sentences whose ids are not the same."""
    return [i for i in alone if [h.ids for h in alone[i]] != [h.ids for h in found[i]]]


def most_apart(alone: Found, found: Found) -> tuple[float, float]:
    """The largest difference of the log-probability of a token, and of a hypothesis."""
    pairs = [
        (a, b) for i in alone for a, b in zip(alone[i], found[i], strict=False) if a.ids == b.ids
    ]
    tokens = (
        abs(x - y)
        for a, b in pairs
        for x, y in zip(a.token_log_probabilities, b.token_log_probabilities, strict=True)
    )
    return max(tokens), max(abs(a.log_probability - b.log_probability) for a, b in pairs)


if __name__ == "__main__":
    main()
