"""Chebyshev collocation and stiff integration by scipy: the slow, independent way to solve an equation on [0, L]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import barycentric_interpolate

from lfno.solvers.modes import Ends


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


def operator(size: int, length: float, ends: Ends) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`∂²/∂x²` (Dirichlet, Neumann) or `∂⁴/∂x⁴` (supported, clamped) on the inner points, with the ends eliminated.

    Answers all points, the matrix on the inner ones, and the matrix that gives the values at all points from them.
    """
    points, first = differentiation(size, length)
    second = first @ first
    extend = np.eye(size)[:, 1:-1].copy()
    if ends == "neumann":
        corner = first[np.ix_([0, -1], [0, -1])]
        extend[[0, -1]] = -np.linalg.solve(corner, first[[0, -1], 1:-1])
    matrix = (second @ extend)[1:-1]
    if ends == "supported":
        matrix = matrix @ matrix
    if ends == "clamped":
        # y = x (L − x) p with p = 0 at the ends: y'''' = b p'''' + 4 b' p''' + 6 b'' p''
        bump, slope = points * (length - points), length - 2 * points
        fourth = bump[:, None] * (second @ second) + 4 * slope[:, None] * (first @ second) - 12 * second
        matrix = fourth[1:-1, 1:-1] / bump[1:-1]
    return points, matrix, extend


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
