"""One time step of a model as an ONNX graph. The state of the model is an input and an output of the graph.

    (input (batch, in), state (batch, states)) → (output (batch, out), next_state (batch, states)).

A state of zeros means rest. ONNX Runtime keeps no memory between calls, so the caller passes `next_state` back as `state`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.c_code import CHECKED, test_inputs
from lfno.surrogate.deploy.onnx_file import (
    KINDS,
    Written,
    check_packages,
    difference,
    model_of,
    session_of,
    values_of,
    written,
)
from lfno.surrogate.deploy.onnx_graph import Graph
from lfno.surrogate.deploy.program import Filter, Load, Past, Program, Update


def write_onnx_step(program: Program, path: Path, precision: str | None = None) -> Written:
    """Write the graph of one step to a file, and return a description of the file.

    precision: "float" or "double", of the inputs, the state and the outputs. The default is float, or double if float is not
        accurate enough for this model.

    ONNX Runtime first runs the graph on test inputs. Raises LfnoError, and writes no file, if the outputs differ from the
    outputs of the model, or if onnx or onnxruntime is not installed.
    """
    if precision is not None and precision not in KINDS:
        raise LfnoError(f"precision {precision!r} is not known; choose {' or '.join(KINDS)}")
    check_packages(path)
    force = test_inputs(program, CHECKED)
    expected = run.respond(program, force)

    def attempt(precision: str) -> tuple[bytes, float]:
        content = model_of(step_graph(program, precision), described(program)).SerializeToString()
        session, kind = session_of(content), KINDS[precision]
        state, answers = np.zeros((1, program.states), kind), []
        for sample in force.T.astype(kind):
            answer, state = session.run(None, {"input": sample[None], "state": state})
            answers.append(answer[0])
        return content, difference(np.stack(answers, -1), expected)

    return written(path, [precision] if precision else list(KINDS), attempt)


def described(program: Program) -> dict[str, str]:
    """Return the metadata of the file: time step, unit of time, names and units of the channels, and notes."""
    signals = {"inputs": program.inputs, "outputs": program.outputs, "notes": program.notes}
    return {"lfno_dt": repr(program.dt), "lfno_unit": program.unit, "lfno_signals": to_json(signals)}


def step_graph(program: Program, precision: str = "float", prefix: str = "") -> Any:
    """Return the graph as an onnx.GraphProto. All its names begin with `prefix`."""
    from onnx import helper

    graph = Step(KINDS[precision], program, prefix=prefix)
    graph.registers[0] = f"{prefix}input"
    for one in program.instructions:
        graph.add(one)
    graph.name(f"{prefix}output", graph.registers[program.output])
    graph.name(f"{prefix}next_state", graph.node("Concat", *graph.next_state(), axis=-1))
    ins = {f"{prefix}input": ["batch", len(program.inputs)], f"{prefix}state": ["batch", program.states]}
    outs = {f"{prefix}output": ["batch", len(program.outputs)], f"{prefix}next_state": ["batch", program.states]}
    values = values_of(ins, precision), values_of(outs, precision)
    return helper.make_graph(graph.nodes, "step", *values, graph.tensors)


class Step(Graph):
    """A graph whose registers have the shape (batch, entries).

    Instructions with memory read parts of the tensor `state`, and store the new parts in `parts`.
    """

    def __post_init__(self) -> None:
        self.parts: dict[int, str] = {}  # index in the state → its new value
        count, one = self.state(0, 1), self.constant([1.0])
        self.began = self.node("Min", count, one)  # 0 at the first sample, then 1
        self.second = self.node("Relu", self.node("Sub", one, self.node("Abs", self.node("Sub", count, one))))
        self.parts[0] = self.node("Min", self.node("Add", count, one), self.constant([2.0]))

    def state(self, place: int, size: int) -> str:
        """Return the `size` entries of the state from index `place` on."""
        return self.slice(f"{self.prefix}state", place, place + size, 1)

    def next_state(self) -> list[str]:
        """Return all parts of the new state in their order."""
        return [self.parts[place] for place in sorted(self.parts)]

    def remember(self, one: Any, x: str) -> str:
        """Add an instruction with memory and return the name of its result."""
        size = self.program.sizes[one.out]
        match one:
            case Filter():
                return self.filter(one, x)
            case Past():
                lines = self.history(x, self.program.sizes[one.x], one.depth, one.past)
                return self.node("Reshape", self.node("Transpose", lines, perm=[0, 2, 1]), self.whole(-1, size))
            case Load():
                return self.state(one.state, size)
            case Update():
                old = self.state(one.state, size)
                self.parts[one.state] = self.node("Add", old, self.node("Mul", self.began, self.node("Sub", x, old)))
                return self.parts[one.state]
        raise TypeError(f"{type(one).__name__} is no instruction")

    def history(self, x: str, channels: int, depth: int, place: int) -> str:
        """Return the present sample and `depth` earlier samples, newest first, (batch, channels, 1 + depth).

        The newest `depth` samples become the new part of the state at index `place`.
        """
        past = self.node("Reshape", self.state(place, channels * depth), self.whole(-1, channels, depth))
        sample = self.node("Reshape", x, self.whole(-1, channels, 1))
        if depth > 1:  # at the second sample, the past is set to the line through the first two samples
            newest = self.slice(past, 0, 1, 2)
            slope = self.node("Mul", self.node("Sub", newest, sample), self.constant(np.arange(depth)))
            line = self.node("Sub", self.node("Add", newest, slope), past)
            second = self.node("Reshape", self.second, self.whole(-1, 1, 1))
            past = self.node("Add", past, self.node("Mul", second, line))
        lines = self.node("Concat", sample, past, axis=2)
        kept = self.slice(lines, 0, depth, 2)
        self.parts[place] = self.node("Reshape", kept, self.whole(-1, channels * depth))
        return lines

    def filter(self, one: Filter, x: str) -> str:
        """Add a Filter and return the name of the new values of its poles, (batch, 2 × channels × poles)."""
        channels, poles = self.program.sizes[one.x], len(one.decay)
        lines = self.history(x, channels, one.depth, one.past)
        old = self.node("Reshape", self.state(one.state, 2 * channels * poles), self.whole(-1, channels, poles, 2))
        planes = [self.node("Gather", old, self.constant(k, np.int64), axis=3) for k in (0, 1)]
        new: list[str] = []
        rows = (one.taps.real, one.decay.real, -one.decay.imag), (one.taps.imag, one.decay.imag, one.decay.real)
        for tap, a, b in rows:
            turned = self.node("Mul", planes[0], self.constant(a)), self.node("Mul", planes[1], self.constant(b))
            driven = self.node("MatMul", lines, self.constant(tap))
            value = self.node("Add", self.node("Add", *turned), driven)
            if one.chain.any():  # entry (m − 1, m) of the matrix is 1 where pole m − 1 drives pole m
                linked = self.node("MatMul", planes[len(new)], self.constant(np.diag(one.chain[1:].astype(float), 1)))
                value = self.node("Add", value, linked)
            new.append(self.node("Unsqueeze", value, self.whole(3)))
        both = self.node("Reshape", self.node("Concat", *new, axis=3), self.whole(-1, 2 * channels * poles))
        self.parts[one.state] = self.node("Mul", self.began, both)
        return self.parts[one.state]
