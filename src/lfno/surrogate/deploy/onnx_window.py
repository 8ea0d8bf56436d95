"""A whole window of a causal model as an ONNX graph. The constants of the graph take about as much space as the weights.

    input (batch, in, time) → output (batch, out, time), from rest.

A Filter has the states x of its poles. The matrix T changes them in one sample: the factors of the poles are on its diagonal,
and a pole of a chain is also driven by the pole before it. The Filter runs in chunks of L samples. U are the samples of chunk
c, and the few samples before the chunk that the taps use. K[c] is the contribution of all earlier samples to the first state of
the chunk:

    x = H U + R K[c],      K[c+1] = T^L K[c] + T x_end[c].

H and R are constant matrices, and x_end is the state at the end of the chunk for K[c] = 0. The recurrence over chunks is
computed in log₂(number of chunks) steps, because every step doubles the distance that a contribution moves. A program with
feedback runs its time step in a Scan node instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.surrogate.deploy import run
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
from lfno.surrogate.deploy.onnx_step import described, step_graph
from lfno.surrogate.deploy.program import Filter, Program

#: number L of samples in a chunk
CHUNK = 16
#: longest window, in samples
MOST_POINTS = 2**24


def write_onnx_window(program: Program, size: int, path: Path, metadata: dict[str, str]) -> Written:
    """Write the graph for windows of `size` samples to a file, and return a description of the file.

    Inputs and outputs are float32. If a computation in float32 is not accurate enough for this model, the graph computes in
    double precision. ONNX Runtime first runs the graph on random inputs. Raises LfnoError, and writes no file, if the outputs
    differ from the outputs of the model, if the window is too long, or if onnx or onnxruntime is not installed.
    """
    check_packages(path)
    if size > MOST_POINTS:
        raise LfnoError(f"a window of {size} points is too long for an export; use a shorter window, or onnx-step")
    make = scan_graph if program.sequential else window_graph
    offset, scale = program.centre
    noise = np.random.default_rng(0).normal(size=(2, len(offset), size))
    force = (offset[:, None] + scale[:, None] * noise).astype(np.float32)
    expected = np.stack([run.respond(program, one) for one in force])

    def attempt(precision: str) -> tuple[bytes, float]:
        content = model_of(make(program, size, precision), described(program) | metadata).SerializeToString()
        (answer,) = session_of(content).run(None, {"input": force})
        return content, difference(answer, expected)

    return written(path, list(KINDS), attempt)


def window_graph(program: Program, size: int, precision: str = "float") -> Any:
    """Return the graph of a program without feedback. It computes in the given precision."""
    from onnx import helper

    graph = Window(KINDS[precision], program)
    graph.registers[0] = graph.node("Transpose", graph.cast("input"), perm=[0, 2, 1])
    graph.size = size
    for one in program.instructions:
        graph.add(one)
    graph.name("output", graph.cast(graph.node("Transpose", graph.registers[program.output], perm=[0, 2, 1]), np.float32))
    return helper.make_graph(graph.nodes, "window", *_ends(program, size), graph.tensors)


def scan_graph(program: Program, size: int, precision: str = "float") -> Any:
    """Return the graph of a program with feedback: a Scan node that runs the step once for every sample."""
    from onnx import helper

    step = step_graph(program, precision, prefix="step_")
    ends = [step.input[1], step.input[0]], [step.output[1], step.output[0]]  # Scan requires the state first
    body = helper.make_graph(step.node, "body", *ends, step.initializer)
    graph = Graph(KINDS[precision], program)
    batch = graph.slice(graph.node("Shape", "input"), 0, 1, 0)
    shape = graph.node("Concat", batch, graph.whole(program.states), axis=0)
    rest = graph.node("Expand", graph.constant(np.zeros((1, 1))), shape)
    samples = graph.node("Transpose", graph.cast("input"), perm=[2, 0, 1])
    graph.nodes.append(helper.make_node("Scan", [rest, samples], ["last", "answers"], body=body, num_scan_inputs=1))
    graph.name("output", graph.cast(graph.node("Transpose", "answers", perm=[1, 2, 0]), np.float32))
    return helper.make_graph(graph.nodes, "window", *_ends(program, size), graph.tensors)


def _ends(program: Program, size: int) -> tuple[list[Any], list[Any]]:
    """Return the descriptions of the input and of the output of the graph."""
    ends = {"input": ["batch", len(program.inputs), size]}, {"output": ["batch", len(program.outputs), size]}
    return values_of(ends[0], "float"), values_of(ends[1], "float")


class Window(Graph):
    """A graph whose registers are (batch, time, entries)."""

    size: int

    def remember(self, one: Any, x: str) -> str:
        """Add a Filter and return the name of the values of its poles, (batch, time, channels × 2M)."""
        assert isinstance(one, Filter)
        channels, wide, depth = self.program.sizes[one.x], 2 * len(one.decay), one.depth
        chunks = -(-self.size // CHUNK)
        samples = self.chunked(self.node("Transpose", x, perm=[0, 2, 1]), channels, depth, chunks)
        forward, ring, end, start = filter_matrices(one, CHUNK)
        begin = self.node("MatMul", self.slice(self.slice(samples, 0, 1, 2), 0, depth + 1, 3), self.constant(start))
        if chunks > 1:
            ends = self.node("MatMul", self.slice(samples, 0, chunks - 1, 2), self.constant(end))
            begin = self.node("Concat", begin, ends, axis=2)
        reach = 1
        while reach < chunks:
            factor = self.constant(_real_matrix(np.linalg.matrix_power(transition(one), CHUNK * reach)))
            moved = self.node("MatMul", self.slice(begin, 0, chunks - reach, 2), factor)
            begin = self.node("Add", begin, self.node("Pad", moved, self.whole(0, 0, reach, 0, 0, 0, 0, 0)))
            reach *= 2
        known = self.node("Concat", samples, begin, axis=3)
        values = self.node("MatMul", known, self.constant(np.concatenate([forward, ring])))
        split = self.node("Reshape", values, self.whole(-1, channels, chunks, CHUNK, wide))
        turned = self.node("Transpose", split, perm=[0, 2, 3, 1, 4])
        whole = self.node("Reshape", turned, self.whole(-1, chunks * CHUNK, channels * wide))
        return self.slice(whole, 0, self.size, 1)

    def chunked(self, v: str, channels: int, depth: int, chunks: int) -> str:
        """Cut signals (batch, channels, time) into chunks (batch, channels, chunks, depth + L), oldest sample first.

        Each chunk begins with the `depth` samples before it.
        """
        first = self.slice(v, 0, 1, 2)
        past = [first]
        if depth > 1:  # before the window, the input is the line through the first two samples
            slope = self.node("Sub", first, self.slice(v, 1, 2, 2))
            past = [self.node("Add", first, self.node("Mul", slope, self.constant(k))) for k in range(depth, 0, -1)]
        padded = self.node("Pad", v, self.whole(0, 0, 0, 0, 0, chunks * CHUNK - self.size))
        shape = self.whole(-1, channels, chunks, CHUNK)
        line = self.node("Concat", *past, padded, axis=2)
        before = self.slice(self.node("Reshape", self.slice(line, 0, chunks * CHUNK, 2), shape), 0, depth, 3)
        return self.node("Concat", before, self.node("Reshape", padded, shape), axis=3)


def filter_matrices(one: Filter, chunk: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the constant matrices (H, R, E, S) of a Filter with M poles, in chunks of L samples.

    | matrix | shape             | from                             | to                                              |
    |--------|-------------------|----------------------------------|-------------------------------------------------|
    | H      | (depth + L, L·2M) | samples of a chunk, oldest first | x                                               |
    | R      | (2M, L·2M)        | K[c]                             | x                                               |
    | E      | (depth + L, 2M)   | samples of a chunk               | T x_end                                         |
    | S      | (depth + 1, 2M)   | first samples of the window      | K of the first chunk, so that the first x is 0  |

    Values of poles are stored as pairs (re, im). The docstring of this module explains x, K and x_end.
    """
    depth, poles, turn = one.depth, len(one.decay), transition(one)
    powers = [np.linalg.matrix_power(turn, l) for l in range(chunk)]
    response = np.zeros((depth + chunk, chunk, poles), dtype=np.complex128)
    for row in range(depth + chunk):
        for l in range(chunk):
            for j, tap in enumerate(one.taps):
                k = row - depth + j  # index of the driving term that contains this sample
                if 0 <= k <= l:
                    response[row, l] += powers[l - k] @ tap
    ring = np.concatenate([_real_matrix(power) for power in powers], axis=1)
    end = _pairs(response[:, -1] @ turn.T)
    start = _pairs(-one.taps[::-1])
    return _pairs(response).reshape(depth + chunk, -1), ring, end, start


def _pairs(values: np.ndarray) -> np.ndarray:
    """Return complex values (…, M) as real values (…, 2M), stored as pairs (re, im)."""
    return np.stack([values.real, values.imag], -1).reshape(*values.shape[:-1], -1)


def transition(one: Filter) -> np.ndarray:
    """Return the matrix T that changes the states of a Filter in one sample, complex (M, M)."""
    return np.asarray(np.diag(one.decay) + np.diag(one.chain[1:].astype(np.complex128), -1))


def _real_matrix(matrix: np.ndarray) -> np.ndarray:
    """Return the real matrix (2M, 2M) that multiplies a complex vector, stored as a row of pairs (re, im), by `matrix`."""
    blocks = [[matrix.T.real, matrix.T.imag], [-matrix.T.imag, matrix.T.real]]
    return np.asarray(blocks).transpose(2, 0, 3, 1).reshape(2 * len(matrix), -1)
