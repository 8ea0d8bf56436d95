"""Chebyshev collocation and stiff integration by scipy: the slow, independent way to solve an equation on [0, L]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import barycentric_interpolate


def differentiation(size: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """The points `L (1 − cos jπ/n)/2`, j = 0…n with n = size − 1, and the matrix that differentiates their polynomial."""
    points = length * (1 - np.cos(np.pi * np.arange(size) / (size - 1))) / 2
    scale = np.where(np.arange(size) % 2, -1.0, 1.0)
    scale[[0, -1]] *= 2
    difference = points[:, None] - points + np.eye(size)
    matrix = scale[:, None] / scale / difference
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))  # the derivative of a constant is zero, to rounding
    return points, matrix


def second_derivative(
    size: int, length: float, ends: Literal["dirichlet", "neumann"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`∂²/∂x²` on the inner points with the values at the ends eliminated by their conditions.

    Answers all points, the matrix on the inner ones, and the matrix that gives the values at all points from them.
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
    """Radau IIA of order five at a relative tolerance; `(state, len(times))`."""
    solution = solve_ivp(
        rate, (times[0], times[-1]), start, "Radau", times, jac=jacobian, rtol=tolerance, atol=1e-2 * tolerance
    )
    return solution.y


def interpolate(points: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The polynomial through `values` (points, ...) at other places."""
    return barycentric_interpolate(points, values, wanted)
