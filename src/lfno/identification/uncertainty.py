"""Covariance of fitted poles when the noise is coloured, and the intervals of frequency and damping that follow.

Near the solution a least-squares estimate moves by δθ = (JᵀJ)⁻¹ Jᵀ e, where J is the Jacobian of the response with the
residues eliminated and e the noise. With the noise's covariance Σ that gives the covariance of the estimate,

    cov θ = (JᵀJ)⁻¹ JᵀΣJ (JᵀJ)⁻¹.

The noise is stationary, so Σ is a convolution: JᵀΣJ is a sum over frequencies of J's spectrum times the power spectrum
of the noise, which is estimated by smoothing the periodogram of the residual. The fit takes a part of the noise away, most
at the frequencies where J is large: the leverage h(f), by which the periodogram is divided as power / (1 − h).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import uniform_filter1d

#: 97.5 % quantile of the normal distribution: half the width of a 95 % interval, in standard deviations
NORMAL_95 = 1.959964
#: the variance of a parameter of which nothing is known; finite, so that products with zero are zero
UNKNOWN = 1e30
#: frequencies times trajectories over which the periodogram of the residual is averaged
AVERAGED = 60
#: eigenvalue of the scaled JᵀJ, over the largest, below which a direction counts as redundant
REDUNDANT = 1e-12
#: part of the noise that the residual keeps at least at every frequency
LEAST = 0.2


def coloured_covariance(jacobian: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Covariance (parameters, parameters) of a least-squares estimate.

    `residual` is (trajectories, time, outputs), `jacobian` (trajectories, time, outputs, parameters). The noise is
    stationary in time, may be correlated between outputs, and is independent from trajectory to trajectory.

    >>> draw = np.random.default_rng(0)
    >>> jacobian, noise = draw.normal(size=(1, 4000, 1, 1)), 0.1 * draw.normal(size=(1, 4000, 1))
    >>> deviation = np.sqrt(coloured_covariance(jacobian, noise))[0, 0]
    >>> bool(abs(deviation * np.sqrt(4000) - 0.1) < 0.01)  # white noise: σ/√n
    True
    """
    trajectories, time, _, parameters = jacobian.shape
    if not (np.isfinite(jacobian).all() and np.isfinite(residual).all()):  # a model that blows up: nothing is known
        return np.diag(np.full(parameters, UNKNOWN))
    errors, slopes = np.fft.fft(residual, axis=1), np.fft.fft(jacobian, axis=1)
    power = np.einsum("sfo,sfp->fop", errors, errors.conj()) / (trajectories * time)
    flat = jacobian.reshape(-1, parameters)
    # directions that change no output, as a change of units between two factors, have no variance
    size = np.linalg.norm(flat, axis=0)
    size = np.where(size > 0, size, 1.0)
    inverse = np.linalg.pinv((flat / size).T @ (flat / size), rcond=REDUNDANT, hermitian=True) / np.outer(size, size)
    leverage = np.einsum("sfoi,ij,sfoj->f", slopes.conj(), inverse, slopes, optimize=True).real / residual[:, 0].size / time
    width = min(2 * math.ceil(AVERAGED / trajectories / 2) + 1, max(time // 4, 1))

    def smooth(values: np.ndarray) -> np.ndarray:
        return uniform_filter1d(values, width, axis=0, mode="wrap")

    kept = np.maximum(1 - smooth(leverage), LEAST)
    power = (smooth(power.real) + 1j * smooth(power.imag)) / kept[:, None, None]
    inner = np.einsum("sfoi,fop,sfpj->ij", slopes.conj(), power, slopes, optimize=True).real / time
    return inverse @ inner @ inverse


def deviations(poles: np.ndarray, covariance: np.ndarray) -> dict[str, np.ndarray]:
    """Standard deviations of frequency (Hz), damping ratio and time constant (s) from the covariance (modes, 2, 2) of
    (Re μ, Im μ), to first order. A pure decay has a frequency of exactly 0 and a damping ratio of exactly 1.

    >>> wide = deviations(np.array([-0.1 + 2j]), np.array([[[1e-4, 0.0], [0.0, 1e-4]]]))
    >>> {name: round(float(value[0]), 5) for name, value in wide.items()}
    {'frequency': 0.00159, 'damping_ratio': 0.00499, 'time_constant': 1.0}
    """
    real, imag, size = poles.real, poles.imag, np.abs(poles)
    swings = imag != 0
    slopes = {
        "frequency": (np.zeros_like(real), np.where(swings, 1 / (2 * math.pi), 0.0)),
        "damping_ratio": (np.where(swings, -(imag**2), 0.0) / size**3, np.where(swings, real * imag, 0.0) / size**3),
        "time_constant": (1 / real**2, np.zeros_like(real)),
    }
    found = {}
    for name, slope in slopes.items():
        vector = np.stack(slope, axis=-1)
        variance = np.einsum("ni,nij,nj->n", vector, covariance, vector)
        found[name] = np.sqrt(np.maximum(variance, 0.0))
    return found
