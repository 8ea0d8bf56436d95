"""The exact response of a pole to a sampled input, and its derivative with respect to the pole.

The response of a pole μ from rest is z(t) = ∫₀ᵗ e^{μ(t−s)} f(s) ds. Between samples k and k + 1 the input f is the polynomial
Σ_m c_{m,k} s^m in the time s since sample k. So one step of the integral is exact:

    z_{k+1} = e^{μ dt} z_k + Σ_m c_{m,k} I_m(μ),    I_m(μ) = ∫₀^{dt} s^m e^{μ(dt−s)} ds.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter

from lfno.core.errors import LfnoError

# interpolations of the input between samples: "cubic" suits smooth signals, "zero" and "linear" suit switched signals
HOLDS = ("zero", "linear", "cubic")

# 24 Gauss points integrate e^{μ s} over one step to rounding error, for every |μ| dt up to far beyond the Nyquist limit
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def interpolate(inputs: np.ndarray, step: float, hold: str) -> np.ndarray:
    """Return the coefficients c of the input between samples, (degree + 1, *inputs.shape[:-1], time − 1).

    The lowest power comes first.
    """
    ahead = inputs[..., :-1]
    if hold == "zero":
        return ahead[None]
    if hold == "linear":
        return np.stack([ahead, np.diff(inputs, axis=-1) / step])
    if hold == "cubic":
        if inputs.shape[-1] < 2:
            raise LfnoError("a single time step has no input between samples: a prediction needs at least 2 time steps")
        pieces = CubicSpline(step * np.arange(inputs.shape[-1]), inputs, axis=-1).c
        return np.moveaxis(pieces[::-1], 1, -1)
    raise LfnoError(f"there is no hold {hold!r}: choose one of {', '.join(HOLDS)}")


def spline_aliases(turn: np.ndarray, most: int = 8) -> dict[int, np.ndarray]:
    """Return the weights of the frequencies turn + 2πk in the periodic cubic spline through the samples e^{i turn n}.

    The spline is a sum of shifted B-splines with the spectrum sinc⁴. The weights fall as k⁻⁴ and have the sum 1.

    turn: angular frequencies in radians per sample.
    most: largest |k|.

    >>> weights = spline_aliases(np.array([0.0, 1.0, np.pi]))
    >>> bool(np.abs(sum(weights.values()) - 1).max() < 1e-4), weights[0].round(3).tolist()
    (True, [1.0, 0.998, 0.493])
    """
    total = (2 + np.cos(turn)) / 3
    return {k: np.sinc(turn / (2 * np.pi) + k) ** 4 / total for k in range(-most, most + 1)}


def pole_response(pole: complex, pieces: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the response z of a pole μ from rest, and ∂z/∂μ, at the sample times. Both are complex `(..., time)`.

    pieces: the coefficients of the input, from `interpolate`.

    >>> constant = interpolate(np.ones((1, 5)), 0.1, "zero")
    >>> pole_response(-1.0, constant, 0.1)[0].real.round(4)  # 1 − e^{−t}
    array([[0.    , 0.0952, 0.1813, 0.2592, 0.3297]])
    """
    factor = np.exp(pole * step)
    gains, changes = _weighted(_moments(pole, len(pieces), step), pieces)
    value = _accumulate(gains, factor)
    return value, _accumulate(changes + step * factor * value[..., :-1], factor)


def pole_values(pole: complex, pieces: np.ndarray, step: float) -> np.ndarray:
    """Return the response z of `pole_response`, without its derivative."""
    [gains] = _weighted(_moments(pole, len(pieces), step)[:1], pieces)
    return _accumulate(gains, np.exp(pole * step))


def _moments(pole: complex, degrees: int, step: float) -> np.ndarray:
    """Return the integrals I_m over one step, and their derivatives by μ, (2, degrees)."""
    elapsed = step * (_NODES + 1) / 2
    weights = step / 2 * _WEIGHTS * np.exp(pole * (step - elapsed))
    powers = elapsed ** np.arange(degrees)[:, None]
    return np.stack([powers @ weights, powers @ (weights * (step - elapsed))])


def _weighted(weights: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Return Σ_m weights[j, m] pieces[m] for each j: complex (j, …) from complex (j, degrees) and real (degrees, …).

    The product is real, because numpy would convert all pieces to complex numbers first.
    """
    parts = np.stack([weights.real, weights.imag], axis=-1)
    product = np.matmul(pieces.reshape(len(pieces), -1).T, parts)
    return product.view(np.complex128)[..., 0].reshape(len(weights), *pieces.shape[1:])


def _accumulate(gains: np.ndarray, factor: complex) -> np.ndarray:
    """Return the sequence z_0 = 0, z_{k+1} = factor z_k + gains_k."""
    found = np.zeros((*gains.shape[:-1], gains.shape[-1] + 1), dtype=np.complex128)
    found[..., 1:] = lfilter([1.0 + 0j], [1.0, -factor], gains, axis=-1)
    return found
