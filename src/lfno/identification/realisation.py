"""The eigensystem realisation algorithm: poles and residues from impulse responses.

The linear system x_{k+1} = A x_k + B f_k, y_k = C x_{k+1} has the impulse response h_k = C Aᵏ B. The Hankel matrix
H⁰ᵢⱼ = h_{i+j} contains this response. The rank of H⁰ is the number of states. The singular value decomposition H⁰ ≈ U Σ Vᵀ and
the shifted matrix H¹ᵢⱼ = h_{i+j+1} give A = Σ^{−½} Uᵀ H¹ V Σ^{−½}. The eigenvalues of A are e^{μ dt}, with the poles μ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.short import Short

# largest number of rows and columns of the Hankel matrix; the time of the decomposition grows as the cube of this number
_HANKEL = 600


@dataclass(frozen=True, repr=False)
class Realisation(Short):
    """The impulse response from input i to output o: h_oi(t) = Re Σ_n residues[o, i, n] e^{poles[n] t}.

    poles: (modes,), in 1/s, with Im μ ≥ 0.
    residues: (outputs, inputs, modes).
    singular_values: the singular values of the Hankel matrix.
    """

    poles: np.ndarray
    residues: np.ndarray
    singular_values: np.ndarray


def realise(markov: np.ndarray, step: float, order: int | None = None, tolerance: float = 1e-6) -> Realisation:
    """Return poles and residues of impulse responses `(outputs, inputs, time)`, with the first sample at t = 0.

    step: sampling step in seconds.
    order: number of states; an oscillation needs two states. By default `choose_order` selects the order.
    tolerance: singular values below this part of the largest one are ignored. Used only without `order`.

    >>> decay = np.exp(-0.5 * 0.1 * np.arange(100))
    >>> realise(decay[None, None], 0.1).poles.real.round(6)
    array([-0.5])
    """
    markov = real_array(markov, "the impulse responses", "(outputs, inputs, time)", 3, finite=True).astype(np.float64)
    if not 1e-100 < step < 1e100:
        raise LfnoError(f"the step between the samples is {step:g}; a positive number of a sensible size is needed")
    if not np.abs(markov).max() < 1e100:
        raise LfnoError("the impulse responses reach beyond 1e100; use other units")
    if markov.ndim != 3 or markov.shape[-1] < 4:
        raise LfnoError(f"a realisation needs impulse responses (outputs, inputs, time ≥ 4), not {markov.shape}")
    outputs, inputs = markov.shape[:2]
    stride = _stride(markov)
    coarse = np.moveaxis(markov[..., ::stride], -1, 0)
    rows = min(len(coarse) // 2, max(_HANKEL // outputs, 2))
    columns = min(len(coarse) - rows, max(_HANKEL // inputs, 2))

    def hankel(start: int) -> np.ndarray:
        blocks = coarse[start + np.arange(rows)[:, None] + np.arange(columns)]
        return blocks.transpose(0, 2, 1, 3).reshape(rows * outputs, columns * inputs)

    left, values, right = np.linalg.svd(hankel(0)[:, : (columns - 1) * inputs], full_matrices=False)
    count = min(choose_order(values, tolerance) if order is None else order, int((values > 1e-14 * values[0]).sum()))
    if count == 0:
        return Realisation(np.zeros(0, complex), np.zeros((outputs, inputs, 0), complex), values)
    # the shifted matrix needs one sample more than the Hankel matrix, so both matrices leave out the last block column
    columns -= 1
    root = np.sqrt(values[:count])
    matrix = (left[:, :count].T @ hankel(1) @ right[:count].T) / np.outer(root, root)
    factors = np.linalg.eigvals(matrix)
    factors = factors[(factors.imag >= 0) & (np.abs(factors) > 1e-12)]
    poles = np.log(factors.astype(np.complex128)) / (stride * step)
    return Realisation(poles, _residues(markov, poles, step), values)


def choose_order(singular_values: np.ndarray, tolerance: float) -> int:
    """Return the number of singular values above `tolerance` times the first one and above the noise floor.

    The noise floor is 2.858 times the median of the singular values. Gavish and Donoho (2014) show that this threshold is
    optimal for a square matrix with white noise of unknown variance.
    """
    if not singular_values[0] > 0:
        return 0
    floor = max(tolerance * singular_values[0], 2.858 * float(np.median(singular_values)))
    return int((singular_values > floor).sum())


def _stride(markov: np.ndarray) -> int:
    """Return the stride of the subsampling before the realisation.

    The poles follow from differences of neighbouring samples. Neighbouring samples of a slow response are nearly equal, so
    their difference is mostly noise. The stride keeps at least four samples per period of the highest frequency. This
    frequency is the last one with an amplitude of at least 1 % of the spectral peak. The stride also keeps at least 40 samples,
    if the response has so many.
    """
    size = markov.shape[-1]
    taper = np.cos(0.5 * math.pi * np.arange(size) / size) ** 2
    spectrum = np.abs(np.fft.rfft(markov * taper, axis=-1)).max((0, 1))
    highest = int(np.flatnonzero(spectrum >= 0.01 * spectrum.max())[-1])
    return max(1, min(size // (4 * max(highest, 1)), size // 40))


def _residues(markov: np.ndarray, poles: np.ndarray, step: float) -> np.ndarray:
    """Return the residues (outputs, inputs, modes), from a least-squares fit to all samples of the response.

    The Hankel matrix contains only a part of the samples, so its factors would give less precise residues.
    """
    outputs, inputs, size = markov.shape
    modes = np.exp(np.outer(step * np.arange(size), poles))
    matrix = np.concatenate([modes.real, -modes.imag], axis=1)
    solution = np.linalg.lstsq(matrix, markov.reshape(-1, size).T, rcond=1e-12)[0]
    residues = solution[: len(poles)] + 1j * solution[len(poles) :]
    return residues.T.reshape(outputs, inputs, len(poles))
