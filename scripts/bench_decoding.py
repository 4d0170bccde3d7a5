"""Translates one test file with one model in several ways, and prints how fast each is.

    python scripts/bench_decoding.py --model weights/mine --rows test.jsonl

Sides: mt on torch; mt on CTranslate2, in float32 and int8, exported here; CTranslate2 called
directly with the same batches, without what mt adds (alignments for unknown words, ranking of its
own); greedy decoding one by one without a cache, the whole prefix through the decoder at every
step, as plain tutorials do it; and JoeyNMT, if --joeynmt gives its Python and a config whose model
is as large. Each measurement is a process of its own; sides alternate, --repeats times. Speeds are
of searching, tokenizing and detokenizing, without the start, which is measured by itself. Printed
are medians, and ratios as medians over the repeats.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

OURS = ("mt torch", "mt CTranslate2", "mt CTranslate2 int8")
DIRECT = ("CTranslate2 directly", "CTranslate2 directly int8")
NAIVE, JOEY = "one by one, no cache", "JoeyNMT"


@dataclass(frozen=True)
class Job:
    """One measurement to make."""

    side: str
    beam: int
    batch: int


@dataclass
class Figures:
    """What came of it."""

    rate: float  # sentences a second
    tokens: float  # target tokens a second
    peak: float = 0.0  # MiB


def main() -> None:
    arguments = parse()
    if arguments.child:
        print(json.dumps(asdict(measure(Job(**json.loads(arguments.child)), arguments))))
        return
    with tempfile.TemporaryDirectory(prefix="mt-bench-") as name:
        arguments.exports = name
        export(arguments)
        print(conditions(arguments), flush=True)
        sizes = {job: best_batch(job, arguments) for job in searches(arguments)}
        found: dict[Job, list[Figures]] = defaultdict(list)
        for _ in range(arguments.repeats):  # sides alternate
            for (side, beam), best in sizes.items():
                for batch in sorted({1, best}):
                    job = Job(side, beam, batch)
                    found[job].append(run(job, arguments))
        starts = {side: cold_start(side, arguments) for side in (*OURS, *joey(arguments))}
    print(table(found))
    print(start_table(starts))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="a model folder")
    parser.add_argument("--rows", help="JSON lines with a nested translation")
    parser.add_argument("--src", help="or a file of sentences, one a line")
    parser.add_argument("--sentences", type=int, default=500, help="so many are translated")
    parser.add_argument("--slow-sentences", type=int, default=100, help="one by one, no cache")
    parser.add_argument("--batches", default="16,64,256", help="sizes of which the best is taken")
    parser.add_argument("--beams", default="1,5")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--joeynmt",
        nargs=2,
        metavar=("PYTHON", "CONFIG"),
        help="a path to its interpreter, and a config with testing.load_model or a model_dir",
    )
    parser.add_argument("--exports", default="", help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def searches(arguments: argparse.Namespace) -> list[tuple[str, int]]:
    """Side and beam size of all that is compared."""
    beams = list(map(int, arguments.beams.split(",")))
    sides = (*OURS, *DIRECT, *joey(arguments))
    return [(NAIVE, 1), *((side, beam) for beam in beams for side in sides)]


def joey(arguments: argparse.Namespace) -> tuple[str, ...]:
    return (JOEY,) if arguments.joeynmt else ()


def conditions(arguments: argparse.Namespace) -> str:
    sentences = read(arguments)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return (
        f"{len(sentences)} sentences of {arguments.rows or arguments.src}, {arguments.threads} "
        f"threads, {arguments.repeats} repeats, load at the start {load:.1f}"
    )


def read(arguments: argparse.Namespace, most: int | None = None) -> list[str]:
    path = Path(arguments.rows or arguments.src)
    with path.open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line, _ in zip(file, range(arguments.sentences))]  # noqa: B905
    if arguments.rows:
        config = json_config(arguments)
        lines = [json.loads(line)["translation"][config.data.src] for line in lines]
    return lines[:most]


def json_config(arguments: argparse.Namespace) -> Any:
    from mt.storage.model_folder import ModelFolder

    return ModelFolder(Path(arguments.model)).read_config()


def export(arguments: argparse.Namespace) -> None:
    for kind in ("float32", "int8"):
        subprocess.run(
            [sys.executable, "-m", "mt", "export", "--format", "ctranslate2", "--model",
             arguments.model, "--quantization", kind, "--output", f"{arguments.exports}/{kind}"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip


def best_batch(search: tuple[str, int], arguments: argparse.Namespace) -> int:
    """The batch size with which a search is fastest, of those to try."""
    if search[0] == NAIVE:
        return 1
    if search[0] == JOEY:
        return 0  # as its config says
    sizes = list(map(int, arguments.batches.split(",")))
    return max(sizes, key=lambda size: run(Job(*search, size), arguments).rate)


def run(job: Job, arguments: argparse.Namespace) -> Figures:
    """Measures in a process of its own."""
    if job.side == JOEY:
        return run_joey(job, arguments)
    command = [sys.executable, __file__, "--child", json.dumps(asdict(job))]
    for name in ("model", "rows", "src", "sentences", "slow_sentences", "threads", "exports"):
        if (value := getattr(arguments, name)) is not None:
            command += [f"--{name.replace('_', '-')}", str(value)]
    output, peak, _ = timed(command, arguments)
    return Figures(**{**json.loads(output.splitlines()[-1]), "peak": peak})


def timed(
    command: list[str], arguments: argparse.Namespace, text: str = "", folder: Path | None = None
) -> tuple[str, float, float]:
    """What a command prints, its peak memory in MiB, and its seconds."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as given:
        given.write(text)
        given.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=given, stdout=out, stderr=subprocess.DEVNULL if text else None,
            env=environment, cwd=folder,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        return out.read(), usage.ru_maxrss / 1024, seconds


def measure(job: Job, arguments: argparse.Namespace) -> Figures:
    """In the child: one search over all sentences, after one sentence to warm up."""
    sentences = read(arguments, arguments.slow_sentences if job.side == NAIVE else None)
    if job.side == NAIVE:
        translate = naive(arguments)
    elif job.side in DIRECT:
        translate = direct(job, arguments)
    else:
        translate = ours(job, arguments)
    translate(sentences[:1])
    start = time.perf_counter()
    tokens = translate(sentences)
    seconds = time.perf_counter() - start
    return Figures(len(sentences) / seconds, tokens / seconds)


def folder_of(side: str, arguments: argparse.Namespace) -> str:
    """The model folder that a side reads."""
    if "CTranslate2" not in side:
        return str(arguments.model)
    return f"{arguments.exports}/{'int8' if 'int8' in side else 'float32'}"


def ours(job: Job, arguments: argparse.Namespace) -> Any:
    """A function that translates with `mt` as the command does, and gives the number of tokens."""
    from mt.cli.main import build_parser
    from mt.cli.translate import load_translator

    options = ["translate", "--model", folder_of(job.side, arguments), "--device", "cpu"]
    translator = load_translator(
        build_parser().parse_args([*options, "--beam-size", str(job.beam)])
    )

    def translate(sentences: list[str]) -> int:
        found = translator.translate(sentences, job.batch)
        return sum(len(one.alternatives[0].hypothesis.ids) for one in found if one.alternatives)

    return translate


def direct(job: Job, arguments: argparse.Namespace) -> Any:
    """The same batches, given to CTranslate2 itself."""
    import ctranslate2

    from mt.data.frame import FRAME, frame
    from mt.decoding.engine import Search
    from mt.decoding.translator import batches
    from mt.storage.model_folder import ModelFolder
    from mt.text.cleaning import normalize

    folder = ModelFolder(Path(folder_of(job.side, arguments)))
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    library = ctranslate2.Translator(str(folder.path), device="cpu")
    search, limit = Search.of(config.decoding), config.data.max_length - FRAME
    tokens, ids = list(src.vocabulary), tgt.vocabulary

    def translate(sentences: list[str]) -> int:
        framed = [frame(src.encode(normalize(text))[:limit]) for text in sentences]
        total = 0
        for chosen in batches(list(map(len, framed)), job.batch):
            longest = max(search.max_length(len(framed[i]) - FRAME, limit) for i in chosen)
            results = library.translate_batch(
                [[tokens[k] for k in framed[i]] for i in chosen], beam_size=job.beam,
                patience=search.patience if job.beam > 1 else 1, max_input_length=0,
                max_decoding_length=longest, length_penalty=search.length_penalty,
            )  # fmt: skip
            for result in results:
                found = [ids[token] for token in result.hypotheses[0]]
                tgt.decode(found)
                total += len(found)
        return total

    return translate


def naive(arguments: argparse.Namespace) -> Any:
    """Greedy, one sentence at a time; every step reads the whole prefix again."""
    import torch

    from mt.data.frame import FRAME, frame
    from mt.decoding.engine import Search
    from mt.decoding.torch_engine import TorchEngine
    from mt.storage.model_folder import ModelFolder
    from mt.text.cleaning import normalize
    from mt.text.tokenizer import EOS_ID, SOS_ID

    folder = ModelFolder(Path(arguments.model))
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    model = TorchEngine.load(folder, config, src, tgt, torch.device("cpu")).model
    search, limit = Search.of(config.decoding), config.data.max_length - FRAME

    def translate_one(text: str) -> int:
        framed = frame(src.encode(normalize(text))[:limit])
        memory = model.encode(torch.as_tensor(framed, dtype=torch.long)[None], None)
        said = torch.tensor([[SOS_ID]])
        for _ in range(search.max_length(len(framed) - FRAME, limit)):
            features = model.advance(said, model.start(memory, None))  # (1, T, D)
            best = model.projection(features[:, -1]).argmax(-1)
            if int(best) == EOS_ID:
                break
            said = torch.cat([said, best[None]], dim=1)
        tgt.decode(said[0, 1:].tolist())
        return said.shape[1] - 1

    @torch.inference_mode()
    def translate(sentences: list[str]) -> int:
        return sum(map(translate_one, sentences))

    return translate


def run_joey(job: Job, arguments: argparse.Namespace) -> Figures:
    """`joeynmt translate` of all sentences, less the time that it takes for one."""
    sentences = read(arguments)
    out, peak, seconds = joey_translates(sentences, job, arguments)
    _, _, start = joey_translates(sentences[:1], job, arguments)
    seconds -= start
    from mt.storage.model_folder import ModelFolder

    folder = ModelFolder(Path(arguments.model))
    _, tgt = folder.tokenizers(folder.read_config())  # tokens of one kind for all sides
    tokens = sum(len(tgt.encode(line)) for line in out.splitlines()[-len(sentences) :])
    return Figures(len(sentences) / seconds, tokens / seconds, peak)


def joey_translates(
    sentences: list[str], job: Job, arguments: argparse.Namespace
) -> tuple[str, float, float]:
    import yaml

    python, given = arguments.joeynmt
    config = yaml.safe_load(Path(given).read_text(encoding="utf-8"))
    config["testing"]["beam_size"] = job.beam
    if job.batch:
        config["testing"] |= {"batch_size": job.batch, "batch_type": "sentence"}
    path = Path(arguments.exports) / "joeynmt.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    text = "".join(f"{sentence}\n" for sentence in sentences)
    command = [str(Path(python).absolute()), "-m", "joeynmt", "translate", str(path)]
    return timed(command, arguments, text, Path(given).absolute().parent)


def cold_start(side: str, arguments: argparse.Namespace) -> float:
    """Seconds of a whole process that translates one sentence, the median."""
    sentence = read(arguments)[0]

    def once() -> float:
        if side == JOEY:
            return joey_translates([sentence], Job(side, 1, 0), arguments)[2]
        command = [sys.executable, "-m", "mt", "translate", "--device", "cpu", "--model",
                   folder_of(side, arguments), "--", sentence]  # fmt: skip
        return timed(command, arguments)[2]

    return statistics.median(once() for _ in range(arguments.repeats))


def table(found: dict[Job, list[Figures]]) -> str:
    """Speeds as Markdown, each beside its ratio to decoding without a cache and to JoeyNMT."""
    rows = ["| search | batch | side | sentences/s | target tokens/s | times no cache | "
            "times JoeyNMT | peak MiB |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for job in sorted(found, key=lambda job: (job.beam, job.batch != 1, job.side)):
        figures = found[job]
        alone = found[Job(NAIVE, 1, 1)] if job.beam == 1 else []
        other = found.get(Job(JOEY, job.beam, 1 if job.batch == 1 else 0), [])
        rate, tokens, peak = (
            statistics.median(getattr(one, name) for one in figures)
            for name in ("rate", "tokens", "peak")
        )
        rows.append(
            f"| {'greedy' if job.beam == 1 else f'beam {job.beam}'} | {job.batch or 'its own'} | "
            f"{job.side} | {rate:.1f} | {tokens:.0f} | {ratio(figures, alone)} | "
            f"{ratio(figures, other)} | {peak:.0f} |"
        )
    return "\n".join(rows)


def ratio(figures: list[Figures], others: list[Figures]) -> str:
    if not others:
        return "–"
    pairs = zip(figures, others, strict=True)
    return f"{statistics.median(one.rate / other.rate for one, other in pairs):.2f}"


def start_table(starts: dict[str, float]) -> str:
    rows = ["", "| side | one sentence, whole process, s |", "|---|---|"]
    return "\n".join([*rows, *(f"| {side} | {seconds:.2f} |" for side, seconds in starts.items())])


if __name__ == "__main__":
    main()
