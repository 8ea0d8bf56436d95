"""The frequency response of records in periodic steady state, smoothed by the local polynomial method.

U is the spectrum of the input, and Y is the spectrum of the output. Around every spectral line f, the response is a polynomial
in the distance d to the line,

    Y(f + d) = Σ_k s^k Σ_j H_kj(f) d^j U(f + d),        |d| ≤ width,  k = 0 … degree,  j = 0 … ORDER.

The level of a record is the root mean square of its input, and s is the level relative to the largest level of the training
data. A weighted least-squares fit to all records gives the coefficients H_kj. The estimate of the response at the line f is
Σ_k s^k H_k0(f). With degree 0 (only k = 0), the model is linear. With a higher degree, the response depends on the level. The
best linear approximation of a nonlinear system changes with the level, so such a model can describe records of several levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.identification.pairs import signal_pair

#: order of the local polynomial
ORDER = 2
#: half-widths, in spectral lines, that `choose_width` compares
WIDTHS = (4, 6, 8, 12, 16, 32, 64)
#: smallest input power of a line, relative to the strongest line; weaker lines carry no information
FLOOR = 1e-6
#: ridge of the normal equations, relative to the mean diagonal entry; a solution then exists even for identical inputs
RIDGE = 1e-7


@dataclass(frozen=True, repr=False)
class PeriodicResponse(Short):
    """A frequency response on the lines of one period.

    coefficients: H_k0, (degree + 1, outputs, inputs, lines) complex; zero on lines that were not excited, and on line 0.
    means: coefficients of the mean output, a polynomial in s, (degree + 1, outputs).
    unit: the level with s = 1, the largest level of the training data.
    width: half-width of the local polynomials in lines.
    """

    coefficients: np.ndarray
    means: np.ndarray
    unit: float
    width: int

    def simulate(self, inputs: np.ndarray) -> np.ndarray:
        """Return the steady outputs `(samples, outputs, period)` for inputs `(samples, inputs, period)`."""
        inputs = np.asarray(inputs, dtype=np.float64)
        lines = inputs.shape[-1] // 2 + 1
        if inputs.ndim != 3 or inputs.shape[1] != self.coefficients.shape[2] or lines != self.coefficients.shape[3]:
            raise LfnoError(
                f"the inputs have shape {inputs.shape}; (samples, {self.coefficients.shape[2]}, period) with "
                f"{self.coefficients.shape[3]} lines is needed"
            )
        powers = _powers(inputs, self.unit, len(self.coefficients) - 1)
        spectrum = np.einsum("sk,koif,sif->sof", powers, self.coefficients, np.fft.rfft(inputs), optimize=True)
        spectrum[..., 0] = inputs.shape[-1] * (powers @ self.means)
        return np.fft.irfft(spectrum, inputs.shape[-1])


def fit_periodic(inputs: np.ndarray, outputs: np.ndarray, degree: int = 0, width: int = 8) -> PeriodicResponse:
    """Return a frequency response fitted to periods `(samples, channels, period)` of records in steady state.

    degree: largest power of s. 0 for a linear model. With degree 2, the response depends on the level, and records of three
        levels are needed.
    width: half-width of the local polynomials, in lines of the spectrum.

    >>> force = np.random.default_rng(0).normal(size=(4, 1, 64))
    >>> model = fit_periodic(force, 3 * force - 3 * force.mean(-1, keepdims=True))
    >>> bool(np.allclose(model.coefficients[0, 0, 0, 1:], 3, atol=1e-4))
    True
    """
    inputs, outputs = signal_pair(inputs, outputs)
    if inputs.shape[-1] < 16 or not 1 <= width < inputs.shape[-1] // 4:
        raise LfnoError(f"a half-width of {width} lines does not fit a period of {inputs.shape[-1]} samples")
    unit = float(_level(inputs).max())
    if not unit > 0:
        raise LfnoError("the inputs are zero: they show no frequency response")
    powers = _powers(inputs, unit, degree)
    weight = 1 / np.maximum(powers[:, 1] if degree else _level(inputs) / unit, 1e-3) ** 2
    force, motion = np.fft.rfft(inputs), np.fft.rfft(outputs)
    size = np.sqrt((np.abs(force) ** 2).sum(0).max())
    force = force / size
    regressors = np.einsum("sk,sif->skif", powers, force).reshape(len(force), -1, force.shape[-1])
    gram = np.einsum("saf,sbf,s->fab", regressors.conj(), regressors, weight, optimize=True)
    right = np.einsum("saf,sof,s->fao", regressors.conj(), motion, weight, optimize=True)
    gram[0], right[0] = 0, 0  # the mean (line 0) is fitted separately below
    solution = _local(gram, right, width)
    power = (np.abs(force) ** 2).sum((0, 1))
    solution[power < FLOOR * power[1:].max()] = 0
    solution[0] = 0
    lines, _, count = solution.shape
    shape = (lines, degree + 1, inputs.shape[1], count)
    coefficients = solution.reshape(shape).transpose(1, 3, 2, 0) / size
    means = np.linalg.lstsq(powers, outputs.mean(-1), rcond=None)[0]
    return PeriodicResponse(coefficients, means, unit, width)


def cross_fit(inputs: np.ndarray, outputs: np.ndarray, folds: np.ndarray, degree: int, width: int) -> np.ndarray:
    """Return the simulated outputs of all samples, for cross-validation.

    The outputs of a sample come from a model that is fitted to the other folds only.

    folds: the number of the fold of each sample, (samples,).
    degree, width: arguments of `fit_periodic`.
    """
    found = np.zeros(outputs.shape)
    for fold in np.unique(folds):
        own = folds == fold
        found[own] = fit_periodic(inputs[~own], outputs[~own], degree, width).simulate(inputs[own])
    return found


def choose_width(
    inputs: np.ndarray, outputs: np.ndarray, held_inputs: np.ndarray, held_outputs: np.ndarray, degree: int
) -> int:
    """Return the half-width with the smallest mean relative error on the held-out samples.

    The candidates are `WIDTHS`. If a width is too large for the period, the largest permitted width replaces it.

    inputs, outputs: samples for the fit, (samples, channels, period).
    held_inputs, held_outputs: held-out samples of the same kind.
    degree: argument of `fit_periodic`.
    """
    size = np.linalg.norm(held_outputs, axis=(1, 2))
    size[size == 0] = 1.0

    def error(width: int) -> float:
        answer = fit_periodic(inputs, outputs, degree, width).simulate(held_inputs)
        return float((np.linalg.norm(answer - held_outputs, axis=(1, 2)) / size).mean())

    most = max(inputs.shape[-1] // 4 - 1, 1)
    return min(sorted({min(width, most) for width in WIDTHS}), key=error)


def _level(inputs: np.ndarray) -> np.ndarray:
    """Return the level of each sample, the root mean square of its inputs, (samples,)."""
    return np.sqrt((inputs**2).mean((1, 2)))


def _powers(inputs: np.ndarray, unit: float, degree: int) -> np.ndarray:
    """Return the powers s^k of the level, (samples, degree + 1)."""
    return (_level(inputs) / unit)[:, None] ** np.arange(degree + 1)


def _local(gram: np.ndarray, right: np.ndarray, width: int) -> np.ndarray:
    """Return the coefficients at d = 0 of the local polynomial at each line, (lines, columns, outputs).

    A column is one power of s of one input.

    gram: matrix of the normal equations of each line, (lines, columns, columns).
    right: right-hand side of each line, (lines, columns, outputs).
    width: half-width in lines.
    """
    lines, columns = right.shape[:2]
    distance = np.arange(-width, width + 1) / width
    window = np.hanning(2 * width + 3)[1:-1]

    def moment(values: np.ndarray, power: int) -> np.ndarray:
        """Return Σ_d window(d) d^power values(f + d) for every line f."""
        weights = window * distance**power
        padded = np.zeros((lines + 2 * width, *values.shape[1:]), dtype=values.dtype)
        padded[width : width + lines] = values
        return sum(weight * padded[k : k + lines] for k, weight in enumerate(weights))

    sums = [moment(gram, power) for power in range(2 * ORDER + 1)]
    matrix = np.concatenate([np.concatenate(sums[j : j + ORDER + 1], axis=2) for j in range(ORDER + 1)], axis=1)
    target = np.concatenate([moment(right, power) for power in range(ORDER + 1)], axis=1)
    trace = np.trace(matrix, axis1=1, axis2=2).real
    ridge = RIDGE * np.maximum(trace, 1e-12 * trace.max()) / matrix.shape[1]
    return np.linalg.solve(matrix + ridge[:, None, None] * np.eye(matrix.shape[1]), target)[:, :columns]
