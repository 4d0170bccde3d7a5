"""A model as two ONNX graphs, encoder.onnx and decoder.onnx, over one file of weights.

Letters: B sentences, S source length, P target tokens so far, T target tokens more, L decoder
layers, H heads, C channels of a head, D model, V vocabulary.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from onnx import TensorProto

from mt.export.onnx_graph import Graph, Value, WeightsFile
from mt.export.parts import LAYER_NORM_EPSILON, Attention, Layer, Linear, Norm, Parts, Stack
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID, UNK_ID, Tokenizer

QUANTIZATIONS = ("float32",)
WEIGHTS = "weights.bin"


def write_onnx(parts: Parts, src: Tokenizer, tgt: Tokenizer, folder: Path) -> None:
    """Writes encoder.onnx, decoder.onnx, weights.bin and README.txt into `folder`."""
    with (folder / WEIGHTS).open("wb") as file:
        weights = WeightsFile(file, WEIGHTS)
        _Encoder(parts, weights).save(folder / "encoder.onnx")
        _Decoder(parts, weights).save(folder / "decoder.onnx")
    text = _README.format(
        src=src.language,
        tgt=tgt.language,
        layers=len(parts.decoder.layers),
        heads=parts.num_heads,
        channels=parts.d_model // parts.num_heads,
        vocab=tgt.vocab_size,
        longest=len(parts.positions),
        unk=UNK_ID,
        pad=PAD_ID,
        sos=SOS_ID,
        eos=EOS_ID,
    )
    (folder / "README.txt").write_text(text, encoding="utf-8")


class _Writer:
    """The operations that encoder and decoder share."""

    def __init__(self, parts: Parts, weights: WeightsFile) -> None:
        self.parts = parts
        self.graph = Graph(weights)
        self.channels = parts.d_model // parts.num_heads
        layers, heads = len(parts.decoder.layers), parts.num_heads
        self.kept: list[str | int] = ["B", layers, 2, heads]
        self.cross: Value = (TensorProto.FLOAT, [*self.kept, "S", self.channels])
        self.ids = TensorProto.INT64

    def embed(self, stack: Stack, ids: str, first: str, end: str, name: str) -> str:
        """ids (B, T) at the positions from `first` to before `end`: (B, T, D)."""
        graph = self.graph
        table = graph.weight(stack.embedding, f"{name}.embedding")
        scaled = graph.node(
            "Mul", graph.node("Gather", table, ids), graph.number(math.sqrt(self.parts.d_model))
        )
        positions = graph.weight(self.parts.positions, "positions")
        there = graph.node("Slice", positions, first, end, graph.whole([0]))
        return graph.node("Add", scaled, there)

    def padding(self, src: str) -> str:
        """What attention scores over src (B, S) get added: (B, 1, 1, S)."""
        hidden = self.graph.node("Equal", src, self.graph.whole(PAD_ID))
        added = self.graph.node(
            "Where", hidden, self.graph.number(-math.inf), self.graph.number(0.0)
        )
        return self.graph.node("Unsqueeze", added, self.graph.whole([1, 2]))

    def linear(self, linear: Linear, x: str, name: str) -> str:
        weight = self.graph.weight(linear.weight.T, f"{name}.weight")
        return self.biased(linear, self.graph.node("MatMul", x, weight), name)

    def biased(self, linear: Linear, x: str, name: str) -> str:
        if linear.bias is None:
            return x
        return self.graph.node("Add", x, self.graph.weight(linear.bias, f"{name}.bias"))

    def norm(self, norm: Norm | None, x: str, name: str) -> str:
        if norm is None:
            return x
        gamma = self.graph.weight(norm.gamma, f"{name}.gamma")
        beta = self.graph.weight(norm.beta, f"{name}.beta")
        return self.graph.node("LayerNormalization", x, gamma, beta, epsilon=LAYER_NORM_EPSILON)

    def before(self, layer: Layer, index: int, x: str, name: str) -> str:
        """What a sublayer reads."""
        return self.norm(layer.norms[index], x, f"{name}.norm{index}") if self.parts.pre_norm else x

    def after(self, layer: Layer, index: int, x: str, y: str, name: str) -> str:
        """The residual sum of what a sublayer read, x, and made, y."""
        total = self.graph.node("Add", x, y)
        return (
            total
            if self.parts.pre_norm
            else self.norm(layer.norms[index], total, f"{name}.norm{index}")
        )

    def heads(self, x: str, parts: int) -> list[str]:
        """(B, T, parts * D) to as many (B, H, T, C)."""
        shape = self.graph.whole([0, 0, parts, self.parts.num_heads, self.channels])
        apart = self.graph.node("Reshape", x, shape)
        moved = self.graph.node("Transpose", apart, perm=[2, 0, 3, 1, 4])
        return [self.graph.node("Gather", moved, self.graph.whole(i), axis=0) for i in range(parts)]

    def weights(self, q: str, k: str, added: str) -> str:
        """softmax(QKᵀ / √C + added): (B, H, T, S)."""
        graph = self.graph
        product = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = graph.node("Mul", product, graph.number(1 / math.sqrt(self.channels)))
        return graph.node("Softmax", graph.node("Add", scores, added), axis=-1)

    def mix(self, weights: str, v: str, attention: Attention, name: str) -> str:
        """Values by their weights and the output matrix: (B, T, D)."""
        graph = self.graph
        mixed = graph.node("Transpose", graph.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        joined = graph.node("Reshape", mixed, graph.whole([0, 0, self.parts.d_model]))
        return self.linear(attention.output, joined, f"{name}.output")

    def feed_forward(self, layer: Layer, index: int, x: str, name: str) -> str:
        y = self.linear(layer.inner, self.before(layer, index, x, name), f"{name}.inner")
        y = self.graph.node({"relu": "Relu", "gelu": "Gelu"}[self.parts.activation], y)
        return self.after(layer, index, x, self.linear(layer.outer, y, f"{name}.outer"), name)


class _Encoder(_Writer):
    """src (B, S) to keys and values of the memory for each decoder layer."""

    def save(self, path: Path) -> None:
        graph, stack = self.graph, self.parts.encoder
        added = self.padding("src")
        x = self.embed(stack, "src", graph.whole([0]), graph.size("src", 1), "encoder")
        for i, layer in enumerate(stack.layers):
            x = self.layer(layer, x, added, f"encoder.{i}")
        memory = self.norm(stack.norm, x, "encoder.norm")
        cross = [self.keys_values(layer, memory, i) for i, layer in enumerate(self.layers())]
        graph.stack(cross, name="cross")
        graph.save(path, {"src": (self.ids, ["B", "S"])}, {"cross": self.cross})

    def layers(self) -> tuple[Layer, ...]:
        return self.parts.decoder.layers

    def layer(self, layer: Layer, x: str, added: str, name: str) -> str:
        read = self.before(layer, 0, x, name)
        fused = self.linear(layer.attention.projections[0], read, f"{name}.query_key_value")
        q, k, v = self.heads(fused, 3)
        y = self.mix(self.weights(q, k, added), v, layer.attention, name)
        x = self.after(layer, 0, x, y, name)
        return self.feed_forward(layer, 1, x, name)

    def keys_values(self, layer: Layer, memory: str, i: int) -> str:
        """(B, 2, H, S, C)."""
        assert layer.cross_attention is not None
        fused = self.linear(
            layer.cross_attention.projections[1], memory, f"decoder.{i}.cross.key_value"
        )
        return self.graph.stack(self.heads(fused, 2))


class _Decoder(_Writer):
    """tgt (B, T) after `past` to logits (B, T, V), and the longer past."""

    def save(self, path: Path) -> None:
        graph, stack = self.graph, self.parts.decoder
        first = graph.size("past", 4)
        end = graph.node("Add", first, graph.size("tgt", 1))
        causal, added = self.causal(first, end), self.padding("src")
        self.watched: list[str] = []  # weights over the memory by layer
        x = self.embed(stack, "tgt", first, end, "decoder")
        longer = []
        for i, layer in enumerate(stack.layers):
            x, keys_values = self.layer(layer, i, x, causal, added)
            longer.append(keys_values)
        graph.stack(longer, name="present")
        looked = graph.node("Mean", *self.watched)
        graph.node("ReduceMean", looked, graph.whole([1]), name="attention", keepdims=0)
        x = self.norm(stack.norm, x, "decoder.norm")
        self.project(x)
        self._save(path)

    def _save(self, path: Path) -> None:
        kept, channels = self.kept, self.channels
        self.graph.save(
            path,
            {
                "tgt": (self.ids, ["B", "T"]),
                "src": (self.ids, ["B", "S"]),
                "cross": self.cross,
                "past": (TensorProto.FLOAT, [*kept, "P", channels]),
            },
            {
                "logits": (TensorProto.FLOAT, ["B", "T", len(self.parts.projection.weight)]),
                "present": (TensorProto.FLOAT, [*kept, "P + T", channels]),
                "attention": (TensorProto.FLOAT, ["B", "T", "S"]),
            },
        )

    def causal(self, first: str, end: str) -> str:
        """What scores of T tokens over P + T get added: (T, P + T); none sees a later one."""
        graph = self.graph
        zero, one, none = graph.whole(0), graph.whole(1), graph.whole([0])
        start, stop = graph.node("Squeeze", first, none), graph.node("Squeeze", end, none)
        rows = graph.node("Unsqueeze", graph.node("Range", start, stop, one), graph.whole([1]))
        seen = graph.node("LessOrEqual", graph.node("Range", zero, stop, one), rows)
        return graph.node("Where", seen, graph.number(0.0), graph.number(-math.inf))

    def layer(self, layer: Layer, i: int, x: str, causal: str, added: str) -> tuple[str, str]:
        name = f"decoder.{i}"
        x, keys_values = self.attend(layer, i, x, causal, name)
        x = self.look(layer, i, x, added, name)
        return self.feed_forward(layer, 2, x, name), keys_values

    def attend(self, layer: Layer, i: int, x: str, causal: str, name: str) -> tuple[str, str]:
        """Self-attention over `past` and x; and the longer past (B, 2, H, P + T, C)."""
        read = self.before(layer, 0, x, name)
        fused = self.linear(layer.attention.projections[0], read, f"{name}.query_key_value")
        q, *new = self.heads(fused, 3)
        old = self.both("past", i)
        k, v = (
            self.graph.node("Concat", past, more, axis=2)
            for past, more in zip(old, new, strict=True)
        )
        y = self.mix(self.weights(q, k, causal), v, layer.attention, name)
        return self.after(layer, 0, x, y, name), self.graph.stack([k, v])

    def look(self, layer: Layer, i: int, x: str, added: str, name: str) -> str:
        """Attention over the memory."""
        attention = layer.cross_attention
        assert attention is not None
        read = self.before(layer, 1, x, name)
        (q,) = self.heads(self.linear(attention.projections[0], read, f"{name}.cross.query"), 1)
        k, v = self.both("cross", i)
        weights = self.weights(q, k, added)
        self.watched.append(weights)
        y = self.mix(weights, v, attention, f"{name}.cross")
        return self.after(layer, 1, x, y, name)

    def both(self, cache: str, i: int) -> tuple[str, str]:
        """Keys and values of layer `i`, each (B, H, ?, C)."""
        pair = self.graph.node("Gather", cache, self.graph.whole(i), axis=1)
        key, value = (
            self.graph.node("Gather", pair, self.graph.whole(j), axis=1) for j in range(2)
        )
        return key, value

    def project(self, x: str) -> None:
        """Logits, through a matrix kept as (V, D), which it is when it is the embedding too."""
        projection = self.parts.projection
        target_tied, _ = self.parts.tied
        name = "decoder.embedding" if target_tied else "projection.weight"
        weight = self.graph.weight(projection.weight, name)
        logits = self.graph.node("MatMul", x, self.graph.node("Transpose", weight, perm=[1, 0]))
        bias = projection.bias if projection.bias is not None else np.zeros(1, np.float32)
        self.graph.node("Add", logits, self.graph.weight(bias, "projection.bias"), name="logits")


_README = """\
A translation model, {src} to {tgt}, for onnxruntime and other ONNX runtimes.

encoder.onnx and decoder.onnx read their weights from weights.bin: keep the three together.
tokenizer_{src}.json and tokenizer_{tgt}.json turn text into ids and back (class Tokenizer of mt, or
the `tokenizers` library, which knows nothing of casing and of joining words).

Ids: {unk} unknown word, {pad} padding, {sos} start of sentence, {eos} end of sentence.
Letters: B sentences, S source length, P target tokens read before, T read now (at most {longest}
in all), L = {layers} decoder layers, H = {heads} heads, C = {channels} channels of a head.

encoder.onnx
  src        int64    (B, S)                  {sos} ids {eos}, then {pad} up to the longest
  cross      float32  (B, L, 2, H, S, C)      output: keys and values of the source

decoder.onnx
  tgt        int64    (B, T)                  the next target ids; the first one is {sos}
  src        int64    (B, S)                  as above, to know the padding
  cross      float32  (B, L, 2, H, S, C)      what the encoder gave
  past       float32  (B, L, 2, H, P, C)      what the decoder gave last; at first with P = 0
  logits     float32  (B, T, {vocab})         output: scores of the token after each of tgt
  present    float32  (B, L, 2, H, P + T, C)  output: the next `past`
  attention  float32  (B, T, S)               output: how much each of tgt looked at each of src

Greedy search: the likeliest token that is neither {pad} nor {sos} (nor, at the first place, {eos}),
fed back as tgt (B, 1) until it is {eos}. Axis 0 is the sentence everywhere: rows can be dropped,
repeated and reordered for beam search.
"""
