"""The terms of an equation of a field: linear terms, which act on each spatial mode alone, and pointwise terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfno.core.grid import Axis
from lfno.identification.field import line_matrices

INPUT = "f"
#: linear terms -> the factor by which a term multiplies the spatial mode with wave number κ
LINEAR: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "y": np.ones_like,
    "y_xx": lambda wave: -(wave**2),
    "y_xxxx": lambda wave: wave**4,
}
#: linear terms in ∂y/∂t, for equations of second order in time
RATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"y_t": np.ones_like, "y_xxt": lambda wave: -(wave**2)}
#: terms that are computed at every point from y and its slope y_x
POINTWISE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "1": lambda y, slope: np.ones_like(y),
    "y_x": lambda y, slope: slope,
    "y²": lambda y, slope: y * y,
    "y³": lambda y, slope: y * y * y,
    "y⁵": lambda y, slope: y * np.square(y * y),
    "y y_x": lambda y, slope: y * slope,
}
#: points per spatial mode for the pointwise terms; the aliases of a product of three fields then do not reach the spatial modes
FINENESS = 2


@dataclass(frozen=True)
class Line:
    """The spatial modes φ_k of a line of length L, k < count, and the points at which pointwise terms are computed.

    basis: "sine" for fixed ends or "cosine" for free ends.
    waves: the wave number κ of each mode, (count,).
    values, slopes: φ_k and φ_k′ at the points, each (points, count).
    project: the matrix (count, points) from a field on the points to its modes.
    """

    basis: str
    waves: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    project: np.ndarray

    @classmethod
    def of(cls, basis: str, count: int, length: float) -> Line:
        """Return the first `count` modes of a line of this length."""
        points = FINENESS * count + 2
        axis = Axis("x", points, length / (points - 1))
        project, values = line_matrices(basis, count, axis)
        waves = (np.arange(count) + (basis == "sine")) * np.pi / length
        phase = waves * axis.points[:, None]
        slopes = waves * np.cos(phase) if basis == "sine" else -waves * np.sin(phase)
        return cls(basis, waves, values, slopes, project)

    def pointwise(self, name: str, states: np.ndarray) -> np.ndarray:
        """Return the modes (…, count) of a pointwise term, for the field with the modes `states` (…, count)."""
        return np.asarray(POINTWISE[name](states @ self.values.T, states @ self.slopes.T) @ self.project.T)
