"""Measures what saving checkpoints costs a run: the same steps with and without, in turn.

    python scripts/bench_saving.py --every 100

Blocks of --block steps are made by mt's own trainer, in turn without a save, with one that is
written while training goes on, and with one that training waits for; each save comes at the start
of its block. On a machine with other work the seconds of a block vary by more than a save takes. So
the price of a save is taken within its block: the seconds that training stands still, and those
that the steps made while it was written took longer than the median of those made after. Printed is
the median price, as a share of --every steps.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `mt` does on a busy machine

from mt.config_file import config_from_dict
from mt.text.phrasebook import phrasebook
from mt.training.run import Run

MODES = ("none", "background", "waiting")
WARM_UP = 5  # steps not counted


@dataclass
class Block:
    """Seconds of some steps and the save before them."""

    still: float  # training stood still for the save
    during: list[float]  # steps while it was written
    after: list[float]

    @property
    def seconds(self) -> float:
        return self.still + sum(self.during) + sum(self.after)

    @property
    def price(self) -> float:
        """Seconds that the save adds."""
        return self.still + sum(self.during) - statistics.median(self.after) * len(self.during)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=100, help="steps between saves, in the report")
    parser.add_argument("--block", type=int, default=20, help="steps measured with each save")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4, help="pairs; few make short steps")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mt-saving-") as folder:
        os.chdir(folder)
        rows = [{"translation": {"en": a, "it": b}} for a, b in phrasebook()["train"][:1000]]
        Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        run = Run(config_from_dict(settings(arguments), "bench"))
        count = sum(p.numel() for p in run.trainer.model.parameters())
        blocks = measure(run, arguments.block, arguments.rounds)
        run.close()
    print(f"{count:,} parameters, {arguments.rounds} saves of each kind")
    report(blocks, arguments.every)


def settings(arguments: argparse.Namespace) -> dict[str, object]:
    steps = WARM_UP + arguments.block * arguments.rounds * len(MODES)
    return {
        "name": "saving",
        "device": "cpu",
        "data": {"source": "pairs.jsonl", "src": "en", "tgt": "it", "valid_size": 0},
        "model": {"num_layers": arguments.layers, "d_model": 512, "d_ff": 2048},
        "training": {
            "batch_size": arguments.batch_size, "max_steps": steps + 1,
            "save_every": f"{steps + 9} steps", "log_every": steps + 9,
        },
    }  # fmt: skip


def measure(run: Run, length: int, rounds: int) -> dict[str, list[Block]]:
    steps = run.trainer.fit()
    for _ in range(WARM_UP):
        next(steps)
    save(run)  # the first one makes room for the copies
    blocks: dict[str, list[Block]] = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            run.saver.wait()
            blocks[mode].append(block(run, steps, length, mode))
    return blocks


def save(run: Run) -> None:
    run.trainer.save(run.trainer.progress, False)
    run.saver.wait()


def block(run: Run, steps: Iterator[object], length: int, mode: str) -> Block:
    start = time.perf_counter()
    if mode != "none":
        run.trainer.save(run.trainer.progress, False)
    if mode == "waiting":
        run.saver.wait()
    result = Block(time.perf_counter() - start, [], [])
    for _ in range(length):
        writing = run.saver.busy
        start = time.perf_counter()
        next(steps)
        (result.during if writing else result.after).append(time.perf_counter() - start)
    return result


def report(blocks: dict[str, list[Block]], every: int) -> None:
    step = statistics.median(s for made in blocks.values() for block in made for s in block.after)
    print(f"{step:.3f} s a step (median)")
    for mode, made in blocks.items():
        seconds = statistics.median(block.seconds for block in made)
        line = f"{mode:10} {seconds:6.2f} s a block"
        if mode != "none":
            still = statistics.median(block.still for block in made)
            price = statistics.median(block.price for block in made)
            steps = statistics.median(len(block.during) for block in made)
            line += (
                f"; stands still for {still:.2f} s, {steps:g} steps while it is written; a save "
                f"costs {price:.2f} s: {price / (every * step):.2%} of {every} steps"
            )
        print(line)


if __name__ == "__main__":
    main()
