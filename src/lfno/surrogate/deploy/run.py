"""Run a program in NumPy, in double precision: sample by sample, or a block of samples at once.

In a block, every register has the shape (entries, time). Filter and Past run along the block, and all other instructions act
on each sample alone. A program with feedback (Load) runs sample by sample.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from lfno.surrogate.deploy.functions import FUNCTIONS
from lfno.surrogate.deploy.program import Affine, Apply, Clip, Filter, Past, Product, Program, Scale, Sum
from lfno.surrogate.deploy.sample import Sampler

#: number of samples that are computed at once; the registers of a network of width 16 then take about 20 MB
BLOCK = 4096
#: blocks of fewer samples run sample by sample
SHORT = 4


class Runner:
    """Runs one program. Every runner has its own registers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._sampler = Sampler(program)

    def advance(self, inputs: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs (out, time) for the next samples (in, time), and the state after these samples.

        The array `state` itself is not changed.
        """
        inputs, state = np.asarray(inputs, dtype=np.float64), state.copy()
        size = inputs.shape[1]
        answers = np.empty((len(self.program.outputs), size))
        if self.program.sequential or size < SHORT:
            for k in range(size):
                answers[:, k], state = self._sampler.step(inputs[:, k], state)
            return answers, state
        for first in range(0, size, BLOCK):
            part = slice(first, first + BLOCK)
            answers[:, part] = _block(self.program, inputs[:, part], state)
        return answers, state


def at_rest(program: Program) -> np.ndarray:
    """Return the state before the first sample, (states,)."""
    return np.zeros(program.states)


def respond(program: Program, inputs: np.ndarray) -> np.ndarray:
    """Return the outputs (out, time) for inputs (in, time) from rest."""
    return Runner(program).advance(inputs, at_rest(program))[0]


def _block(program: Program, inputs: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return the outputs (out, time) of a block, and write the state after the block into `state`."""
    registers: list[np.ndarray] = [inputs] * len(program.sizes)
    count = int(state[0])
    for one in program.instructions:
        match one:
            case Scale():
                value = (registers[one.x] - one.offset[:, None]) * one.factor[:, None]
            case Affine():
                value = one.matrix @ registers[one.x]
                value = value if one.offset is None else value + one.offset[:, None]
            case Apply():
                value = FUNCTIONS[one.function](registers[one.x])
            case Clip():
                value = np.minimum(np.maximum(registers[one.x], one.low[:, None]), one.high[:, None])
            case Product():
                value = registers[one.a] * registers[one.b]
            case Sum():
                value = registers[one.a] + registers[one.b]
            case Filter():
                value = _filter(one, registers[one.x], state, count)
            case Past():
                lines = _history(registers[one.x], state, one.past, one.depth, count)
                size = registers[one.x].shape[1]
                value = np.concatenate([lines[:, one.depth - k : one.depth - k + size] for k in range(one.depth + 1)])
        registers[one.out] = value
    state[0] = min(count + inputs.shape[1], 2)
    return registers[program.output]


def _history(v: np.ndarray, state: np.ndarray, place: int, depth: int, count: int) -> np.ndarray:
    """Return `depth` earlier samples followed by v, (channels, depth + time), and keep the last samples in `state`.

    place: index of the earlier samples in the state.
    count: number of samples before v, at most 2.
    """
    channels = len(v)
    past = state[place : place + channels * depth].reshape(channels, depth)
    if depth > 1 and count < 2 and count + v.shape[1] > 1:  # both first samples are known: the past is the line through them
        newest, after = (v[:, 0], v[:, 1]) if count == 0 else (past[:, 0].copy(), v[:, 0])
        for k in range(count, depth):
            past[:, k] = newest + (k + 1 - count) * (newest - after)
    lines = np.concatenate([past[:, ::-1], v], axis=1)
    past[:] = lines[:, : -depth - 1 : -1]
    return lines


def _filter(one: Filter, v: np.ndarray, state: np.ndarray, count: int) -> np.ndarray:
    """Return the values of the poles (channels × poles × 2, time) for inputs v (channels, time), and update `state`."""
    (channels, size), poles, depth = v.shape, len(one.decay), one.depth
    x = state[one.state : one.state + 2 * channels * poles].view(np.complex128).reshape(channels, poles)
    lines = _history(v, state, one.past, depth, count)
    result = np.empty((channels, poles, 2, size))
    before = np.zeros((channels, size), np.complex128)  # the pole before this one, one sample earlier
    for m, decay in enumerate(one.decay):
        driven = one.taps[0, m] * v
        for j in range(1, depth + 1):
            driven += one.taps[j, m] * lines[:, depth - j : depth - j + size]
        if count == 0:
            driven[:, 0] = 0.0  # the poles are at rest at the first sample
        if one.chain[m]:
            driven += before
        before[:, 0] = x[:, m]
        driven, _ = lfilter([1.0], [1.0, -decay], driven, zi=decay * x[:, m, None])
        result[:, m, 0], result[:, m, 1] = driven.real, driven.imag
        before[:, 1:] = driven[:, :-1]
        x[:, m] = driven[:, -1]
    return result.reshape(-1, size)
