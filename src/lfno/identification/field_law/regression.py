"""Initial values of the coefficients, by linear regression on the integrated equation.

The equation is integrated once per derivative in time, so that no time derivative of a measured field is needed:

    q_k(t) − q_k(0) = Σ_j c_j ∫ F_jk dt      (order 1),      q_k(t) − q_k(0) = Σ_j c_j ∫∫ F_jk dt dt      (order 2, from rest),

with the spatial modes q_k of the field and the spatial modes F_jk of each term j. The regression is linear in the coefficients
c_j. A term with a time derivative, such as ∂y/∂t, needs one integral less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicSpline

from lfno.identification.field_law.fit import Fields
from lfno.identification.field_law.terms import INPUT, LINEAR, RATES

#: ridge parameter of the regression for each term; the columns of the regression have unit norm
RIDGE = 1e-12


class Regression:
    """Linear regression on the integrated equation of one order in time. `solve` returns the solution for some of the terms.

    terms: the names of all terms.
    scales: for each term, the coefficient that makes the norm of this term equal to the norm of the left side, (terms,).
    """

    def __init__(self, order: int, terms: Sequence[str], measured: Fields) -> None:
        self.order, self.terms = order, tuple(terms)
        line, inputs, fields = measured.line, measured.inputs, measured.outputs
        times = measured.step * np.arange(fields.shape[-1])

        def integrated(values: np.ndarray, times_over: int) -> np.ndarray:
            spline = CubicSpline(times, values, axis=-1)
            return np.asarray(spline.antiderivative(times_over)(times)) if times_over else values

        moved = fields - fields[..., :1]
        states = np.moveaxis(fields, 1, -1)
        columns = []
        for name in self.terms:
            if name == INPUT:
                column = integrated(inputs, order)
            elif name in LINEAR:
                column = integrated(LINEAR[name](line.waves)[:, None] * fields, order)
            elif name in RATES:
                column = integrated(RATES[name](line.waves)[:, None] * moved, order - 1)
            else:
                column = integrated(np.moveaxis(line.pointwise(name, states), -1, 1), order)
            columns.append(column.ravel())
        matrix, target = np.stack(columns, axis=-1), moved.ravel()
        sizes = np.linalg.norm(matrix, axis=0)
        self.norm = float(np.linalg.norm(target))
        self.scales = self.norm / np.maximum(sizes, 1e-300)
        unit = matrix / np.maximum(sizes, 1e-300)
        self._squares, self._slope = unit.T @ unit, unit.T @ target / max(self.norm, 1e-300)

    def solve(self, names: Sequence[str]) -> tuple[np.ndarray, float]:
        """Return the coefficients of these terms, and the relative residual of the integrated equation."""
        rows = [self.terms.index(name) for name in names]
        squares, slope = self._squares[np.ix_(rows, rows)], self._slope[rows]
        found = np.linalg.solve(squares + RIDGE * len(rows) * np.eye(len(rows)), slope)
        left = 1 - 2 * found @ slope + found @ squares @ found
        return found * self.scales[rows], float(np.sqrt(max(left, 0.0)))
