"""Vibration and diffusion modes on [0, L]: the eigenfunctions of (−1)^m ∂^2m/∂x^2m.

m = 1 is the operator of the heat equation, m = 2 the operator of a beam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.polynomial import legendre

from lfno.core.short import Short

Ends = Literal["dirichlet", "neumann", "supported", "clamped"]
#: boundary condition → (m, number of the lowest Legendre polynomials that the m-th derivative of a solution cannot contain)
_ORDER: dict[str, tuple[int, int]] = {"dirichlet": (1, 1), "neumann": (1, 0), "supported": (2, 0), "clamped": (2, 2)}


@dataclass(frozen=True, repr=False)
class Modes(Short):
    """Solutions of (−1)^m φ^(2m) = κ φ, and the matrices between values of a field and its modal coordinates.

    eigenvalues: κ, (modes,).
    nodes: the points where a right-hand side is evaluated, (points,).
    project: maps values f at the nodes to modal coordinates ∫ f φ_n dx, (modes, points).
    restore: maps modal coordinates to values at the nodes, (points, modes).
    sample: maps modal coordinates to values at the output points, (outputs, modes).
    """

    eigenvalues: np.ndarray
    nodes: np.ndarray
    project: np.ndarray
    restore: np.ndarray
    sample: np.ndarray


def galerkin_modes(length: float, ends: Ends, outputs: np.ndarray, size: int = 128) -> Modes:
    """Return the modes of a Galerkin method with polynomials. About half of the modes are exact up to rounding errors.

    length: L.
    ends: the boundary conditions.
    outputs: the output points, from 0 to L.
    size: the number of basis functions. It is also the number of modes, with two exceptions: "neumann" has the constant as one
        more mode, and modes with a response below rounding errors are left out.

    The m-th derivatives of the basis functions are the orthonormal Legendre polynomials p_j. The stiffness matrix is then the
    identity, and only the mass matrix is decomposed. Its largest eigenvalues 1/κ belong to the lowest modes and are accurate up
    to rounding errors. A decomposition of the stiffness matrix would be less accurate by a factor of κ_max/κ_min.

    The higher modes are not eigenfunctions. They make the quasi-static response to every smooth load exact, also if the load
    does not vanish at the ends. A sine series converges slowly for such a load, like n⁻².

    >>> galerkin_modes(1.0, "dirichlet", np.array([0.5])).eigenvalues[:2] / np.pi**2
    array([1., 4.])
    """
    order, excluded = _ORDER[ends]
    derivatives = np.diag(np.sqrt(np.arange(size + excluded) + 0.5))[:, excluded:]  # column j: Legendre series of p_j
    basis = legendre.legint(derivatives, m=order, lbnd=-1, axis=0)
    if ends == "neumann":
        basis[0] = 0.0  # functions with mean zero; the constant function is another mode, which is added below
    if ends == "supported":
        left, right = legendre.legval(np.array([-1.0, 1.0]), basis).T
        basis[0] -= (left + right) / 2
        basis[1] -= (right - left) / 2
    points, weights = legendre.leggauss(size + 2 * order + 2)
    values = legendre.legvander(points, len(basis) - 1) @ basis
    compliance, vectors = np.linalg.eigh(values.T @ (weights[:, None] * values))
    kept = compliance > 1e-14 * compliance[-1]  # responses of other modes are smaller than rounding errors
    compliance, vectors = compliance[kept][::-1], vectors[:, kept][:, ::-1]
    scale = 2.0 / length  # dξ/dx of the map from x ∈ [0, L] to ξ ∈ [−1, 1]
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
    """Return the modes of second-order finite differences on the points j L/(size − 1), j = 0 … size − 1.

    At Dirichlet and supported ends, y = 0. At Neumann and clamped ends, a ghost point outside has the value of the first point
    inside. The result has the exact modes of the equation after discretisation in space. They differ from the modes of the
    equation by O(dx²).
    """
    dx = length / (size - 1)
    points = np.linspace(0.0, length, size)
    if ends == "neumann":
        matrix = 2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
        matrix[0, 1] = matrix[-1, -2] = -2.0
        weights = np.full(size, dx)
        weights[[0, -1]] /= 2  # with weights of the trapezoidal rule, the operator with ghost points is symmetric
        inside = slice(None)
    else:
        interior = size - 2
        matrix = 2 * np.eye(interior) - np.eye(interior, k=1) - np.eye(interior, k=-1)
        if ends in ("supported", "clamped"):
            matrix = matrix @ matrix
            if ends == "clamped":
                matrix[[0, -1], [0, -1]] += 2.0  # the ghost point has +y₁; the squared matrix above has used −y₁
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
