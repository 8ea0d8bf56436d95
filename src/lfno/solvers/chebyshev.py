"""Chebyshev collocation in space and a stiff solver of scipy in time: slow, independent solutions on [0, L], for checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import barycentric_interpolate


def differentiation(size: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the Chebyshev points `L (1 − cos jπ/n)/2`, j = 0 … n = size − 1, and the differentiation matrix (size, size).

    The matrix maps values at the points to the derivative of the polynomial through these values.
    """
    points = length * (1 - np.cos(np.pi * np.arange(size) / (size - 1))) / 2
    scale = np.where(np.arange(size) % 2, -1.0, 1.0)
    scale[[0, -1]] *= 2
    difference = points[:, None] - points + np.eye(size)
    matrix = scale[:, None] / scale / difference
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))  # rows sum to zero: the derivative of a constant is zero
    return points, matrix


def second_derivative(
    size: int, length: float, ends: Literal["dirichlet", "neumann"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ∂²/∂x² for values at the inner Chebyshev points. The boundary conditions eliminate the values at the two ends.

    ends: "dirichlet" (the values at the ends are zero) or "neumann" (the slopes at the ends are zero).

    Returns three arrays: all points (size,), ∂²/∂x² at the inner points (size − 2, size − 2), and the matrix from values at the
    inner points to values at all points (size, size − 2).
    """
    points, first = differentiation(size, length)
    extend = np.eye(size)[:, 1:-1].copy()
    if ends == "neumann":
        extend[[0, -1]] = -np.linalg.solve(first[np.ix_([0, -1], [0, -1])], first[[0, -1], 1:-1])
    return points, (first @ first @ extend)[1:-1], extend


def stiff_solve(
    rate: Callable[[float, np.ndarray], np.ndarray],
    jacobian: Callable[[float, np.ndarray], np.ndarray] | np.ndarray,
    start: np.ndarray,
    times: np.ndarray,
    tolerance: float = 1e-10,
) -> np.ndarray:
    """Solve y′ = rate(t, y) with the method Radau IIA of order five. Return y at `times`, (state, times).

    rate: the right-hand side.
    jacobian: ∂rate/∂y, a function of (t, y) or a constant matrix.
    start: y at the first time.
    tolerance: the relative tolerance. The absolute tolerance is a hundredth of this number.
    """
    solution = solve_ivp(
        rate, (times[0], times[-1]), start, "Radau", times, jac=jacobian, rtol=tolerance, atol=1e-2 * tolerance
    )
    return solution.y


def interpolate(points: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the polynomial through `values` (points, …) at the places `wanted`."""
    return barycentric_interpolate(points, values, wanted)
