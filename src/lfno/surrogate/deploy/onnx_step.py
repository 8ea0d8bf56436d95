"""One step of a model as an ONNX graph with its state as input and output.

    (input (batch, in), state (batch, states)) → (output (batch, out), next_state (batch, states)).

A state of zeros is rest. ONNX Runtime keeps no memory between calls, so the caller passes `next_state` back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.c_code import test_inputs
from lfno.surrogate.deploy.program import Affine, Apply, Clip, Filter, Load, Past, Product, Program, Scale, Sum, Update

OPSET = 17
#: largest difference from the original, in units of the largest output
TOLERANCE = {"float": 1e-4, "double": 1e-9}
#: functions that one node of ONNX computes
NODES = {"relu": "Relu", "tanh": "Tanh", "sin": "Sin", "cos": "Cos", "sigmoid": "Sigmoid", "abs": "Abs", "sign": "Sign"}


@dataclass(frozen=True)
class StepGraph:
    """The file that was written, its size in bytes, and its largest difference from the model, relative to the peak."""

    path: Path
    error: float
    size: int


def write_onnx_step(program: Program, path: Path, precision: str = "float") -> StepGraph:
    """Write the graph, run it with ONNX Runtime on the test vector, and keep it if it gives the answers of the model.

    precision: "float" or "double". Raises LfnoError if onnx or onnxruntime is not installed.
    """
    if precision not in TOLERANCE:
        raise LfnoError(f"precision {precision!r} is not known; choose {' or '.join(TOLERANCE)}")
    if not path.parent.is_dir():
        raise LfnoError(f"there is no folder {path.parent} to write {path.name} into")
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError as missing:
        raise LfnoError(f"exporting to ONNX needs the package {missing.name}; install lfno[onnx]") from missing
    content = step_graph(program, precision).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    force = test_inputs(program)
    kind = np.float32 if precision == "float" else np.float64
    state, answers = np.zeros((1, program.states), kind), []
    for sample in force.T.astype(kind):
        answer, state = session.run(None, {"input": sample[None], "state": state})
        answers.append(answer[0])
    expected = run.respond(program, force)
    error = float(np.abs(np.stack(answers, -1) - expected).max() / (np.abs(expected).max() or 1.0))
    if not error <= TOLERANCE[precision]:
        raise LfnoError(f"the exported step differs from the model by {error:.1e} on the test vector; nothing was kept")
    write_atomically(path, content)
    return StepGraph(path, error, len(content))


def step_graph(program: Program, precision: str = "float") -> Any:
    """Return the graph as an onnx.ModelProto."""
    from onnx import TensorProto, checker, helper

    graph = _Graph(np.float32 if precision == "float" else np.float64, program)
    for one in program.instructions:
        graph.add(one)
    graph.name("output", graph.registers[program.output])
    graph.name("next_state", graph.node("Concat", *graph.next_state(), axis=-1))
    kind = TensorProto.FLOAT if precision == "float" else TensorProto.DOUBLE

    def value(name: str, size: int) -> Any:
        return helper.make_tensor_value_info(name, kind, ["batch", size])

    ins = [value("input", len(program.inputs)), value("state", program.states)]
    outs = [value("output", len(program.outputs)), value("next_state", program.states)]
    made = helper.make_graph(graph.nodes, "step", ins, outs, graph.tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="lfno")
    model.ir_version = 9
    signals = {"inputs": program.inputs, "outputs": program.outputs, "notes": program.notes}
    for key, text in (("lfno_dt", repr(program.dt)), ("lfno_unit", program.unit), ("lfno_signals", json.dumps(signals))):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, text
    checker.check_model(model)
    return model


@dataclass
class _Graph:
    """Collects nodes; registers are tensors (batch, entries)."""

    kind: Any
    program: Program
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)
    constants: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.registers = {0: "input"}
        self.parts: dict[int, str] = {}  # place in the state → its new value
        count = self.state(0, 1)
        one = self.constant([1.0])
        self.began = self.node("Min", count, one)  # 0 at the first sample, then 1
        self.second = self.node("Relu", self.node("Sub", one, self.node("Abs", self.node("Sub", count, one))))
        self.parts[0] = self.node("Min", self.node("Add", count, one), self.constant([2.0]))

    def node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def name(self, name: str, tensor: str) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [tensor], [name]))

    def constant(self, values: Any, kind: Any = None) -> str:
        from onnx import numpy_helper

        array = np.asarray(values, dtype=kind or self.kind)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = f"c{len(self.constants)}"
            self.tensors.append(numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def whole(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def state(self, place: int, size: int) -> str:
        return self.node("Slice", "state", self.whole(place), self.whole(place + size), self.whole(1))

    def next_state(self) -> list[str]:
        return [self.parts[place] for place in sorted(self.parts)]

    def add(self, one: Any) -> None:
        x, size = self.registers.get(getattr(one, "x", -1), ""), self.program.sizes[one.out]
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
            case Filter():
                value = self.filter(one, x)
            case Past():
                lines = self.history(x, self.program.sizes[one.x], one.depth, one.past)
                turned = self.node("Transpose", lines, perm=[0, 2, 1])
                value = self.node("Reshape", turned, self.whole(-1, size))
            case Load():
                value = self.state(one.state, size)
            case Update():
                old = self.state(one.state, size)
                value = self.node("Add", old, self.node("Mul", self.began, self.node("Sub", x, old)))
                self.parts[one.state] = value
        self.registers[one.out] = value

    def apply(self, function: str, x: str) -> str:
        if function == "gelu":
            half = self.node("Mul", x, self.constant(0.5))
            lifted = self.node("Add", self.node("Erf", self.node("Mul", x, self.constant(np.sqrt(0.5)))), self.constant(1.0))
            return self.node("Mul", half, lifted)
        if function == "silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        return self.node(NODES[function], x)

    def history(self, x: str, channels: int, depth: int, place: int) -> str:
        """Return (batch, channels, 1 + depth), the sample and those before it, newest first, and keep the last ones."""
        past = self.node("Reshape", self.state(place, channels * depth), self.whole(-1, channels, depth))
        sample = self.node("Reshape", x, self.whole(-1, channels, 1))
        if depth > 1:  # at the second sample the past becomes the line through the first two
            newest = self.node("Slice", past, self.whole(0), self.whole(1), self.whole(2))
            slope = self.node("Mul", self.node("Sub", newest, sample), self.constant(np.arange(depth)))
            line = self.node("Sub", self.node("Add", newest, slope), past)
            second = self.node("Reshape", self.second, self.whole(-1, 1, 1))
            past = self.node("Add", past, self.node("Mul", second, line))
        lines = self.node("Concat", sample, past, axis=2)
        kept = self.node("Slice", lines, self.whole(0), self.whole(depth), self.whole(2))
        self.parts[place] = self.node("Reshape", kept, self.whole(-1, channels * depth))
        return lines

    def filter(self, one: Filter, x: str) -> str:
        channels, poles = self.program.sizes[one.x], len(one.decay)
        lines = self.history(x, channels, one.depth, one.past)
        old = self.node("Reshape", self.state(one.state, 2 * channels * poles), self.whole(-1, channels, poles, 2))
        planes = [self.node("Gather", old, self.constant(k, np.int64), axis=3) for k in (0, 1)]
        new = []
        rows = (one.taps.real, one.decay.real, -one.decay.imag), (one.taps.imag, one.decay.imag, one.decay.real)
        for tap, a, b in rows:
            turned = self.node("Mul", planes[0], self.constant(a)), self.node("Mul", planes[1], self.constant(b))
            driven = self.node("MatMul", lines, self.constant(tap))
            value = self.node("Add", self.node("Add", *turned), driven)
            new.append(self.node("Unsqueeze", value, self.whole(3)))
        both = self.node("Reshape", self.node("Concat", *new, axis=3), self.whole(-1, 2 * channels * poles))
        self.parts[one.state] = self.node("Mul", self.began, both)
        return self.parts[one.state]
