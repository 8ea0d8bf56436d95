"""Run a program sample by sample in NumPy. Every instruction becomes a function on arrays that are allocated once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lfno.surrogate.deploy.functions import FUNCTIONS
from lfno.surrogate.deploy.program import (
    Affine,
    Apply,
    Clip,
    Filter,
    Instruction,
    Load,
    Past,
    Product,
    Program,
    Scale,
    Sum,
    Update,
)

Action = Callable[[], object]


class Sampler:
    """Runs one step of a program. Every sampler has its own registers.

    kind: the type of the registers and of the constants, np.float64 or np.float32.

    >>> from lfno.surrogate.deploy.program import Builder
    >>> build = Builder(inputs=1)
    >>> double = build.scale(0, np.zeros(1), np.full(1, 2.0))
    >>> sampler = Sampler(build.program(double, 1.0, "s", [("u", "")], [("y", "")], "a test", "linear"))
    >>> sampler.step(np.array([3.0]), np.zeros(1))
    (array([6.]), array([1.]))
    """

    def __init__(self, program: Program, kind: type[np.floating] = np.float64) -> None:
        self._registers = [np.zeros(size, kind) for size in program.sizes]
        self._state = np.zeros(program.states, kind)
        self._output = self._registers[program.output]
        self._actions = [self._action(_in_precision(one, kind)) for one in program.instructions]

    def step(self, sample: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs (out,) for the next sample (in,) and the state after it; `state` is not changed."""
        self._registers[0][:] = sample
        self._state[:] = state
        for action in self._actions:
            action()
        self._state[0] = min(self._state[0] + 1, 2)
        return self._output.copy(), self._state.copy()

    def _action(self, one: Instruction) -> Action:
        """Return a function that runs one instruction on the registers and the state."""
        y, state = self._registers[one.out], self._state
        if isinstance(one, Product | Sum):
            a, b = self._registers[one.a], self._registers[one.b]
            operation = np.multiply if isinstance(one, Product) else np.add
            return lambda: operation(a, b, y)
        if isinstance(one, Load):
            part = state[one.state : one.state + len(y)]
            return lambda: np.copyto(y, part)
        x = self._registers[one.x]
        match one:
            case Scale(offset=centre, factor=factor):
                return lambda: np.multiply(np.subtract(x, centre, y), factor, y)
            case Affine(matrix=matrix, offset=added):
                return (lambda: np.dot(matrix, x, y)) if added is None else (lambda: np.add(np.dot(matrix, x, y), added, y))
            case Apply(function=name):
                function = FUNCTIONS[name]
                return lambda: np.copyto(y, function(x))
            case Clip(low=low, high=high):
                return lambda: np.minimum(np.maximum(x, low, out=y), high, out=y)
            case Filter():
                return self._filter(one, x, y)
            case Past():
                return self._past(one, x, y)
            case Update():
                return self._update(one, x, y)
        raise TypeError(f"{type(one).__name__} is no instruction")

    def _lines(self, x: np.ndarray, past: int, depth: int) -> tuple[np.ndarray, Action]:
        """Return an array (channels, 1 + depth) for the present sample and earlier samples, newest first, and its update.

        The update is a function without arguments. It writes the present sample into the array and into the state.

        past: index of the earlier samples in the state.
        """
        lines, state = np.zeros((len(x), 1 + depth), x.dtype), self._state
        kept = state[past : past + len(x) * depth].reshape(len(x), depth)
        back = np.arange(1, depth)

        def update() -> None:
            lines[:, 0] = x
            if depth > 1 and state[0] == 1:
                kept[:, 1:] = kept[:, :1] + back * (kept[:, 0] - x)[:, None]
            lines[:, 1:] = kept
            kept[:] = lines[:, :-1]

        return lines, update

    def _filter(self, one: Filter, x: np.ndarray, y: np.ndarray) -> Action:
        """Return a function that advances the poles by one sample."""
        state, poles = self._state, len(one.decay)
        lines, update = self._lines(x, one.past, one.depth)
        place = slice(one.state, one.state + 2 * len(x) * poles)
        values = state[place].view(one.decay.dtype).reshape(len(x), poles)
        driven = np.zeros_like(values)
        linked = np.flatnonzero(one.chain)

        def run() -> None:
            update()
            if state[0]:
                before = values[:, linked - 1] if len(linked) else None
                np.multiply(values, one.decay, values)
                if before is not None:
                    values[:, linked] += before
                np.add(values, np.matmul(lines, one.taps, driven), values)
            y[:] = state[place]

        return run

    def _past(self, one: Past, x: np.ndarray, y: np.ndarray) -> Action:
        """Return a function that writes the present sample and the earlier samples into y."""
        lines, update = self._lines(x, one.past, one.depth)

        def run() -> None:
            update()
            y[:] = lines.T.ravel()

        return run

    def _update(self, one: Update, x: np.ndarray, y: np.ndarray) -> Action:
        """Return a function that writes x into the state, except at the first sample."""
        state = self._state
        part = state[one.state : one.state + len(y)]

        def run() -> None:
            if state[0]:
                part[:] = x
            y[:] = part

        return run


def _in_precision(one: Instruction, kind: type[np.floating]) -> Instruction:
    """Return an instruction whose real and complex arrays have the precision of `kind`."""
    types = {"f": np.dtype(kind), "c": np.result_type(kind, np.complex64)}
    arrays = {name: value for name, value in vars(one).items() if isinstance(value, np.ndarray) and value.dtype.kind in types}
    changed: dict[str, Any] = {name: value.astype(types[value.dtype.kind]) for name, value in arrays.items()}
    return replace(one, **changed)
