"""Kills a training run again and again, and compares what it ends with to a run left in peace.

    python scripts/crash_test.py --kills 100

Every second kill is aimed at the writing of a checkpoint: it comes as soon as one is seen half
written. The others come at a random instant, from before the first step on. Each time the same
command starts again. In the end weights, moments and curves must be the same, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from mt.storage.checkpoint import list_checkpoints, read_part
from mt.storage.record import read_metrics
from mt.text.phrasebook import phrasebook
from mt.training.metrics import repeatable

STEPS_A_KILL = 60
LONGEST_LIFE = 3.0  # seconds of training before a kill that is not aimed
CONFIG = {
    "name": "crash",
    "device": "cpu",
    "data": {"source": "pairs.jsonl", "src": "en", "tgt": "it", "valid_size": 20},
    "model": {"num_layers": 1, "d_model": 32, "num_heads": 4, "d_ff": 64, "dropout": 0.2},
    "training": {
        "batch_size": 16, "accumulate": 2, "lr": 1e-3, "schedule": "cosine", "warmup_steps": 20,
        "save_every": "13 steps", "validate_every": "50 steps", "log_every": 7, "bleu_samples": 5,
    },
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="mt-crash-") as folder:
        straight, killed = Path(folder) / "straight", Path(folder) / "killed"
        for place in (straight, killed):
            prepare(place, arguments.kills * STEPS_A_KILL)
        start(straight).wait()
        kills, aimed = 0, 0
        while kills < arguments.kills:
            process = start(killed)
            hit = (
                kill_while_saving(process, killed)
                if kills % 2
                else kill_at_random(process, killed, rng)
            )
            if process.wait() == 0:
                print(f"the run was complete after {kills} kills")
                break
            kills, aimed = kills + 1, aimed + hit
        if start(killed).wait():
            print((killed / "log.txt").read_text()[-2000:])
            return 1
        print(
            f"{kills} kills, {aimed} of them while a checkpoint was half written; {kills} resumes"
        )
        return report(straight, killed)


def prepare(folder: Path, steps: int) -> None:
    folder.mkdir()
    rows = [{"translation": {"en": a, "it": b}} for a, b in phrasebook()["train"][:600]]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "pairs.jsonl").write_text(text, "utf-8")
    config = {**CONFIG, "training": {**CONFIG["training"], "max_steps": steps}}  # type: ignore[dict-item]
    (folder / "crash.yaml").write_text(json.dumps(config))


def start(folder: Path) -> subprocess.Popen[bytes]:
    log = (folder / "log.txt").open("a")
    return subprocess.Popen(
        [sys.executable, "-m", "mt", "train", "--config", "crash.yaml"], cwd=folder,
        stdout=log, stderr=log, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def kill_at_random(process: subprocess.Popen[bytes], folder: Path, rng: random.Random) -> bool:
    """One time in five while the program still starts, else after the run has begun."""
    if rng.random() < 0.2:
        time.sleep(rng.uniform(0, 4))
    else:
        wait_for_lock(process, folder)
        time.sleep(rng.uniform(0, LONGEST_LIFE))
    half = any(half_written(folder))
    process.send_signal(signal.SIGKILL)
    return half


def kill_while_saving(process: subprocess.Popen[bytes], folder: Path) -> bool:
    wait_for_lock(process, folder)
    while process.poll() is None:
        if any(half_written(folder)):
            process.send_signal(signal.SIGKILL)
            process.wait()
            return any(half_written(folder))
    return False


def wait_for_lock(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Until this very process holds the model folder, which it does shortly before step 1."""
    lock = folder / "weights" / "crash" / ".lock"
    while process.poll() is None:
        if lock.is_file() and lock.read_text() == f"process {process.pid}":
            return
        time.sleep(0.02)


def half_written(folder: Path) -> list[Path]:
    return list((folder / "weights" / "crash" / "checkpoints").glob(".step-*.tmp"))


def report(straight: Path, killed: Path) -> int:
    same = {}
    for part in ("model", "optimizer"):
        one, two = (
            read_part(list_checkpoints(f / "weights/crash/checkpoints")[-1], part)
            for f in (straight, killed)
        )
        same[part] = one.keys() == two.keys() and all(torch.equal(one[n], two[n]) for n in one)
    same["curves"] = curves(straight) == curves(killed)
    for what, equal in same.items():
        print(f"{what}: {'identical' if equal else 'DIFFERENT'}")
    return 0 if all(same.values()) else 1


def curves(folder: Path) -> list[dict[str, object]]:
    return [repeatable(line) for line in read_metrics(folder / "runs" / "crash")]


if __name__ == "__main__":
    raise SystemExit(main())
