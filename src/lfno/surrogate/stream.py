"""A stream predicts sample by sample, for control loops and for measurements that do not end."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.program import Program


class Stream:
    """Predicts sample by sample or block by block. The outputs equal the result of `predict` for the whole record.

    There is one exception: a linear model whose input is a cubic between samples (hold "cubic"), alone or with a network that
    corrects it. Its method `predict` interpolates the input by a spline, which also uses later samples. The outputs of the
    stream then differ by O(dt⁴) (see `deploy.lower`). Streams compute in double precision. Several streams of one model are
    independent of each other.

    >>> import lfno
    >>> t = np.arange(64) * 0.1
    >>> forces = np.sin(np.linspace(1, 2, 10)[:, None] * t)
    >>> model = lfno.fit((forces, np.cumsum(forces, axis=1)), dt=0.1, model="linear")
    >>> stream = model.stream()
    >>> force = 0.9 * forces[0]
    >>> bool(np.allclose([stream.step(value) for value in force], model.predict(force), atol=1e-2))
    True
    """

    def __init__(self, program: Program) -> None:
        self._program, self._runner = program, run.Runner(program)
        self._state = run.at_rest(program)

    def __repr__(self) -> str:
        program = self._program
        return f"Stream({len(program.inputs)} → {len(program.outputs)} channels, step {program.dt:g} {program.unit})"

    def step(self, inputs: Any) -> Any:
        """Return the outputs for the next samples.

        | inputs         | meaning                               | result with one output | result with several outputs |
        |----------------|---------------------------------------|------------------------|-----------------------------|
        | a number       | one sample of a single input          | a number               | (outputs,)                  |
        | (inputs,)      | one sample of several inputs          | a number               | (outputs,)                  |
        | (time,)        | a block of samples of a single input  | (time,)                | (outputs, time)             |
        | (inputs, time) | a block of samples                    | (1, time)              | (outputs, time)             |

        Raises LfnoError for NaN or a wrong number of channels; the state is then unchanged.
        """
        values = real_array(inputs, "the inputs", finite=True).astype(np.float64)
        count, outputs = len(self._program.inputs), len(self._program.outputs)
        single = values.ndim == 0 or (values.ndim == 1 and count > 1)
        block = values.reshape(-1, 1) if single else values[None] if values.ndim == 1 else values
        if block.ndim != 2 or len(block) != count:
            raise LfnoError(f"the inputs have the shape {values.shape}; the model takes {_channels(count)}: ({count}, time)")
        answers, self._state = self._runner.advance(block, self._state)
        if single:
            return float(answers[0, 0]) if outputs == 1 else answers[:, 0]
        return answers[0] if values.ndim == 1 and outputs == 1 else answers

    def state(self) -> np.ndarray:
        """Return a copy of the state of the model, a vector of numbers, for `restore`."""
        return self._state.copy()

    def restore(self, state: np.ndarray) -> None:
        """Continue from a state that `state()` returned. The next outputs are then the same, bit by bit."""
        values = real_array(state, "the numbers of the state", finite=True).astype(np.float64)
        if values.shape != self._state.shape:
            raise LfnoError(
                f"the state has the shape {values.shape} and this model {self._state.shape}: the state belongs to another model"
            )
        self._state = values.copy()

    def reset(self) -> None:
        """Start again from rest."""
        self._state = run.at_rest(self._program)


def _channels(count: int) -> str:
    return f"{count} channel{'' if count == 1 else 's'}"
