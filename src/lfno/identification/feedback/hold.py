"""The input between samples, and the response of poles to this input over a part of a step.

On the step from sample k to k + 1 the input is a polynomial in the time since sample k,

    u(t_k + s) = Σ_m c_m s^m,      x(s) = e^{μ s} x(0) + Σ_m c_m I_m(μ, s),    I_m(μ, s) = ∫₀ˢ r^m e^{μ(s−r)} dr.

The cubic polynomial passes through u[k+1], u[k], u[k−1] and u[k−2], as in `lfno.spectral.hold`. All holds are causal: they use
no sample after k + 1.
"""

from __future__ import annotations

import math

import numpy as np

from lfno.core.errors import LfnoError

#: name of the hold → positions of the samples that define it; the step runs from position 0 to 1
HOLDS: dict[str, tuple[int, ...]] = {"zero": (0,), "linear": (0, 1), "cubic": (0, 1, -1, -2)}

# 24 Gauss points integrate e^{μ s} over one step to rounding error, for every pole that the samples resolve
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def pieces(inputs: np.ndarray, step: float, hold: str) -> np.ndarray:
    """Return the coefficients c (…, channels, time − 1, powers) of inputs (…, channels, time), lowest power first.

    >>> pieces(np.array([[0.0, 1.0, 4.0]]), 1.0, "linear")[0]
    array([[0., 1.],
           [1., 3.]])
    """
    if hold not in HOLDS:
        raise LfnoError(f"there is no hold {hold!r}: choose one of {', '.join(HOLDS)}")
    places = HOLDS[hold]
    first = inputs[..., :1]
    # before the first sample, the input is the straight line through the first two samples
    slope = inputs[..., 1:2] - first if inputs.shape[-1] > 1 else np.zeros_like(first)
    known = np.concatenate([first - 2 * slope, first - slope, inputs], axis=-1)
    size = inputs.shape[-1] - 1
    seen = np.stack([known[..., 2 + place : 2 + place + size] for place in places], axis=-1)
    return seen @ hold_matrix(step, hold).T


def hold_matrix(step: float, hold: str) -> np.ndarray:
    """Return the matrix (powers, samples) from the samples at the positions of the hold to the coefficients c."""
    places = HOLDS[hold]
    matrix = np.linalg.inv(np.vander(places, increasing=True).astype(float))
    return matrix / step ** np.arange(len(places))[:, None]


def shifted(coefficients: np.ndarray, delay: float) -> np.ndarray:
    """Return the coefficients (…, powers) of the same polynomial in the time since `delay`."""
    count = coefficients.shape[-1]
    matrix = np.array([[math.comb(m, k) * delay ** (m - k) if m >= k else 0.0 for k in range(count)] for m in range(count)])
    return coefficients @ matrix


def moments(poles: np.ndarray, span: float, powers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return I_m(μ, span) and ∂I_m/∂μ, both complex (powers, poles)."""
    elapsed = span * (_NODES + 1) / 2
    weights = span / 2 * _WEIGHTS * np.exp(poles[:, None] * (span - elapsed))
    basis = elapsed ** np.arange(powers)[:, None]
    return basis @ weights.T, basis @ (weights * (span - elapsed)).T
