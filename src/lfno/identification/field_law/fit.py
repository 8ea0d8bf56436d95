"""Fit the coefficients of an equation, so that its solutions are close to the measured fields.

The fit is a Levenberg–Marquardt method. Finite differences give the derivatives.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lfno.identification.field_law.equation import Equation, at_rest, march
from lfno.identification.field_law.terms import Line

#: step of the finite differences, relative to the size of a coefficient
PROBE = 1e-4
#: initial damping of the Levenberg–Marquardt method
DAMPING = 1e-3
#: damping at which the search stops
MOST_DAMPING = 1e6
#: the search stops after a step if the relative decrease of the cost is smaller than this value
TOLERANCE = 1e-4
#: tolerance of the fixed-point iterations of the solver during a fit, relative to the largest state
ACCURACY = 1e-8


@dataclass(frozen=True)
class Fields:
    """Measured fields as coefficients of `count` spatial modes.

    line: the spatial modes.
    inputs, outputs: (samples, count, time).
    start: the modes of the field at the first time step, which all samples share, (count,).
    step: time step.
    """

    line: Line
    inputs: np.ndarray
    outputs: np.ndarray
    start: np.ndarray
    step: float

    def part(self, rows: np.ndarray) -> Fields:
        """Return some of the samples."""
        return replace(self, inputs=self.inputs[rows], outputs=self.outputs[rows])

    def solve(self, equation: Equation) -> np.ndarray:
        """Return the solution of an equation for the inputs, (samples, count, time)."""
        state = at_rest(equation.rates(self.line.waves), self.start)
        begin = np.tile(state, (len(self.inputs), 1))
        return march(equation, self.line, self.inputs, self.step, begin, tolerance=ACCURACY)[0]

    def missed(self, equation: Equation) -> np.ndarray:
        """Return the error of the solution, (samples · count · time,)."""
        return np.asarray((self.solve(equation) - self.outputs).ravel())

    def errors(self, equation: Equation) -> np.ndarray:
        """Return the L2 error of each sample, (samples,), relative to the deviation of the field from the start field.

        The error is infinite if the solution grows without bound.
        """
        missed = np.linalg.norm((self.solve(equation) - self.outputs).reshape(len(self.inputs), -1), axis=1)
        moved = np.linalg.norm((self.outputs - self.start[:, None]).reshape(len(self.inputs), -1), axis=1)
        return np.nan_to_num(missed / np.maximum(moved, 1e-2 * moved.mean()), nan=np.inf)


def refine(
    equation: Equation, fields: Fields, scales: np.ndarray, iterations: int = 12, deadline: float = np.inf
) -> tuple[Equation, float]:
    """Return the equation with the coefficients that minimise the sum of squared errors, and this sum, which may be infinite.

    scales: typical size of each coefficient, (terms,); see `Regression.scales`.
    deadline: a value of `time.monotonic` after which no iteration begins.
    """
    missed = fields.missed(equation)
    cost, damping = _cost(missed), DAMPING
    for _ in range(iterations):
        if time.monotonic() > deadline or not np.isfinite(cost):
            break
        slopes = jacobian(equation, fields, scales, missed)
        if not np.isfinite(slopes).all():
            break
        squares, slope = slopes.T @ slopes, slopes.T @ missed
        while damping < MOST_DAMPING and time.monotonic() < deadline:
            damped = squares + damping * np.diag(np.diag(squares)) + 1e-14 * np.trace(squares) * np.eye(len(squares))
            trial = equation.change(equation.coefficients - scales * np.linalg.solve(damped, slope))
            after = fields.missed(trial)
            if _cost(after) < cost:
                break
            damping *= 8
        else:
            break
        done = _cost(after) > (1 - TOLERANCE) * cost
        equation, missed, cost, damping = trial, after, _cost(after), max(damping / 10, 1e-9)
        if done:
            break
    return equation, cost


def jacobian(equation: Equation, fields: Fields, scales: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """Return the derivative of the error with respect to the coefficients in units of `scales`, (errors, terms).

    missed: the error with the coefficients of `equation`, from `Fields.missed`.
    """
    columns = []
    for k, scale in enumerate(scales):
        moved = equation.coefficients.copy()
        moved[k] += PROBE * scale
        columns.append((fields.missed(equation.change(moved)) - missed) / PROBE)
    return np.stack(columns, axis=-1)


def covariance(equation: Equation, fields: Fields, scales: np.ndarray) -> np.ndarray:
    """Return the covariance (terms, terms) of the coefficients, under the assumption that the errors are independent."""
    missed = fields.missed(equation)
    slopes = jacobian(equation, fields, scales, missed)
    variance = float(missed @ missed) / max(len(missed) - len(scales), 1)
    return np.asarray(variance * np.outer(scales, scales) * np.linalg.pinv(slopes.T @ slopes))


def _cost(missed: np.ndarray) -> float:
    total = float(missed @ missed)
    return total if np.isfinite(total) else np.inf
