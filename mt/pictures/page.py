"""Attention as one HTML page that needs nothing else: a large map, and small ones to choose from.

Letters: L layers, H heads, T target tokens, S source tokens.
"""

from __future__ import annotations

import base64
import io
from html import escape

import numpy as np
from PIL import Image

from mt.decoding.attention import AttentionMaps
from mt.decoding.engine import Attention

BLUE = (59, 130, 246)  # of the small maps, to be seen on white and on black

STYLE = """
:root { color-scheme: light dark; --ink: #1c2026; --paper: #fff; --line: #dde1e8; --mark: 8 48 107 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --paper: #14171c; --line: #333a45; --mark: 120 180 255 }
}
body { margin: 2rem; font: 15px/1.4 system-ui, sans-serif; color: var(--ink);
       background: var(--paper) }
p { max-width: 45rem; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse }
th { font-weight: normal; padding: 2px 6px; text-align: right; white-space: nowrap;
     max-width: 14rem; overflow: hidden; text-overflow: ellipsis }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 14rem;
                overflow: hidden; text-overflow: ellipsis; display: inline-block }
thead th { vertical-align: bottom; padding: 6px 0; text-align: center }
td { width: 26px; min-width: 26px; height: 26px; padding: 0; border: 1px solid var(--line);
     background: rgb(var(--mark) / var(--w)) }
#maps { display: flex; flex-wrap: wrap; gap: 12px }
button { font: inherit; font-size: 12px; color: inherit; background: none; padding: 6px;
         border: 2px solid var(--line); border-radius: 6px; cursor: pointer }
button[aria-pressed=true] { border-color: rgb(var(--mark)) }
img { display: block; margin-top: 4px; image-rendering: pixelated }
"""

SCRIPT = """
const cells = [...document.querySelectorAll("td")];
const buttons = [...document.querySelectorAll("button")];
const bytes = Uint8Array.from(atob(document.getElementById("weights").textContent),
                              c => c.charCodeAt(0));
buttons.forEach((button, map) => button.addEventListener("click", () => {
  buttons.forEach(other => other.setAttribute("aria-pressed", other === button));
  document.getElementById("shown").textContent = button.innerText;
  const weights = bytes.subarray(map * cells.length, (map + 1) * cells.length);
  const most = Math.max(1, ...weights);
  cells.forEach((cell, i) => {
    cell.style.setProperty("--w", weights[i] / most);
    cell.title = cell.dataset.of + ": " + (weights[i] / 255).toFixed(2);
  });
}));
"""


def attention_page(maps: AttentionMaps, source: str, translation: str) -> str:
    """The whole page, as text."""
    layers, heads = maps.weights.shape[:2]
    named = [("mean", maps.mean)] + [
        (f"layer {i + 1}, head {j + 1}", maps.weights[i, j])
        for i in range(layers)
        for j in range(heads)
    ]
    bytes_ = b"".join(_as_bytes(weights).tobytes() for _, weights in named)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>attention: {escape(source)}</title><style>{STYLE}</style></head><body>
<p><b dir="auto">{escape(source)}</b><br><span dir="auto">{escape(translation)}</span></p>
<p>Where the model looked in the source (columns) as it said each token of the translation (rows).
The darkest cell of a map is its largest weight; point at a cell to read what it is.
Shown: <b id="shown">mean</b></p>
<div class="wide">{_table(maps)}</div>
<p>The mean, and each layer and head; choose one to see it large:</p>
<div id="maps">{"".join(_button(name, weights) for name, weights in named)}</div>
<script type="text/plain" id="weights">{base64.b64encode(bytes_).decode()}</script>
<script>{SCRIPT}</script>
</body></html>
"""


def _table(maps: AttentionMaps) -> str:
    head = "".join(f'<th title="{escape(t)}"><span>{escape(t)}</span></th>' for t in maps.src)
    most = float(maps.mean.max())
    rows = "".join(
        f'<tr><th title="{escape(said)}" dir="auto">{escape(said)}</th>'
        + "".join(_cell(t, said, w, most) for t, w in zip(maps.src, row, strict=True))
        + "</tr>\n"
        for said, row in zip(maps.tgt, maps.mean, strict=True)
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>\n{rows}</tbody></table>"


def _cell(token: str, said: str, weight: float, most: float) -> str:
    of = escape(f"{token} → {said}")
    return f'<td style="--w:{weight / most:.2f}" data-of="{of}" title="{of}: {weight:.2f}"></td>'


def _button(name: str, weights: Attention) -> str:
    """A small map, with the weights as opacity."""
    alpha = _as_bytes(weights / weights.max())
    pixels = np.empty((*alpha.shape, 4), np.uint8)
    pixels[..., :3], pixels[..., 3] = BLUE, alpha
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    scale = max(1, min(10, 160 // max(alpha.shape)))
    height, width = (scale * side for side in alpha.shape)
    data = base64.b64encode(file.getvalue()).decode()
    return (
        f'<button aria-pressed="{"true" if name == "mean" else "false"}">{name}'
        f'<img alt="" width="{width}" height="{height}" src="data:image/png;base64,{data}">'
        "</button>\n"
    )


def _as_bytes(weights: Attention) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    scaled = (np.clip(weights, 0, 1) * 255).round()
    return scaled.astype(np.uint8)
