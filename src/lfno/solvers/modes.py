"""Vibration and diffusion modes of an operator (−1)^m ∂^2m/∂x^2m on [0, L]: a basis in which it is diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.polynomial import legendre

Ends = Literal["dirichlet", "neumann", "supported", "clamped"]
#: order m of the operator, and how many of the lowest Legendre polynomials the end conditions exclude from y^(m)
_ORDER: dict[str, tuple[int, int]] = {"dirichlet": (1, 1), "neumann": (1, 0), "supported": (2, 0), "clamped": (2, 2)}


@dataclass(frozen=True)
class Modes:
    """Eigenpairs `(−1)^m φ^(2m) = κ φ`, and the matrices between values and modal coordinates.

    nodes: the points where a right-hand side is evaluated, (points,).
    project: from values at the nodes to modal coordinates `∫ f φ_n dx`, (modes, points).
    restore: from modal coordinates to the nodes, (points, modes).
    sample: from modal coordinates to the output points, (outputs, modes).
    """

    eigenvalues: np.ndarray
    nodes: np.ndarray
    project: np.ndarray
    restore: np.ndarray
    sample: np.ndarray


def galerkin_modes(length: float, ends: Ends, outputs: np.ndarray, size: int = 128) -> Modes:
    """Modes of the Galerkin method in polynomials: exact to rounding for the lower half or so of the `size` modes.

    The basis is chosen so that its m-th derivatives are the orthonormal Legendre polynomials p_j. The stiffness matrix
    is then the identity and only the mass matrix is decomposed: its large eigenvalues 1/κ, which matter, come out to
    rounding, whereas decomposing the stiffness would lose κ_max/κ_min in relative accuracy. Modes above the resolved
    ones are combinations that make the (quasi-static) response to any smooth load exact, also where the load does not
    vanish at the ends; a sine series would converge there like n⁻².

    >>> galerkin_modes(1.0, "dirichlet", np.array([0.5])).eigenvalues[:2] / np.pi**2
    array([1., 4.])
    """
    order, excluded = _ORDER[ends]
    derivatives = np.diag(np.sqrt(np.arange(size + excluded) + 0.5))[:, excluded:]  # column j: p_j, in Legendre series
    basis = legendre.legint(derivatives, m=order, lbnd=-1, axis=0)
    if ends == "neumann":
        basis[0] = 0.0  # zero mean: the constant is a mode of its own, added below
    if ends == "supported":
        left, right = legendre.legval(np.array([-1.0, 1.0]), basis).T
        basis[0] -= (left + right) / 2
        basis[1] -= (right - left) / 2
    points, weights = legendre.leggauss(size + 2 * order + 2)
    values = legendre.legvander(points, len(basis) - 1) @ basis
    compliance, vectors = np.linalg.eigh(values.T @ (weights[:, None] * values))
    kept = compliance > 1e-14 * compliance[-1]  # the responses of the others are below rounding
    compliance, vectors = compliance[kept][::-1], vectors[:, kept][:, ::-1]
    scale = 2.0 / length  # dξ/dx of the map to ξ ∈ [−1, 1]
    combine = basis @ vectors * np.sqrt(scale / compliance)  # normalised to ∫ φ² dx = 1
    eigenvalues = scale ** (2 * order) / compliance
    if ends == "neumann":
        constant = np.zeros((len(basis), 1))
        constant[0] = np.sqrt(1 / length)
        combine, eigenvalues = np.hstack([constant, combine]), np.append(0.0, eigenvalues)
    restore = legendre.legvander(points, len(basis) - 1) @ combine
    sample = legendre.legvander(scale * outputs - 1.0, len(basis) - 1) @ combine
    return Modes(eigenvalues, (points + 1) / scale, restore.T * (weights / scale), restore, sample)


def difference_modes(length: float, ends: Ends, size: int) -> Modes:
    """Modes of second-order finite differences on the `size` points `j L/(size − 1)`, ends included.

    Dirichlet and supported ends hold y = 0; Neumann and clamped ends mirror the neighbour into a ghost node. These
    are the exact modes of the equation discretised in space. They differ from the modes of the equation itself by O(dx²).
    """
    dx = length / (size - 1)
    points = np.linspace(0.0, length, size)
    if ends == "neumann":
        matrix = 2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
        matrix[0, 1] = matrix[-1, -2] = -2.0
        weights = np.full(size, dx)
        weights[[0, -1]] /= 2  # the trapezoidal weights make the mirrored operator symmetric
        inside = slice(None)
    else:
        interior = size - 2
        matrix = 2 * np.eye(interior) - np.eye(interior, k=1) - np.eye(interior, k=-1)
        if ends in ("supported", "clamped"):
            matrix = matrix @ matrix
            if ends == "clamped":
                matrix[[0, -1], [0, -1]] += 2.0  # the ghost mirrors +y₁ where the square of the Laplacian has −y₁
        weights = np.full(interior, dx)
        inside = slice(1, -1)
    root = np.sqrt(weights)
    symmetric = root[:, None] * matrix / root
    eigenvalues, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    restore = vectors / root[:, None]
    sample = np.zeros((size, len(eigenvalues)))
    sample[inside] = restore
    order, _ = _ORDER[ends]
    return Modes(eigenvalues / dx ** (2 * order), points[inside], restore.T * weights, restore, sample)
