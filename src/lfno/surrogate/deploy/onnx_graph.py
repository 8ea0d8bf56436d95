"""Nodes of an ONNX graph for those instructions of a program that act on each sample alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lfno.surrogate.deploy.program import Affine, Apply, Clip, Product, Program, Scale, Sum

#: functions that are a single ONNX node
NODES = {
    "relu": "Relu", "tanh": "Tanh", "sin": "Sin", "cos": "Cos", "sigmoid": "Sigmoid", "abs": "Abs", "sign": "Sign",
    "softplus": "Softplus",
}  # fmt: skip


@dataclass
class Graph:
    """Collects nodes and constants of an ONNX graph. Registers are tensors whose last axis holds the entries.

    kind: the NumPy type of the constants and of the computation.
    constants: the name of each constant array, so that equal arrays are stored once.
    registers: the name of the tensor of each register.
    prefix: a prefix of all names, for a graph inside another graph.
    """

    kind: Any
    program: Program
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)
    constants: dict[tuple[Any, ...], str] = field(default_factory=dict)
    registers: dict[int, str] = field(default_factory=lambda: {0: "input"})
    prefix: str = ""

    def __post_init__(self) -> None:
        """Subclasses add the nodes that all instructions need."""

    def node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its result."""
        from onnx import helper

        name = f"{self.prefix}t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def name(self, name: str, tensor: str) -> None:
        """Add a name to a tensor, for an output of the graph."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [tensor], [name]))

    def cast(self, tensor: str, kind: Any = None) -> str:
        """Convert a tensor to the type of the computation, or to `kind`. Return the name of the result.

        A graph in float32 needs no conversion: its inputs and outputs are float32.
        """
        from onnx import helper

        if self.kind == np.float32:
            return tensor
        return self.node("Cast", tensor, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind or self.kind)))

    def constant(self, values: Any, kind: Any = None) -> str:
        """Return the name of a constant with these values. The constant is added if the graph does not have it."""
        from onnx import numpy_helper

        array = np.ascontiguousarray(values, dtype=kind or self.kind).reshape(np.shape(values))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = f"{self.prefix}c{len(self.constants)}"
            self.tensors.append(numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def whole(self, *values: int) -> str:
        """Return the name of a constant of integers: a shape, or indices."""
        return self.constant(values, np.int64)

    def slice(self, tensor: str, first: int, last: int, axis: int) -> str:
        """Add a slice of the entries first … last − 1 along an axis, and return the name of its result."""
        return self.node("Slice", tensor, self.whole(first), self.whole(last), self.whole(axis))

    def add(self, one: Any) -> None:
        """Add an instruction. Subclasses add the instructions with memory."""
        x = self.registers.get(getattr(one, "x", -1), "")
        match one:
            case Scale():
                value = self.node("Mul", self.node("Sub", x, self.constant(one.offset)), self.constant(one.factor))
            case Affine():
                value = self.node("MatMul", x, self.constant(one.matrix.T))
                value = value if one.offset is None else self.node("Add", value, self.constant(one.offset))
            case Apply():
                value = self.apply(one.function, x)
            case Clip():
                value = self.node("Min", self.node("Max", x, self.constant(one.low)), self.constant(one.high))
            case Product() | Sum():
                word = "Mul" if isinstance(one, Product) else "Add"
                value = self.node(word, self.registers[one.a], self.registers[one.b])
            case _:
                value = self.remember(one, x)
        self.registers[one.out] = value

    def remember(self, one: Any, x: str) -> str:
        """Add an instruction with memory and return the name of its result. Subclasses implement this method."""
        raise NotImplementedError

    def apply(self, function: str, x: str) -> str:
        """Add an elementary function of the tensor x, and return the name of its result."""
        if function == "gelu":
            half = self.node("Mul", x, self.constant(0.5))
            lifted = self.node("Add", self.node("Erf", self.node("Mul", x, self.constant(np.sqrt(0.5)))), self.constant(1.0))
            return self.node("Mul", half, lifted)
        if function == "silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        return self.node(NODES[function], x)
