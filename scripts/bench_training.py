"""Puts mt's training loop beside another one: same rows and sizes, one run, in turn.

    python scripts/bench_training.py ROWS.jsonl --naive NAIVE_LOOP.py
    python scripts/bench_training.py ROWS.jsonl --small --joeynmt PYTHON CONFIG.yaml

NAIVE_LOOP.py is a script that trains the reference recipe written plainly, takes ROWS.jsonl and
--steps N, and prints "… target tokens/s". PYTHON is that of an environment with JoeyNMT, and
CONFIG.yaml a JoeyNMT config of the same model on the same rows; it is run at each of
--joeynmt-tokens, and the best is what mt is compared with. --small is the reference recipe at
d_model 256, 3 + 3 layers, a shared vocabulary of 8,000 BPE pieces, dropout 0.3.

Each side runs as a process of its own, one after the other, --repeats times. Printed are real
target tokens a second, their ratio (the median of the pairs), peak memory, and the share of the
machine's own fp32 matrix-product rate, measured just before, that the model's arithmetic reaches.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

WARM_UP = 2  # steps not counted
SMALL = [
    "tokenizer.kind=bpe", "tokenizer.vocab_size=8000", "tokenizer.shared=true",
    "model.d_model=256", "model.num_layers=3", "model.num_heads=4", "model.d_ff=1024",
    "model.dropout=0.3", "model.tie_embeddings=all", "training.optimizer=adamw",
    "training.weight_decay=1e-4",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", help="pairs, as JSON lines with a nested translation")
    parser.add_argument("--naive", metavar="SCRIPT", help="the other loop; without it mt alone")
    parser.add_argument("--steps", type=int, default=10, help="steps of mt that are counted")
    parser.add_argument("--naive-steps", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--joeynmt", nargs=2, metavar=("PYTHON", "CONFIG"))
    parser.add_argument("--joeynmt-tokens", type=int, nargs="+", default=[1024, 2048, 4096])
    parser.add_argument("--joeynmt-updates", type=int, default=60)
    parser.add_argument("--small", action="store_true", help="d_model 256, 3 + 3 layers, 8,000 BPE")
    parser.add_argument("--set", action="append", default=[], help="settings of mt, as in mt train")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments)))
        return
    other = rival(arguments)
    ratios = []
    for number in range(arguments.repeats):
        ours = run_mt(arguments)
        print(
            f"{number + 1}: mt {ours['rate']:.0f} target tokens/s, {ours['step_seconds']:.2f} s a "
            f"step, peak {ours['peak']:.0f} MiB, {ours['gflops']:.0f} of {ours['machine']:.0f} "
            f"GFLOP/s ({ours['gflops'] / ours['machine']:.0%})",
            flush=True,
        )
        if other:
            rate, peak = other()
            ratios.append(ours["rate"] / rate)
            print(f"   other {rate:.1f} target tokens/s, peak {peak:.0f} MiB, ratio "
                  f"{ratios[-1]:.2f}", flush=True)  # fmt: skip
    if ratios:
        print(f"median ratio {statistics.median(ratios):.2f}")


def rival(arguments: argparse.Namespace) -> Callable[[], tuple[float, float]] | None:
    """What to put mt beside: runs it once, for its target tokens a second and its peak MiB."""
    if arguments.naive:
        return lambda: run_naive(arguments)
    if not arguments.joeynmt:
        return None
    found = {tokens: run_joeynmt(arguments, tokens) for tokens in arguments.joeynmt_tokens}
    for tokens, (rate, peak) in found.items():
        print(f"JoeyNMT, batches of {tokens} tokens: {rate:.0f} target tokens/s, {peak:.0f} MiB")
    best = max(found, key=lambda tokens: found[tokens])
    return lambda: run_joeynmt(arguments, best)


def run_mt(arguments: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, arguments.rows, "--child", "--steps", str(arguments.steps)]
    command += ["--batch-tokens", str(arguments.batch_tokens)]
    for override in [*(SMALL if arguments.small else []), *arguments.set]:
        command += ["--set", override]
    output, peak = run(command)
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return {**result, "peak": peak}


def run_naive(arguments: argparse.Namespace) -> tuple[float, float]:
    command = [sys.executable, arguments.naive, arguments.rows]
    output, peak = run([*command, "--steps", str(arguments.naive_steps)])
    found = re.search(r"([\d.]+) target tokens/s", output)
    if not found:
        raise SystemExit(f"{arguments.naive} printed no target tokens/s: {output[-500:]}")
    return float(found[1]), peak


def run_joeynmt(arguments: argparse.Namespace, tokens: int) -> tuple[float, float]:
    """Median of the "Tokens per Sec" that it logs, the first time left out; and its peak MiB."""
    python, file = arguments.joeynmt
    config = yaml.safe_load(Path(file).read_text("utf-8"))
    updates = arguments.joeynmt_updates
    config["training"] |= {
        "batch_size": tokens, "updates": updates, "logging_freq": max(1, updates // 6),
        "validation_freq": 10 * updates,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        config["model_dir"] = f"{folder}/model"
        (Path(folder) / "bench.yaml").write_text(yaml.safe_dump(config), "utf-8")
        command = [python, "-m", "joeynmt", "train", f"{folder}/bench.yaml", "--skip-test"]
        _, peak = run(command, Path(file).parent, quiet=True)
        log = (Path(folder) / "model" / "train.log").read_text("utf-8")
    rates = [float(rate) for rate in re.findall(r"Tokens per Sec:\s+([\d.]+)", log)]
    if len(rates) < 2:
        raise SystemExit(f"JoeyNMT logged no tokens per second: {log[-500:]}")
    return statistics.median(rates[1:]), peak


def run(command: list[str], folder: Path | None = None, quiet: bool = False) -> tuple[str, float]:
    """What a command prints, and its peak resident memory in MiB."""
    with tempfile.TemporaryFile("w+") as out:
        err = subprocess.DEVNULL if quiet else None
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        return out.read(), usage.ru_maxrss / 1024


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """mt's own trainer on the reference recipe, in this process."""
    import torch

    from mt.config_file import load_config
    from mt.training.data import load_training_data
    from mt.training.trainer import Trainer

    root = Path(__file__).parents[1]
    overrides = [
        f"data.source={Path(arguments.rows).absolute()}",
        "data.valid_size=0",
        "training.batch_size=null",
        f"training.batch_tokens={arguments.batch_tokens}",
        f"training.max_steps={arguments.steps + WARM_UP}",
        "training.save_every=1000000 steps",
        *arguments.set,
    ]
    config = load_config(root / "configs" / "opus_books_en_it.yaml", overrides)
    data = load_training_data(config)
    machine = matrix_rate()
    from mt.model.build import build_model

    model = build_model(config.model, data.src.vocab_size, data.tgt.vocab_size, config.seed)
    trainer = Trainer(
        config, model, data.train, None, device=torch.device("cpu"), dtype=torch.float32,
        decode=None, save=lambda *_: None,
    )  # fmt: skip
    plan = trainer.plan(0)
    work = work_of_steps(trainer.train_data.lengths, (plan[i] for i in range(len(plan))), model)
    tokens = seconds = flops = 0.0
    start = time.perf_counter()
    for number, result in enumerate(trainer.fit()):
        end = time.perf_counter()
        if number >= WARM_UP:
            tokens += result.tokens
            seconds += end - start
            flops += work[number]
        start = time.perf_counter()
    return {
        "rate": tokens / seconds,
        "step_seconds": seconds / arguments.steps,
        "gflops": flops / seconds / 1e9,
        "machine": machine,
    }


def matrix_rate(size: int = 2048) -> float:
    """GFLOP/s of fp32 matrix products, the best of five."""
    import torch

    a, b = torch.randn(size, size), torch.randn(size, size)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        torch.mm(a, b)
        best = max(best, 2 * size**3 / (time.perf_counter() - start) / 1e9)
    return best


def work_of_steps(lengths: object, batches: Iterator[object], model: object) -> list[float]:
    """Floating-point operations of each step that the model's arithmetic needs, real tokens only.

    Forward and backward of a matrix product cost 6 operations a weight and token; attention over
    n places adds 12 D n a token and layer. Padding is not counted: it is no useful work.
    """
    from torch import nn

    weights = {"encoder": 0, "decoder": 0, "memory": 0}
    for name, module in model.named_modules():  # type: ignore[attr-defined]
        if isinstance(module, nn.Linear):
            side = "memory" if "key_value" in name and "cross" in name else name.split(".")[0]
            weights["decoder" if side == "projection" else side] += module.weight.numel()
    d_model = model.projection.in_features  # type: ignore[attr-defined]
    depth = len(model.encoder), len(model.decoder)  # type: ignore[attr-defined]
    steps = []
    for rows in batches:
        src, tgt = lengths[rows].astype(float).T  # type: ignore[index]
        tgt = tgt - 1
        products = (weights["encoder"] + weights["memory"]) * src.sum() + weights[
            "decoder"
        ] * tgt.sum()
        # Over half the square in the decoder, as no token sees a later one.
        looks = depth[0] * (src**2).sum() + depth[1] * ((tgt**2).sum() / 2 + (tgt * src).sum())
        steps.append(6 * products + 12 * d_model * looks)
    return steps


if __name__ == "__main__":
    main()
