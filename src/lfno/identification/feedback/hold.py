"""The input between samples, and the response of poles to this input over a part of a step.

On the step from sample k to k + 1 the input u is a polynomial in the time s since sample k. So the state x of a pole μ, with
x′ = μ x + u, is known exactly:

    u(t_k + s) = Σ_m c_m s^m,      x(s) = e^{μ s} x(0) + Σ_m c_m I_m(μ, s),    I_m(μ, s) = ∫₀ˢ r^m e^{μ(s−r)} dr.

| hold    | degree of the polynomial | samples that define the polynomial |
|---------|--------------------------|------------------------------------|
| zero    | 0                        | u[k]                               |
| linear  | 1                        | u[k], u[k+1]                       |
| cubic   | 3                        | u[k−2] … u[k+1]                    |
| centred | 5                        | u[k−2] … u[k+3]                    |

The first three holds use no sample after k + 1, so a model with such a hold can run sample by sample. The centred hold needs
two more samples and is more accurate: at a quarter of the Nyquist frequency, the rms error of the interpolated sine is 7 · 10⁻⁴
of its rms. The error of the cubic hold is 10⁻².
"""

from __future__ import annotations

import math

import numpy as np

from lfno.core.errors import LfnoError

#: name of the hold → positions of the samples that define it; the step runs from position 0 to 1
HOLDS: dict[str, tuple[int, ...]] = {"zero": (0,), "linear": (0, 1), "cubic": (0, 1, -1, -2), "centred": (0, 1, -1, -2, 2, 3)}
#: holds that use no sample after the step; a model with such a hold runs sample by sample
CAUSAL = tuple(name for name, places in HOLDS.items() if max(places) <= 1)
#: largest number of samples before a step that a hold uses
BEFORE = 2
#: largest number of samples after a step that a hold uses
AFTER = 2

# 24 Gauss points integrate e^{μ s} over one step to rounding error, for every pole that the samples resolve
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def permitted(ahead: bool) -> tuple[str, ...]:
    """Return the holds that a search may choose. With `ahead`, a hold may use samples after the step."""
    return tuple(HOLDS) if ahead else CAUSAL


def pieces(inputs: np.ndarray, step: float, hold: str) -> np.ndarray:
    """Return the coefficients c (…, channels, time − 1, powers) of inputs (…, channels, time), lowest power first.

    >>> pieces(np.array([[0.0, 1.0, 4.0]]), 1.0, "linear")[0]
    array([[0., 1.],
           [1., 3.]])
    """
    if hold not in HOLDS:
        raise LfnoError(f"there is no hold {hold!r}: choose one of {', '.join(HOLDS)}")
    places = HOLDS[hold]
    known, size = continued(inputs), inputs.shape[-1] - 1
    seen = np.stack([known[..., BEFORE + place : BEFORE + place + size] for place in places], axis=-1)
    return seen @ hold_matrix(step, hold).T


def continued(inputs: np.ndarray) -> np.ndarray:
    """Return inputs (…, time) with BEFORE more samples at the beginning and AFTER more at the end, (…, time + 4).

    The continuation is the straight line through the first two, or the last two, samples.

    >>> continued(np.array([0.0, 1.0, 4.0]))
    array([-2., -1.,  0.,  1.,  4.,  7., 10.])
    """
    first, last = inputs[..., :1], inputs[..., -1:]
    several = inputs.shape[-1] > 1
    rise, fall = (np.diff(inputs[..., part], axis=-1) if several else 0 * first for part in (np.s_[:2], np.s_[-2:]))
    return np.concatenate([first - 2 * rise, first - rise, inputs, last + fall, last + 2 * fall], axis=-1)


def hold_matrix(step: float, hold: str) -> np.ndarray:
    """Return the matrix (powers, samples) that maps the samples at the positions `HOLDS[hold]` to the coefficients c."""
    places = HOLDS[hold]
    matrix = np.linalg.inv(np.vander(places, increasing=True).astype(float))
    return matrix / step ** np.arange(len(places))[:, None]


def shifted(coefficients: np.ndarray, delay: float) -> np.ndarray:
    """Return the coefficients (…, powers) of the same polynomial if the time starts at `delay` instead of 0."""
    count = coefficients.shape[-1]
    matrix = np.array([[math.comb(m, k) * delay ** (m - k) if m >= k else 0.0 for k in range(count)] for m in range(count)])
    return coefficients @ matrix


def moments(poles: np.ndarray, span: float, powers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return I_m(μ, span) and ∂I_m/∂μ, both complex (powers, poles)."""
    elapsed = span * (_NODES + 1) / 2
    weights = span / 2 * _WEIGHTS * np.exp(poles[:, None] * (span - elapsed))
    basis = elapsed ** np.arange(powers)[:, None]
    return basis @ weights.T, basis @ (weights * (span - elapsed)).T
