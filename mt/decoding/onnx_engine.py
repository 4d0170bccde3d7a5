"""OnnxEngine: greedy search by onnxruntime over an exported model; torch is never imported.

Letters: B sentences, R rows not yet finished, S source length, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from mt.data.ragged import Ids
from mt.decoding.engine import Attention, Hypothesis, Search
from mt.errors import UserError
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]


class OnnxEngine:
    """A model that `mt export --format onnx` wrote, on the CPU."""

    def __init__(self, folder: ModelFolder, device: str) -> None:
        """Raises UserError for another device than the CPU, and for files that are damaged."""
        if device not in ("auto", "cpu"):
            raise UserError(f"--device {device}: --engine onnx runs on cpu; choose --engine torch")
        self._encoder = _session(folder, "encoder.onnx")
        self._decoder = _session(folder, "decoder.onnx")

    def search(
        self,
        framed: Sequence[Ids],
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`. Raises UserError for all but greedy search."""
        _check(search, prefixes)
        src = np.full((len(framed), max(map(len, framed))), PAD_ID, dtype=np.int64)  # (B, S)
        for row, ids in zip(src, framed, strict=True):
            row[: len(ids)] = ids
        hypotheses = [Hypothesis([], 0.0, cut=False) for _ in framed]
        self._fill(hypotheses, src, np.array(max_lengths), search)
        for hypothesis in hypotheses:
            count = len(hypothesis.token_log_probabilities)
            hypothesis.log_probability = sum(hypothesis.token_log_probabilities)
            hypothesis.score = hypothesis.log_probability / search.penalty(max(1, count))
        return [[hypothesis] for hypothesis in hypotheses]

    def score(self, framed: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """Raises UserError: that is not built."""
        raise UserError(
            "--engine onnx does not score translations; choose --engine torch or ctranslate2"
        )

    def attention(self, framed: Ids, target: Ids) -> Attention:
        """Raises UserError: the graph gives the mean over layers and heads alone."""
        raise UserError(
            "--engine onnx does not show the attention of each layer and head; choose "
            "--engine torch"
        )

    def _fill(
        self, hypotheses: list[Hypothesis], src: Whole, max_lengths: Whole, search: Search
    ) -> None:
        """Greedy search; rows that are finished leave the batch."""
        (cross,) = self._encoder.run(None, {"src": src})
        past = np.zeros((*cross.shape[:4], 0, cross.shape[5]), np.float32)
        rows = np.arange(len(src))  # (R,) which sentence a row is
        last = np.full((len(src), 1), SOS_ID)  # (R, 1)
        never = [PAD_ID, SOS_ID, *search.banned]
        length = 0
        while len(rows):
            logits, past, attention = self._decoder.run(
                None, {"tgt": last, "src": src[rows], "cross": cross, "past": past}
            )
            scores = _log_softmax(logits[:, -1])  # (R, V)
            scores[:, never if length else [*never, EOS_ID]] = -np.inf
            token = scores.argmax(axis=1)  # (R,)
            gains = scores[np.arange(len(rows)), token]
            full = length >= max_lengths[rows]
            if search.align:
                _note_places(hypotheses, rows, attention[:, -1], src[rows])
            going = _append(hypotheses, rows, token, gains, full)
            rows, cross, past, last = rows[going], cross[going], past[going], token[going, None]
            length += 1


def _note_places(hypotheses: list[Hypothesis], rows: Whole, attention: Floats, src: Whole) -> None:
    """Writes down which of src (R, S), SOS, EOS and padding aside, each row looks at most."""
    words = ~np.isin(src, (PAD_ID, SOS_ID, EOS_ID))
    for row, place in zip(rows, np.where(words, attention, -1).argmax(axis=1), strict=True):
        hypotheses[row].alignment.append(int(place))


def _append(
    hypotheses: list[Hypothesis], rows: Whole, token: Whole, gains: Floats, full: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Writes down the newest token of each row; which rows go on."""
    for row, new, gain, out_of_room in zip(rows, token, gains, full, strict=True):
        hypothesis = hypotheses[row]
        if new == EOS_ID or out_of_room:  # no id, and what it looked at is of no use
            del hypothesis.alignment[len(hypothesis.ids) :]
        if new != EOS_ID and out_of_room:
            hypothesis.cut = True
            continue
        hypothesis.token_log_probabilities.append(float(gain))
        if new != EOS_ID:
            hypothesis.ids.append(int(new))
    going: NDArray[np.bool_] = (token != EOS_ID) & ~full
    return going


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    difference: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return difference


def _check(search: Search, prefixes: Sequence[Sequence[int]]) -> None:
    """Raises UserError, naming the first thing asked for that is more than greedy search."""
    greedy = Search()
    free = {
        "length_penalty",
        "length_normalization",
        "patience",
        "max_length_ratio",
        "banned",
        "align",
        "scored",
    }
    asked = [
        name
        for name, value in vars(search).items()
        if name not in free and value != getattr(greedy, name)
    ]
    if any(len(prefix) for prefix in prefixes):
        asked.append("prefix")
    if asked:
        names = ", ".join(name.replace("_", " ") for name in asked)
        raise UserError(
            f"--engine onnx is for greedy search alone, without {names}; "
            "choose --engine torch or ctranslate2"
        )


def _session(folder: ModelFolder, name: str) -> Any:
    path = folder.path / name
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has a class of its own for each mishap
        raise UserError(
            f"{path.absolute()}: onnxruntime cannot use it ({str(error).splitlines()[0]}); "
            "run `mt export --format onnx` again"
        ) from None
