"""Writing an ONNX graph node by node; arrays go to one file that several graphs share.

What the nodes compute for a Transformer is in `to_onnx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from mt.export.parts import Array

Value = tuple[int, Sequence[str | int]]  # element type, and axes by name or length
OPSET = 20  # the first with Gelu
IR_VERSION = 9  # which belongs to it; newer ones are refused by older runtimes
ALIGNED = 64  # bytes that an array begins at a multiple of


class WeightsFile:
    """A file of arrays one after the other; an array that is given twice is in it once."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._places: dict[tuple[Any, ...], tuple[int, int]] = {}

    def tensor(self, array: Array, name: str) -> TensorProto:
        """An initializer that says where in the file the array is."""
        key = (array.__array_interface__["data"], array.shape, array.strides)
        if key not in self._places:
            self._file.write(b"\0" * (-self._file.tell() % ALIGNED))
            self._places[key] = self._file.tell(), array.nbytes
            self._file.write(np.ascontiguousarray(array, dtype="<f4").tobytes())
        offset, length = self._places[key]
        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
        )
        for field, value in (("location", self._name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=field, value=str(value))
        return tensor


class Graph:
    """Nodes in the order in which they compute; values are known by their names."""

    def __init__(self, weights: WeightsFile) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}

    def node(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The output of a new node."""
        output = name or f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def weight(self, array: Array, name: str) -> str:
        """An array of the model."""
        if name not in self._initializers:
            self._initializers[name] = self._weights.tensor(array, name)
        return name

    def number(self, value: float) -> str:
        """A float as a scalar."""
        return self._constant(np.array(value, dtype=np.float32))

    def whole(self, value: int | Sequence[int]) -> str:
        """A whole number, or a list of them."""
        return self._constant(np.array(value, dtype=np.int64))

    def size(self, value: str, axis: int) -> str:
        """How long an axis is: (1,) of int64."""
        return self.node("Shape", value, start=axis, end=axis + 1)

    def stack(self, values: Sequence[str], name: str = "") -> str:
        """Values of one shape along a new axis 1."""
        apart = [self.node("Unsqueeze", value, self.whole([1])) for value in values]
        return self.node("Concat", *apart, name=name, axis=1)

    def save(
        self,
        path: Path,
        inputs: dict[str, Value],
        outputs: dict[str, Value],
    ) -> None:
        """Writes the model; inputs and outputs have an element type and named or fixed axes."""

        def infos(values: dict[str, Value]) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(name, *value) for name, value in values.items()]

        graph = helper.make_graph(
            self._nodes,
            path.stem,
            infos(inputs),
            infos(outputs),
            list(self._initializers.values()),
        )
        model = helper.make_model(
            graph,
            producer_name="mt",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )
        path.write_bytes(model.SerializeToString())

    def _constant(self, value: NDArray[Any]) -> str:
        name = f"{value.dtype}:{value.tolist()}"
        self._initializers.setdefault(name, numpy_helper.from_array(value, name))
        return name
