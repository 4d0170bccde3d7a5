"""A run as one HTML page that needs nothing else: facts, config, data, curves, samples, scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mt.errors import UserError
from mt.pictures.curves import Points
from mt.pictures.svg_curves import svg_curves
from mt.runs.curves import CURVES, Together
from mt.runs.facts import RunFacts
from mt.runs.summary import METRICS, summary
from mt.runs.table import spell_moment
from mt.storage.model_folder import ModelFolder
from mt.storage.record import read_metrics
from mt.text.report import report_from_dict

SAMPLES = "valid/samples"
STYLE = """
:root { color-scheme: light dark; --ink: #1c2026; --paper: #fff; --line: #dde1e8; --soft: #5b6472;
        --one: #1d4ed8; --two: #b45309 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --paper: #14171c; --line: #333a45; --soft: #a3adba; --one: #7db0ff;
          --two: #f2b05e }
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; font: 15px/1.5 system-ui, sans-serif;
       color: var(--ink); background: var(--paper) }
h2 { margin-top: 2.2rem; font-size: 1.15rem }
table { border-collapse: collapse; width: 100% }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); text-align: left;
         vertical-align: top; overflow-wrap: anywhere }
th { font-weight: 600; white-space: nowrap }
.wide { overflow-x: auto }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid var(--line); border-radius: 6px }
svg { width: 100%; height: auto }
svg text { font-size: 12px; fill: var(--soft) }
.grid { stroke: var(--line) }
polyline { fill: none; stroke-width: 1.6 }
.curve-0 { stroke: var(--one) } .curve-1 { stroke: var(--two) }
circle.curve-0 { fill: var(--one) } circle.curve-1 { fill: var(--two) }
.key-0 { color: var(--one) } .key-1 { color: var(--two) }
.soft { color: var(--soft) }
"""


def run_page(run: RunFacts, curves: Mapping[str, Points]) -> str:
    """The page, which tells times with their zone: it may be read elsewhere, and long after.

    Raises UserError if the record is damaged.
    """
    title = escape(f"{run.name}, a run of mt")
    parts = [
        f"<h1>{escape(run.name)}</h1>",
        _table((), list(summary(run, spell_moment))),
    ]
    for group in CURVES:
        parts += _picture(group, curves)
    parts += [*_scores(run), *_samples(run.record), *_data(run.model), *_config(run.model)]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _picture(group: Together, curves: Mapping[str, Points]) -> Iterator[str]:
    drawn = group.drawn(curves)
    yield f"<h2>{escape(group.title)}</h2>"
    if not any(curve.finite for curve in drawn):
        yield f'<p class="soft">{escape(group.without)}</p>'
        return
    key = " ".join(f'<b class="key-{i}">{escape(c.name)}</b>' for i, c in enumerate(drawn))
    yield f"<p>{key}</p>"
    yield svg_curves(group.title, drawn)


def _scores(run: RunFacts) -> Iterator[str]:
    yield "<h2>scores</h2>"
    rows = [
        (found.test_set + ("*" if found.stale else ""), f"{found.sentences:,}",
         METRICS.get(metric, metric), f"{value:.2f}", found.signatures.get(metric, ""))
        for found in run.tests.values()
        for metric, value in found.scores.items()
    ]  # fmt: skip
    if not rows:
        yield '<p class="soft">none yet: <code>mt evaluate</code> makes them</p>'
        return
    yield _table(("test set", "sentences", "metric", "score", "signature"), rows)
    if any(found.stale for found in run.tests.values()):
        yield '<p class="soft">* of an earlier checkpoint than the one that translates now</p>'


def _samples(record: Path | None) -> Iterator[str]:
    try:
        lines = [line for line in read_metrics(record) if SAMPLES in line] if record else []
    except (OSError, ValueError):
        raise UserError(f"the record of the run in {record} is damaged") from None
    yield "<h2>validation sentences, as they were translated</h2>"
    if not lines:
        yield '<p class="soft">none were translated (training.bleu_samples)</p>'
        return
    for line in (lines[:1] if len(lines) > 1 else []) + lines[-1:]:
        rows: Any = line[SAMPLES]
        yield f"<h3>step {int(str(line['step'])):,}</h3>"
        yield _table(list(rows[0]), [list(row.values()) for row in rows])


def _data(model: Path | None) -> Iterator[str]:
    yield "<h2>data</h2>"
    file = ModelFolder(model).data_file if model else None
    try:
        report: Any = json.loads(file.read_text(encoding="utf-8")) if file else None
        rows = list(report_from_dict(report).rows())
    except (OSError, ValueError, TypeError, KeyError):
        yield '<p class="soft">no report</p>'
        return
    yield _table((), rows)


def _config(model: Path | None) -> Iterator[str]:
    file = ModelFolder(model).config_file if model else None
    yield "<h2>config</h2>"
    if file is None or not file.is_file():
        yield '<p class="soft">none</p>'
        return
    yield f"<pre>{escape(file.read_text(encoding='utf-8'))}</pre>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], of: str) -> str:
        return "<tr>" + "".join(f"<{of}>{escape(str(cell))}</{of}>" for cell in cells) + "</tr>"

    head = f"<thead>{line(header, 'th')}</thead>" if header else ""
    body = "\n".join(line(row, "td") for row in rows)
    return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>'
