"""`FieldLaw`: the identified equation of a field on a line, as a model that predicts and decomposes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.identification.field import line_matrices
from lfno.identification.field_law.equation import Equation, at_rest, march
from lfno.identification.field_law.spectrum import small_motion
from lfno.identification.field_law.terms import Line
from lfno.identification.identify import Modes
from lfno.identification.split import split_response
from lfno.identification.uncertainty import NORMAL_95

KEY = "lfno-equation"
#: largest number of simulated periods in the search for a steady state
MOST_PERIODS = 200
#: largest relative change of the state from one period to the next in a steady state
UNCHANGED = 1e-8


@dataclass(frozen=True, repr=False)
class FieldLaw:
    """A partial differential equation with identified coefficients. Fields are (samples, 1, space, time).

    equation: the terms and their coefficients, in the units of the grid and of the fields.
    basis: "sine" for fixed ends or "cosine" for free ends.
    start: modes of the field before the input acts, (count,).
    grid: the grid of the training data.
    covariance: covariance of the coefficients, (terms, terms).
    shares: rms of each spatial mode relative to the whole field, in the training data, (count,).
    provenance: the equation in words, and its validation error.
    """

    equation: Equation
    basis: str
    start: np.ndarray
    grid: Grid
    covariance: np.ndarray
    shares: np.ndarray
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"FieldLaw({self.equation})"

    @property
    def channels(self) -> tuple[int, int]:
        """Return the numbers of input and output channels."""
        return 1, 1

    @property
    def parameters(self) -> int:
        """Return the number of coefficients."""
        return len(self.equation.terms)

    @property
    def intervals(self) -> dict[str, tuple[float, float, float]]:
        """Return for each term the coefficient and the ends of its 95 % interval.

        The interval follows from the residual. It does not account for a wrong choice of terms, or for the error of the
        interpolation of the input between samples.
        """
        widths = (NORMAL_95 * np.sqrt(np.maximum(np.diag(self.covariance), 0.0))).tolist()
        pairs = zip(self.equation.pairs.items(), widths, strict=True)
        return {name: (value, value - width, value + width) for (name, value), width in pairs}

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the outputs (samples, 1, space, time) from the common start field, for inputs of the same shape.

        If the solution for a sample grows without bound, this sample is NaN, and there is a warning.
        """
        forces, back, step = self._in_modes(inputs, grid or self.grid)
        modes, _ = march(self.equation, self._line, forces, step, self._begin(len(forces)))
        lost = int(np.isnan(modes).any((1, 2)).sum())
        if lost:
            told = f"the solution of the equation grows without bound for {lost} of {len(modes)} samples: their outputs are NaN"
            warnings.warn(told, stacklevel=2)
        return np.asarray((back @ modes)[:, None])

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the transient and the steady part of the response from the common start field.

        The steady part is the response to the periodically repeated inputs. Samples without a steady state are NaN, and
        there is a warning. Raises LfnoError if no sample has a steady state.
        """
        return split_response(self.predict(inputs, grid), self.steady(inputs, grid))

    def steady(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the response to the periodically repeated inputs; NaN for samples without a steady state.

        The simulation repeats the window until the state no longer changes from period to period.
        """
        forces, back, step = self._in_modes(inputs, grid or self.grid)
        answer, left = np.full((len(forces), back.shape[0], forces.shape[-1]), np.nan), np.arange(len(forces))
        state = self._begin(len(forces))
        for _ in range(MOST_PERIODS):
            modes, after = march(self.equation, self._line, forces[left], step, state, periodic=True)
            change = np.abs(after - state).max(-1) / np.maximum(np.abs(modes).max((1, 2)), 1e-300)
            settled = change < UNCHANGED
            answer[left[settled]] = back @ modes[settled]
            keep = ~settled & np.isfinite(change)
            left, state = left[keep], after[keep]
            if not len(left):
                break
        return answer[:, None]

    def small_signal_modes(self) -> Modes:
        """Return the modes of small motion about the start field, with the covariance of their poles."""
        error = float(self.provenance.get("equation", {}).get("validation error", 0.0))
        return small_motion(self.equation, self._line, self.start, self.covariance, self.shares, error)

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file."""
        arrays = {"coefficients": self.equation.coefficients, "start": self.start, "covariance": self.covariance,
                  "shares": self.shares}  # fmt: skip
        tree = {"version": 1, "order": self.equation.order, "terms": list(self.equation.terms), "basis": self.basis,
                "grid": self.grid.to_dict(), "provenance": self.provenance}  # fmt: skip
        tensorfile.write(Path(path), {name: torch.as_tensor(array) for name, array in arrays.items()}, tree, KEY)

    @classmethod
    def load(cls, path: str | Path) -> FieldLaw:
        """Read a model that `save` wrote; raise LfnoError for a damaged file."""
        tree, tensors = tensorfile.read(Path(path), KEY, "identified equation")
        arrays = {name: value.numpy() for name, value in tensors.items()}
        equation = Equation(int(tree["order"]), tuple(tree["terms"]), arrays["coefficients"])
        grid = Grid.from_dict(tree["grid"])
        return cls(equation, tree["basis"], arrays["start"], grid, arrays["covariance"], arrays["shares"], tree["provenance"])

    @property
    def _line(self) -> Line:
        return Line.of(self.basis, len(self.start), length_of(self.grid.axes[0]))

    def _begin(self, samples: int) -> np.ndarray:
        return np.tile(at_rest(self.equation.rates(self._line.waves), self.start), (samples, 1))

    def _in_modes(self, inputs: np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the modes of the inputs (samples, count, time), the matrix from modes to grid points, and the time step."""
        values = np.asarray(inputs, dtype=np.float64)
        if values.ndim != 4 or values.shape[1:] != (1, *grid.shape):
            needed = ", ".join(map(str, grid.shape))
            raise LfnoError(f"the inputs have the shape {values.shape}; (samples, 1, {needed}) is needed")
        space, time = grid.axes
        own = length_of(self.grid.axes[0])
        if abs(length_of(space) / own - 1) > 1e-6:
            raise LfnoError(f"the line of the model is {own:g} long, but the line of the inputs is {length_of(space):g} long")
        there, back = line_matrices(self.basis, len(self.start), space)
        return there @ values[:, 0], back, time.step


def length_of(axis: Axis) -> float:
    """Return the length of a line whose first and last point are its ends."""
    return (axis.size - 1) * axis.step
