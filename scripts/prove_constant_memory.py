"""Pipes many lines through `mt translate` and shows that its memory does not grow with them.

    python scripts/prove_constant_memory.py --lines 1000000

A tiny model with random weights translates sentences drawn at random from a few hundred. Each line
that comes out is compared with the translation of its sentence alone, so line k is for line k. The
memory of the process is read all along; printed are its peak, and its slope once all is warm. Then
the same lines go from a file to a file, the process is killed half-way, and there must be no file
under the final name. Exit status 0 only if all of that holds.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

SENTENCES = 400  # different ones
WARM = 0.2  # of the lines, after which memory must not grow
MOST_GROWTH = 16.0  # MiB from then to the end, by the slope


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mt-memory-") as name:
        folder = Path(name)
        sentences = write_model(folder / "model")
        expected = translations(folder / "model", sentences)
        print(f"{len(sentences)} sentences, {len(set(expected))} different translations")
        order = draws(arguments.lines, arguments.seed)
        seconds, wrong, samples = pipe(folder / "model", sentences, expected, order)
        print(f"{arguments.lines:,} lines in {seconds:.0f} s; {wrong} not as they should be")
        steady = report(samples, arguments.lines)
        whole = kill_half_way(folder, sentences, order, seconds)
    return 0 if not wrong and steady and whole else 1


def write_model(folder: Path) -> list[str]:
    """A model folder with random weights; the sentences that it knows the words of."""
    import json

    import torch

    from mt.config_file import config_from_dict
    from mt.model.build import build_model
    from mt.storage.checkpoint import write_checkpoint
    from mt.storage.model_folder import ModelFolder
    from mt.text.phrasebook import phrasebook
    from mt.text.tokenizer import EOS_ID, Tokenizer

    pairs = phrasebook()["train"][:SENTENCES]
    config = config_from_dict(
        {
            "name": "tiny",
            "data": {"source": "none", "src": "en", "tgt": "it", "max_length": 24},
            "tokenizer": {"min_frequency": 1},
            "model": {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32},
            "decoding": {"max_length_ratio": 0.1},
        },
        "the script",
    )
    src = Tokenizer.train([a for a, _ in pairs], "en", config.tokenizer)
    tgt = Tokenizer.train([b for _, b in pairs], "it", config.tokenizer, "tgt")
    model_folder = ModelFolder(folder)
    model_folder.checkpoints.mkdir(parents=True)
    for tokenizer in (src, tgt):
        tokenizer.save(model_folder.tokenizer_file(tokenizer.language))
    model = build_model(config.model, src.vocab_size, tgt.vocab_size)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.3)
        model.projection.bias[EOS_ID] += 2.0
    parts = {"model": {name: p.detach() for name, p in model.named_parameters()}}
    state = {"tokenizers": model_folder.tokenizer_state(src, tgt)}
    write_checkpoint(model_folder.checkpoints, 1, parts, state)
    model_folder.data_file.write_text(json.dumps({"splits": {}}), "utf-8")
    model_folder.write_config(config)
    return [source for source, _ in pairs]


def translations(model: Path, sentences: list[str]) -> list[str]:
    """What each sentence gives by itself, in one process without windows."""
    text = "".join(f"{sentence}\n" for sentence in sentences)
    out = subprocess.run(
        command(model), input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        check=True,
    ).stdout.decode()  # fmt: skip
    return out.splitlines()


def command(model: Path) -> list[str]:
    return [sys.executable, "-m", "mt", "translate", "--model", str(model), "--device", "cpu"]


def draws(lines: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(SENTENCES) for _ in range(lines)]


def pipe(
    model: Path, sentences: list[str], expected: list[str], order: list[int]
) -> tuple[float, int, list[tuple[int, float]]]:
    """Seconds, lines that are wrong or missing, and (lines so far, MiB) as they went."""
    process = subprocess.Popen(
        command(model), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    begun = time.monotonic()
    writer = threading.Thread(target=write, args=(process.stdin, sentences, order))
    writer.start()
    wrong = seen = 0
    samples: list[tuple[int, float]] = []
    for line in process.stdout:
        if seen >= len(order) or line.decode() != f"{expected[order[seen]]}\n":
            wrong += 1
        seen += 1
        if seen % max(1, len(order) // 500) == 0:
            samples.append((seen, resident(process.pid)))
    writer.join()
    if process.wait():
        raise SystemExit("mt translate failed")
    return time.monotonic() - begun, wrong + max(0, len(order) - seen), samples


def write(pipe: object, sentences: list[str], order: list[int]) -> None:
    for n in order:
        pipe.write(f"{sentences[n]}\n".encode())  # type: ignore[attr-defined]
    pipe.close()  # type: ignore[attr-defined]


def resident(pid: int) -> float:
    """Memory of a process in MiB, as Linux tells it."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def report(samples: list[tuple[int, float]], lines: int) -> bool:
    """Prints peak and slope, and a few points between; whether memory is steady."""
    warm = [(n, mib) for n, mib in samples if n >= WARM * lines and mib]
    mean_n = sum(n for n, _ in warm) / len(warm)
    mean = sum(mib for _, mib in warm) / len(warm)
    spread = sum((n - mean_n) ** 2 for n, _ in warm)
    slope = sum((n - mean_n) * (mib - mean) for n, mib in warm) / spread
    for n, mib in list(tenths(warm)):
        print(f"  after {n:>10,} lines {mib:8.1f} MiB")
    growth = slope * (warm[-1][0] - warm[0][0])
    print(f"peak {max(mib for _, mib in samples):.1f} MiB; slope {slope * 1e6:.2f} MiB a million "
          f"lines, {growth:.2f} MiB from line {warm[0][0]:,} to the end")  # fmt: skip
    return growth < MOST_GROWTH


def tenths(samples: list[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    for i in range(10):
        yield samples[i * (len(samples) - 1) // 9]


def kill_half_way(folder: Path, sentences: list[str], order: list[int], seconds: float) -> bool:
    """Whether a killed process leaves nothing under the name of its output."""
    source, target = folder / "in.txt", folder / "out.txt"
    source.write_text("".join(f"{sentences[n]}\n" for n in order), encoding="utf-8")
    process = subprocess.Popen(
        [*command(folder / "model"), "--input", str(source), "--output", str(target)],
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds / 2)
    running = process.poll() is None
    process.kill()
    process.wait()
    half = [path.name for path in folder.glob(".out*")]
    there = target.exists()
    print(
        f"killed after {seconds / 2:.0f} s{'' if running else ', TOO LATE'}: "
        f"{'A FILE' if there else 'nothing'} under the final name; beside it {half or 'nothing'}"
    )
    return running and not there


if __name__ == "__main__":
    raise SystemExit(main())
