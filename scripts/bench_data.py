"""Measures what a large corpus costs before step 1: time, memory, pairs turned into ids a second.

    python scripts/bench_data.py --pairs 1000000 10000000 --kinds word bpe

For each size it writes a TSV of distinct pairs, and for each kind of tokenizer runs `mt data`, then
`mt train` for one step (which finds the prepared data again), as processes of their own. Peak
memory is what the system reports of the process (mapped file pages included). The rate at which
pairs become ids is put beside what the `tokenizers` library alone does on the same lines, with the
same vocabulary, in the same run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SYLLABLES = [a + b for a in "bcdfglmnprstv" for b in ("a", "e", "i", "o", "u", "an", "or", "el")]
LINES_COMPARED = 200_000
NAMES = 1_000_000  # made-up ones, the n-th as frequent as 1 / n
CONFIG = {
    "name": "bench",
    "data": {"src": "en", "tgt": "it", "valid_size": 1000, "max_length": 100},
    "model": {"num_layers": 1, "d_model": 32, "num_heads": 4, "d_ff": 64},
    "training": {"max_steps": 1, "batch_tokens": 1024, "bleu_samples": 0},
}
TOKENIZERS = {"word": {"kind": "word"}, "bpe": {"kind": "bpe", "vocab_size": 8000, "shared": True}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--kinds", nargs="+", default=list(TOKENIZERS), choices=list(TOKENIZERS))
    arguments = parser.parse_args()
    print("pairs       kind  command    seconds  peak MiB")
    for pairs in arguments.pairs:
        with tempfile.TemporaryDirectory(prefix="mt-bench-") as folder:
            measure(Path(folder), pairs, arguments.kinds)


def measure(folder: Path, pairs: int, kinds: list[str]) -> None:
    write_corpus(folder / "corpus.tsv", pairs)
    os.environ["HF_HOME"] = str(folder / "cache")
    for kind in kinds:
        config = {**CONFIG, "tokenizer": TOKENIZERS[kind], "name": f"bench-{kind}"}
        config["data"] = {**config["data"], "source": str(folder / "corpus.tsv")}  # type: ignore[dict-item]
        (folder / "bench.yaml").write_text(json.dumps(config))  # JSON is YAML
        for command in ("data", "train"):
            seconds, peak = run(["mt", command, "--config", "bench.yaml"], folder)
            print(f"{pairs:<11,} {kind:<5} mt {command:<7} {seconds:8.1f} {peak:9.0f}", flush=True)
        ours, bare = rates(folder, kind)
        print(f"{'':11} {kind:<5} to ids: {ours:,.0f} pairs/s, tokenizers alone {bare:,.0f}, "
              f"ratio {ours / bare:.2f}", flush=True)  # fmt: skip


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """Wall-clock seconds and peak resident MiB of a command."""
    log = folder / "log.txt"
    start = time.perf_counter()
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, stdout=file, stderr=file
        )
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(log.read_text()[-2000:])
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def rates(folder: Path, kind: str) -> tuple[float, float]:
    """Pairs a second that `encode_split` and the bare library make ids of; medians of three."""
    import datasets
    import tokenizers

    from mt.data.encode import encode_split
    from mt.text.tokenizer import Tokenizer

    weights = folder / "weights" / f"bench-{kind}"
    files = [weights / f"tokenizer_{language}.json" for language in ("en", "it")]
    ours = [Tokenizer.load(file) for file in files]
    bare = [tokenizers.Tokenizer.from_file(str(file)) for file in files]
    with (folder / "corpus.tsv").open(encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in itertools.islice(file, LINES_COMPARED)]
    columns = {"src": [row[0] for row in rows], "tgt": [row[1] for row in rows]}
    saved = folder / f"compared-{kind}"
    datasets.Dataset.from_dict(columns).save_to_disk(str(saved))
    times: tuple[list[float], list[float]] = ([], [])
    for attempt in range(3):
        split = datasets.load_from_disk(str(saved))
        split._fingerprint = f"{kind}-{len(rows)}-{attempt}-{time.time_ns()}"
        start = time.perf_counter()
        encode_split(split, *ours)
        times[0].append(time.perf_counter() - start)
        start = time.perf_counter()
        for library, column in zip(bare, columns.values(), strict=True):
            for first in range(0, len(column), 8192):
                for encoding in library.encode_batch_fast(column[first : first + 8192]):
                    _ = encoding.ids
        times[1].append(time.perf_counter() - start)
    rate, bare_rate = (len(rows) / sorted(seconds)[1] for seconds in times)
    return rate, bare_rate


def write_corpus(path: Path, pairs: int) -> None:
    """Distinct pairs: two phrasebook sentences joined, in one of ten with a made-up name.

    How often a name occurs follows Zipf's law, as with names in real text.
    """
    with path.open("w", encoding="utf-8") as file:
        for source, target in itertools.islice(sentences(), pairs):
            file.write(f"{source}\t{target}\n")


def sentences() -> Iterator[tuple[str, str]]:
    from mt.text.phrasebook import phrasebook

    rng = random.Random(0)
    known = phrasebook()["train"]
    for number in itertools.count():
        first = known[number % len(known)]
        second = known[(number // len(known) * 7 + number * 31) % len(known)]
        name = ""
        if rng.random() < 0.1:
            name = made_up(int(NAMES ** rng.random())) + ": "
        yield name + " ".join((first[0], second[0])), name + " ".join((first[1], second[1]))


def made_up(rank: int) -> str:
    """The name of a rank: its digits, written as syllables."""
    syllables: list[str] = []
    while rank or len(syllables) < 2:
        rank, digit = divmod(rank, len(SYLLABLES))
        syllables.append(SYLLABLES[digit])
    return "".join(syllables).capitalize()


if __name__ == "__main__":
    main()
