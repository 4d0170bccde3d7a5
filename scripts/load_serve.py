"""Puts `mt serve` under the load of many clients, with batching and without, and measures.

    python scripts/load_serve.py --model weights/phrasebook --clients 50 --seconds 60

Each client sends the next sentence as soon as it has the translation of the last. Printed are
answers by status, latency, throughput, and how memory went in the second half; then the server is
told to stop under that load, and what was accepted must be answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression, quantiles
from subprocess import Popen
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))
from hostile_serve import memory, start

from mt.text.phrasebook import phrasebook

HEAD = (
    "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    "Content-Length: {}\r\n"
)
ONE_BY_ONE = ("--batch-tokens", "1", "--window", "0")


@dataclass
class Load:
    """What clients saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of each request that was answered 200
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds, MiB


async def client(port: int, sentences: list[str], until: float, load: Load, close: bool) -> None:
    """Asks until it is time; with `close` on a connection of its own each time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    n = 0
    while time.perf_counter() < until:
        if close and n:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:  # it has stopped listening
                load.statuses["refused"] += 1
                return
        body = json.dumps({"q": sentences[n % len(sentences)], "source": "en", "target": "it"})
        began = time.perf_counter()
        try:
            end = "Connection: close\r\n\r\n" if close else "\r\n"
            writer.write((HEAD.format(len(body)) + end + body).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        except (OSError, asyncio.IncompleteReadError):
            load.statuses["cut off"] += 1
            return
        status = head[9:12]
        load.statuses[status] += 1
        if status == "200":
            load.seconds.append(time.perf_counter() - began)
        if close:
            writer.close()
        n += 1
    writer.close()


async def watch(process: Popen[bytes], until: float, load: Load) -> None:
    began = time.perf_counter()
    while time.perf_counter() < until:
        load.memory.append((time.perf_counter() - began, memory(process)))
        await asyncio.sleep(0.5)


async def put_under_load(
    process: Popen[bytes], port: int, sentences: list[str], clients: int, seconds: float
) -> Load:
    load = Load()
    until = time.perf_counter() + seconds
    each = len(sentences) // clients
    own = [sentences[n * each : (n + 1) * each] for n in range(clients)]
    await asyncio.gather(
        *(client(port, sentences, until, load, close=False) for sentences in own),
        watch(process, until, load),
    )
    return load


async def stop_under_load(
    process: Popen[bytes], port: int, sentences: list[str], clients: int
) -> Load:
    """What clients saw that were asking as SIGTERM came."""
    load = Load()
    until = time.perf_counter() + 60
    each = len(sentences) // clients
    own = [sentences[n * each : (n + 1) * each] for n in range(clients)]
    asking = asyncio.gather(*(client(port, x, until, load, close=True) for x in own))
    await asyncio.sleep(2)
    process.send_signal(signal.SIGTERM)
    await asking
    return load


def show(name: str, load: Load, seconds: float) -> float:
    """Prints a line; the throughput."""
    cuts = quantiles(load.seconds, n=100)
    speed = len(load.seconds) / seconds
    half = load.memory[len(load.memory) // 2 :]
    slope = linear_regression(*zip(*half, strict=True)).slope * 60
    statuses = ", ".join(f"{status} × {n:,}" for status, n in sorted(load.statuses.items()))
    print(
        f"{name:12s} {speed:7.1f} requests/s   p50 {1000 * cuts[49]:6.0f} ms   p95 "
        f"{1000 * cuts[94]:6.0f} ms   memory {half[-1][1]:.0f} MiB, {slope:+.1f} MiB/min   "
        f"{statuses}",
        flush=True,
    )
    return speed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="an English-Italian model")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--engine", help="as of mt serve")
    arguments = parser.parse_args()
    sentences = [english for english, _ in phrasebook()["train"]]
    engine = ["--engine", arguments.engine] if arguments.engine else []
    speeds = []
    with TemporaryDirectory(prefix="mt-load-") as folder:
        for name, options in (("one by one", ONE_BY_ONE), ("together", ())):
            process, port = start(arguments.model, Path(folder), *engine, *options)
            load = asyncio.run(
                put_under_load(process, port, sentences, arguments.clients, arguments.seconds)
            )
            speeds.append(show(name, load, arguments.seconds))
            if name == "together":
                stop = asyncio.run(stop_under_load(process, port, sentences, arguments.clients))
                print("stopped under load:", dict(stop.statuses), "exit", process.wait(60))
            process.terminate()
            process.wait(60)
    print(f"together is {speeds[1] / speeds[0]:.1f} times as fast")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
