"""The record of a run, runs/<name>: what its files are called, and reading metrics.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

RUNS = Path("runs")
METRICS_FILE = "metrics.jsonl"
LOG_FILE = "train.log"
TAIL = 1 << 16  # bytes of the end that `last_metrics` reads


def read_metrics(folder: Path) -> list[dict[str, object]]:
    """The lines of a run's metrics.jsonl; a last line that was cut off is left out."""
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def last_metrics(folder: Path) -> list[dict[str, object]]:
    """The last lines of metrics.jsonl, however long it is. Raises ValueError, and OSError."""
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    with path.open("rb") as file:
        start = max(0, path.stat().st_size - TAIL)
        file.seek(start)
        lines = file.read().split(b"\n")[:-1]
    return [json.loads(line) for line in lines[1 if start else 0 :]]
