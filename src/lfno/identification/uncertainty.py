"""Covariance of fitted poles under coloured noise, and standard deviations of frequency and damping.

θ is the vector of parameters, J is the Jacobian of the response after elimination of the residues, and e is the noise with the
covariance Σ. Near the solution, the noise moves a least-squares estimate by δθ = (JᵀJ)⁻¹ Jᵀ e. So the covariance of the
estimate is

    cov θ = (JᵀJ)⁻¹ JᵀΣJ (JᵀJ)⁻¹.

The noise is stationary, so Σ is a convolution, and JᵀΣJ is the mean over the frequencies f of Ĵ(f)ᴴ S(f) Ĵ(f), with the Fourier
transform Ĵ of J and the power spectrum S of the noise. The smoothed periodogram of the residual estimates S. The fit absorbs a
part h(f) of the noise power. This part is called the leverage, and it is largest at the frequencies where J is large. Division
of the periodogram by 1 − h(f) corrects for the absorbed part.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import uniform_filter1d

#: 97.5 % quantile of the normal distribution: half the width of a 95 % interval, in standard deviations
NORMAL_95 = 1.959964
#: variance of a completely unknown parameter; a finite value, so that products with zero are zero
UNKNOWN = 1e30
#: number of periodogram values (frequencies × trajectories) in one average of the smoothing
AVERAGED = 60
#: eigenvalue of the scaled JᵀJ, relative to the largest eigenvalue, below which a direction is redundant
REDUNDANT = 1e-12
#: lower bound of 1 − h(f); division by a smaller number would amplify errors of the leverage
LEAST = 0.2


def coloured_covariance(jacobian: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the covariance (parameters, parameters) of a least-squares estimate.

    The noise is stationary in time and independent between trajectories. The noise of different outputs may be correlated. If
    the Jacobian or the residual is not finite, all variances are `UNKNOWN`.

    jacobian: (trajectories, time, outputs, parameters).
    residual: (trajectories, time, outputs).

    >>> draw = np.random.default_rng(0)
    >>> jacobian, noise = draw.normal(size=(1, 4000, 1, 1)), 0.1 * draw.normal(size=(1, 4000, 1))
    >>> deviation = np.sqrt(coloured_covariance(jacobian, noise))[0, 0]
    >>> bool(abs(deviation * np.sqrt(4000) - 0.1) < 0.01)  # white noise: σ/√n
    True
    """
    trajectories, time, _, parameters = jacobian.shape
    if not (np.isfinite(jacobian).all() and np.isfinite(residual).all()):  # the simulation diverged
        return np.diag(np.full(parameters, UNKNOWN))
    errors, slopes = np.fft.fft(residual, axis=1), np.fft.fft(jacobian, axis=1)
    power = np.einsum("sfo,sfp->fop", errors, errors.conj()) / (trajectories * time)
    flat = jacobian.reshape(-1, parameters)
    # A redundant direction does not change any output, for example a change of units between two factors of a product. The
    # pseudoinverse sets the variance of such a direction to zero.
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
    """Return the standard deviations of frequency (Hz), damping ratio and decay rate −Re μ (1/s), to first order.

    A pure decay has a frequency of exactly 0 and a damping ratio of exactly 1.

    poles: (modes,), complex.
    covariance: (modes, 2, 2), the covariance of (Re μ, Im μ).

    >>> wide = deviations(np.array([-0.1 + 2j]), np.array([[[1e-4, 0.0], [0.0, 1e-4]]]))
    >>> {name: round(float(value[0]), 5) for name, value in wide.items()}
    {'frequency': 0.00159, 'damping_ratio': 0.00499, 'decay_rate': 0.01}
    """
    real, imag, size = poles.real, poles.imag, np.abs(poles)
    swings = imag != 0
    slopes = {
        "frequency": (np.zeros_like(real), np.where(swings, 1 / (2 * math.pi), 0.0)),
        "damping_ratio": (np.where(swings, -(imag**2), 0.0) / size**3, np.where(swings, real * imag, 0.0) / size**3),
        "decay_rate": (np.ones_like(real), np.zeros_like(real)),
    }
    found = {}
    for name, slope in slopes.items():
        vector = np.stack(slope, axis=-1)
        variance = np.einsum("ni,nij,nj->n", vector, covariance, vector)
        found[name] = np.sqrt(np.maximum(variance, 0.0))
    return found
