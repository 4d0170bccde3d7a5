"""One table of what the reference recipe does on a device; `scripts/gpu_check.sh` starts it.

With `--device cpu --small` everything in it that needs no GPU runs with a tiny model, in seconds.
Exit status 1 if a check fails.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Dense bf16 matrix products, TFLOP/s, as the makers state them; the first name that fits counts.
NOMINAL = {"H200": 989, "H100 PCIe": 756, "H100": 989, "A100": 312, "L40S": 362, "L4": 121}
VOCABULARY = (15_698 - 4, 22_463 - 4)  # words of the reference recipe, special tokens not counted
RECIPE = Path(__file__).parents[1] / "configs" / "opus_books_en_it.yaml"
SMALL = [
    "model.num_layers=1", "model.d_model=32", "model.num_heads=4", "model.d_ff=64",
    "training.lr=1e-3",
]  # fmt: skip


class Row(NamedTuple):
    """A line of the table; `good` is None where there is nothing to judge."""

    what: str
    result: str
    good: bool | None = None


class Scale(NamedTuple):
    """How much is done."""

    rows: int
    words: tuple[int, int]  # of each language
    mean: float  # words of a sentence
    longest: int
    batch_tokens: int
    warm_up: int  # steps not counted
    seconds: float  # of each measurement
    resumed_steps: int
    sentences: int
    matrix: int
    backend: str  # of torch.compile


FULL = Scale(30_000, VOCABULARY, 25, 307, 16_384, 10, 10.0, 6, 8, 8192, "inductor")
TINY = Scale(300, (120, 150), 7, 18, 256, 1, 0.0, 6, 4, 256, "eager")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="a tiny model, in seconds")
    parser.add_argument("--rows", help="pairs, as JSON lines with a nested translation")
    parser.add_argument("--keep", metavar="FOLDER", help="work there, and leave it")
    arguments = parser.parse_args()
    rows = Path(arguments.rows).absolute() if arguments.rows else None
    with tempfile.TemporaryDirectory(prefix="mt-gpu-check-") as temporary:
        folder = Path(arguments.keep or temporary).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["HF_HOME"] = str(folder / "cache")  # before the libraries are imported
        os.chdir(folder)
        check = Check(arguments.device, TINY if arguments.small else FULL, rows)
        since = time.perf_counter()
        table = [row for part in check.parts() for row in attempt(part)]
        table.append(Row("time of all checks", f"{time.perf_counter() - since:.0f} s"))
        os.chdir("/")
    print_table(table)
    return int(any(row.good is False for row in table))


def attempt(part: Callable[[], Iterator[Row]]) -> list[Row]:
    """The rows of a part; if it fails, those so far and one that says so."""
    rows = []
    name, since = part.__name__.replace("_", " "), time.perf_counter()
    try:
        for row in part():
            rows.append(row)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        rows.append(Row(name, reason[:100], good=False))
    print(f"{name}: {time.perf_counter() - since:.1f} s", file=sys.stderr, flush=True)
    return rows


def print_table(rows: list[Row]) -> None:
    width = [max(len(row[i]) for row in rows) for i in range(2)]  # type: ignore[arg-type]
    for row in rows:
        verdict = {True: "ok", False: "FAILED", None: ""}[row.good]
        print(f"{row.what:{width[0]}}  {row.result:{width[1]}}  {verdict}".rstrip())


class Check:
    """The checks on one device, in the current folder."""

    def __init__(self, device: str, scale: Scale, rows: Path | None) -> None:
        from mt.model.device import resolve_device

        self.device = resolve_device(device)
        self.scale = scale
        self.rows = rows or write_rows(Path("pairs.jsonl"), scale)
        self.rate = 0.0  # of matrix products, FLOP/s

    def parts(self) -> list[Callable[[], Iterator[Row]]]:
        return [
            self.machine, self.speed, self.speed_compiled, self.checkpoint_on_cpu,
            self.deterministic_resume, self.memory_that_does_not_suffice,
        ]  # fmt: skip

    def config(self, *overrides: str) -> Any:
        """The reference recipe on the rows at hand."""
        from mt.config_file import load_config

        return load_config(
            RECIPE,
            [
                f"data.source={self.rows}", "data.subset=null", "data.valid_size=0",
                f"device={self.device}", "training.epochs=1000",
                "training.save_every=1000000 steps", "training.log_every=1000000",
                *(SMALL if self.scale is TINY else []), *overrides,
            ],
        )  # fmt: skip

    def by_tokens(self, *overrides: str) -> Any:
        tokens = f"training.batch_tokens={self.scale.batch_tokens}"
        return self.config("training.batch_size=null", tokens, *overrides)

    def trainer(self, config: Any) -> Any:
        """A trainer alone: no validation, no files."""
        from mt.model.build import build_model
        from mt.model.device import resolve_precision
        from mt.training.data import load_training_data
        from mt.training.trainer import Trainer

        data = load_training_data(config)
        model = build_model(config.model, data.src.vocab_size, data.tgt.vocab_size, config.seed)
        return Trainer(
            config, model.to(self.device), data.train, None, device=self.device,
            dtype=resolve_precision(config.training.precision, self.device), decode=None,
            save=lambda *_: None,
        )  # fmt: skip

    def machine(self) -> Iterator[Row]:
        import torch

        from mt.model.build import count_parameters

        trainer = self.trainer(self.config())
        self.rate = matrix_rate(self.device, trainer.dtype, self.scale.matrix)
        yield Row("device", f"{name_of(self.device)}, torch {torch.__version__}")
        lengths = trainer.train_data.lengths
        yield Row(
            "pairs",
            f"{len(lengths):,}, {lengths[:, 1].mean() - 2:.1f} target tokens on average, "
            f"longest side {lengths.max() - 2}",
        )
        yield Row("model", f"{count_parameters(trainer.model) / 1e6:.2f} M parameters")
        kind = str(trainer.dtype).removeprefix("torch.")
        stated = nominal(self.device)
        share = f", {self.rate / stated / 1e12:.0%} of the card's stated {stated}" if stated else ""
        yield Row(f"{kind} matrix products", f"{self.rate / 1e12:.3g} TFLOP/s measured{share}")

    def speed(self) -> Iterator[Row]:
        yield self.measured("batches of 8 pairs", self.config())
        yield self.measured(f"batches of {self.scale.batch_tokens:,} places", self.by_tokens())

    def speed_compiled(self) -> Iterator[Row]:
        # Dropout on CPUs is mt's own and not made to be compiled; on GPUs it is torch's.
        plain = ["model.dropout=0"] if self.device.type == "cpu" else []
        yield self.measured("batches of 8 pairs, compiled", self.config(*plain), compiled=True)
        what = f"batches of {self.scale.batch_tokens:,} places, compiled"
        yield self.measured(what, self.by_tokens(*plain), compiled=True)

    def measured(self, what: str, config: Any, compiled: bool = False) -> Row:
        """Tokens a second, and the share of the measured matrix products that is useful work."""
        from bench_training import work_of_steps

        trainer = self.trainer(config)
        if compiled:
            compile_model(trainer.model, self.scale.backend)
        plan = trainer.plan(0)
        work = work_of_steps(
            trainer.train_data.lengths, (plan[i] for i in range(len(plan))), trainer.model
        )
        reset_peak(self.device)
        tokens = flops = 0.0
        since = 0.0
        # A batch without padding compiles anew, for one.
        warm_up = 3 * self.scale.warm_up if compiled else self.scale.warm_up
        for number, result in enumerate(trainer.fit()):
            if number < warm_up:
                since = now(self.device)
                continue
            tokens += result.tokens
            flops += work[number % len(work)]  # later epochs hold other batches of the same pairs
            seconds = now(self.device) - since
            if seconds > self.scale.seconds:
                break
        stated = nominal(self.device)
        shares = [f"{flops / seconds / self.rate:.0%} of measured"]
        shares += [f"{flops / seconds / stated / 1e12:.0%} of stated"] if stated else []
        return Row(
            what,
            f"{tokens / seconds:,.0f} target tokens/s, {flops / seconds / 1e12:.3g} TFLOP/s "
            f"({', '.join(shares)}), peak {peak(self.device)}",
            good=bool(np.isfinite(result.loss)),
        )

    def checkpoint_on_cpu(self) -> Iterator[Row]:
        """Trained and saved on the device, read and translated with on a CPU."""
        import torch

        from mt.decoding.torch_engine import TorchEngine, open_translator

        run = self.train("moved", 4)
        own = {n: p.detach().cpu() for n, p in run.trainer.model.named_parameters()}
        moved = open_translator(run.folder, torch.device("cpu"))
        assert isinstance(moved.engine, TorchEngine)
        other = dict(moved.engine.model.named_parameters())
        same = all(torch.equal(own[name], other[name]) for name in own)
        yield Row("checkpoint read on a CPU", "weights equal" if same else "weights differ", same)
        texts = run.data.corpus.splits["train"][: self.scale.sentences]["src"]
        there = open_translator(run.folder, self.device)
        pairs = zip(there.translate(texts), moved.translate(texts), strict=True)
        count = sum(a.text == b.text for a, b in pairs)
        whole = f"{count} of {len(texts)} the same as on {self.device}"
        yield Row("translations there", whole, count == len(texts))

    def deterministic_resume(self) -> Iterator[Row]:
        """A run made in two halves against one made in one go, to the bit."""
        import torch

        from mt.storage.checkpoint import list_checkpoints, read_part

        steps = self.scale.resumed_steps
        torch.use_deterministic_algorithms(True)
        try:
            straight = self.train("straight", steps)
            self.train("halves", steps // 2)
            halves = self.train("halves", steps)
        finally:
            torch.use_deterministic_algorithms(False)
        assert halves.resumed_from == steps // 2
        ends = [list_checkpoints(run.folder.checkpoints)[-1] for run in (straight, halves)]
        for part in ("model", "optimizer"):
            a, b = (read_part(end, part) for end in ends)
            differ = [name for name in a if not torch.equal(a[name], b[name])]
            text = f"{len(differ)} of {len(a)} tensors differ" if differ else "equal to the bit"
            yield Row(f"resumed at step {steps // 2} of {steps}: {part}", text, not differ)

    def train(self, name: str, steps: int) -> Any:
        """A whole run, with its folders."""
        from mt.training.run import Run

        run = Run(self.by_tokens(f"name={name}", f"training.max_steps={steps}"))
        for _ in run.trainer.fit():
            pass
        run.close()
        return run

    def memory_that_does_not_suffice(self) -> Iterator[Row]:
        """The largest batch of the plan with enough memory and with too little: one gradient."""
        import torch

        from mt.data.plan import largest_batch

        trainer = self.trainer(self.by_tokens())
        trainer.model.eval()  # no dropout: it is drawn anew for each micro-batch
        plan, lengths = trainer.plan(0), trainer.train_data.lengths
        batch = trainer.train_data.batch(plan[largest_batch(lengths, plan)]).to(self.device)
        reset_peak(self.device)
        whole, _ = gradients(trainer, batch)
        yield Row(
            "largest batch",
            f"{len(batch.src)} pairs, {batch.places:,} places, peak {peak(self.device)}",
        )
        with scarce_memory(trainer.model, self.device, len(batch.src)):
            cut, times = gradients(trainer, batch)
        error = max(float((whole[n] - cut[n]).norm() / whole[n].norm().clamp_min(1e-12))
                    for n in whole)  # fmt: skip
        limit = 1e-4 if trainer.dtype == torch.float32 else 0.05
        yield Row(
            "out of memory",
            f"batch cut {times} times, gradient off by {error:.1e} of its size at most",
            times > 0 and error < limit,
        )


def compile_model(model: Any, backend: str) -> None:
    """What training calls of the model, compiled for any batch shape. To adapt when mt compiles."""
    import torch

    model.features = torch.compile(model.features, dynamic=True, backend=backend)


def gradients(trainer: Any, batch: Any) -> tuple[dict[str, Any], int]:
    """Those of one batch, on the CPU, and how often it was cut because memory did not suffice."""
    from mt.distributed import ALONE
    from mt.training.step import backward_in_memory

    cuts: list[str] = []
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: cuts.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mt").addHandler(listener)
    try:
        backward_in_memory(
            trainer.model, [batch], label_smoothing=0.1, scale=1 / batch.tokens,
            dtype=trainer.dtype, seed=(0, 0), world=ALONE,
        )  # fmt: skip
    finally:
        logging.getLogger("mt").removeHandler(listener)
    found = {n: p.grad.cpu() for n, p in trainer.model.named_parameters() if p.grad is not None}
    trainer.model.zero_grad(set_to_none=True)
    return found, sum("out of memory" in text for text in cuts)


@contextmanager
def scarce_memory(model: Any, device: Any, pairs: int) -> Iterator[None]:
    """Six tenths of what the last pass took; on a CPU, no more than half its pairs at once."""
    import torch

    if device.type == "cuda":
        idle = torch.cuda.memory_allocated(device)
        limit = idle + 0.6 * (torch.cuda.max_memory_allocated(device) - idle)
        torch.cuda.empty_cache()
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(limit / total, device)
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, device)
        return
    plain = model.features

    def limited(src: Any, *others: Any) -> Any:
        if len(src) > pairs // 2:
            raise MemoryError
        return plain(src, *others)

    model.features = limited
    yield
    model.features = plain


def matrix_rate(device: Any, dtype: Any, size: int) -> float:
    """FLOP/s of square matrix products, the best of five rounds of ten."""
    import torch

    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    torch.mm(a, b)
    best = 0.0
    for _ in range(5):
        since = now(device)
        for _ in range(10):
            torch.mm(a, b)
        best = max(best, 10 * 2 * size**3 / (now(device) - since))
    return best


def now(device: Any) -> float:
    """Seconds, when all that was asked of the device is done."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def name_of(device: Any) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def nominal(device: Any) -> int | None:
    """What the maker states, TFLOP/s; None for a card that is not in the list."""
    name = name_of(device)
    return next((rate for card, rate in NOMINAL.items() if card in name), None)


def reset_peak(device: Any) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak(device: Any) -> str:
    """The most memory: of the GPU since `reset_peak`, of the process on a CPU."""
    import torch

    from mt.training.clock import peak_memory

    if device.type == "cuda":
        return f"{torch.cuda.max_memory_allocated(device) / 2**30:.2f} GiB"
    return f"{peak_memory(device).get('memory/peak_mib', float('nan')):,.0f} MiB"


def write_rows(path: Path, scale: Scale) -> Path:
    """Invented words, in sentences as long as those of opus_books: many short, a few very long."""
    rng = np.random.default_rng(1)
    src = np.clip(rng.lognormal(np.log(scale.mean) - 0.32, 0.8, scale.rows), 1, scale.longest)
    src[0] = scale.longest
    tgt = np.clip(src * rng.normal(1.0, 0.1, scale.rows), 1, scale.longest)
    sides = [
        sentences(rng, lengths.round().astype(int), words)
        for lengths, words in zip((src, tgt), scale.words, strict=True)
    ]
    with path.open("w", encoding="utf-8") as file:
        for en, it in zip(*sides, strict=True):
            file.write(json.dumps({"translation": {"en": en, "it": it}}) + "\n")
    return path


def sentences(rng: Any, lengths: Any, words: int) -> Iterator[str]:
    """Each word twice at least, as the vocabulary asks; beyond that, by Zipf's law."""
    total = int(lengths.sum())
    shares = 1 / np.arange(1, words + 1)
    ids = rng.choice(words, size=total, p=shares / shares.sum())
    twice = np.repeat(np.arange(words), 2)[:total]
    ids[rng.choice(total, size=len(twice), replace=False)] = twice
    first = 0
    for length in lengths:
        yield " ".join(spell(int(i)) for i in ids[first : first + length])
        first += length


def spell(number: int) -> str:
    """A word of letters for each number: ba, be, …"""
    word = ""
    while True:
        number, syllable = divmod(number, 70)
        word += "bcdfghlmnprstv"[syllable // 5] + "aeiou"[syllable % 5]
        if not number:
            return word


if __name__ == "__main__":
    sys.exit(main())
