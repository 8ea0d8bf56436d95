"""Fit the impulse response of one output by poles and zeros: the method of Steiglitz and McBride.

    y[t] = Σ_i B_i(q) / A(q) u_i[t] + C(q) / A(q) δ[t] + constant + noise

A, B_i and C are polynomials of the delay q: q x[t] = x[t − 1]. C describes the motion that the record begins with. The method
repeats a linear least-squares fit of A, B and C to signals that are filtered by 1/A of the last fit. The residual is then the
error of a simulation, so white noise of the output does not bias the poles.

Slow poles are near 1 if the sampling is dense, and noise then hides them. So the first fits use signals that a low-pass filter
and a lower sampling rate have made short. The fit at the full rate begins with the best of these poles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

ORDERS = (0, 1, 2, 3, 4, 6)  # numbers of poles that are tried
STRIDES = (1, 2, 4, 8, 16, 32, 64)  # ratios of the full to the lower sampling rate that are tried
STARTS = 4  # iterations at a lower rate
ITERATIONS = 6  # largest number of iterations at the full rate
LONGEST = 16_384  # samples: a longer record is cut
WORK = 5e7  # samples × (columns of the least-squares problem)²: a record of many inputs is cut to this number
ROWS = 8  # least number of samples for each unknown
CLEARLY = 10.0  # a model with more poles must lower the criterion of Bayes by this much
EXACT = 1e-14  # part of the mean square of the output: smaller errors are rounding errors
FAINT = 0.01  # part of the rms of the output: a pole whose response to the inputs is weaker than this does not count
UNSURE = 0.5  # part of the rms of the error: a pole with a weaker response may describe a nonlinearity or coloured noise
# a pole may describe a drift of the sensor if its response is weaker than this part of the rms of the output …
WEAK = 0.3
# … and than this multiple of the rms of the error, because much of a random drift remains in the error
SURE = 9.0
DISTINCT = 10.0  # frequencies: such a response must have power at more frequencies than a drift (about five)
INSIDE = 1 - 1e-5  # largest |p| of a pole


@dataclass(frozen=True)
class Fit:
    """The fit of one output.

    poles: the poles p of A, complex (n,).
    residues: r of each input and pole, complex (inputs, n): the impulse response for t > 0 is Σ_k r_k p_k^t.
    error: mean square of the error of the simulation, divided by the variance of the output.
    """

    poles: np.ndarray
    residues: np.ndarray
    error: float


def fit_poles(inputs: np.ndarray, output: np.ndarray) -> Fit:
    """Return the fit of an output (time,) with the best number of poles by the criterion of Bayes (BIC).

    inputs: (inputs, time).

    Poles with a faint response to the inputs are left out, and so are poles that may describe a drift of the sensor.

    >>> force = np.random.default_rng(0).normal(size=(1, 400))
    >>> fit_poles(force, lfilter([0.0, 1.0], [1.0, -0.9], force[0])).poles.real.round(6)
    array([0.9])
    """
    size = min(output.size, LONGEST, max(int(WORK / columns(len(inputs), ORDERS[-1]) ** 2), 64))
    u, y = inputs[:, :size] - inputs[:, :size].mean(1, keepdims=True), output[:size] - output[:size].mean()
    power = float((y**2).mean()) or 1.0
    best = _Model(np.ones(1), np.zeros((len(u), 1)), power)
    least = np.inf
    for order in ORDERS:
        if size < ROWS * columns(len(u), order):
            break
        model = _fitted(u, y, order)
        if model is None:
            continue
        criterion = size * np.log(max(model.cost / power, EXACT)) + (columns(len(u), order) + order) * np.log(size)
        if criterion < least - CLEARLY:
            best, least = model, criterion
    return _strong(best, u, power)


def columns(inputs: int, order: int) -> int:
    """Return the number of unknown coefficients of A, B, C and of the constant."""
    return inputs * (order + 1) + 2 * order + 1


@dataclass(frozen=True)
class _Model:
    """The coefficients of A (n + 1,) and of B (inputs, n + 1), and the mean square of the error of the simulation."""

    a: np.ndarray
    b: np.ndarray
    cost: float


def _fitted(u: np.ndarray, y: np.ndarray, order: int) -> _Model | None:
    """Return the best model with this number of poles; None if every least-squares problem is singular."""
    found = [model for a in _starts(u, y, order) if (model := _numerators(u, y, a)) is not None]
    if not found:
        return None
    best = min(found, key=lambda model: model.cost)
    for _ in range(ITERATIONS if order else 0):
        a = _denominator(u, y, best.a)
        model = None if a is None else _numerators(u, y, a)
        if model is None or not model.cost < best.cost * (1 - 1e-6):
            break
        best = model
    return best


def _starts(u: np.ndarray, y: np.ndarray, order: int) -> Iterator[np.ndarray]:
    """Yield coefficients of A at the full rate, from fits at lower rates."""
    for stride in STRIDES if order else (1,):
        less = [_slower(values, stride) for values in (u, y)]
        if less[1].size < ROWS * columns(len(u), order):
            return
        a: np.ndarray | None = np.eye(1, order + 1)[0]
        for _ in range(STARTS if order else 0):
            a = None if a is None else _denominator(less[0], less[1], a)
        if a is None:
            continue
        poles = np.roots(a).astype(complex)
        # a pole without oscillation that changes its sign with every sample has no counterpart at the full rate
        if len(poles) == order and (stride == 1 or not (np.isclose(poles.imag, 0) & (poles.real <= 0)).any()):
            yield np.atleast_1d(np.poly(np.exp(np.log(poles) / stride) if stride > 1 else poles)).real


def _slower(values: np.ndarray, stride: int) -> np.ndarray:
    """Return values (…, time) after a low-pass filter, at a lower rate."""
    if stride == 1:
        return values
    window = np.hanning(4 * stride + 1)
    return np.asarray(lfilter(window / window.sum(), [1.0], values)[..., 4 * stride :: stride])


def _lagged(values: np.ndarray, lags: range) -> list[np.ndarray]:
    """Return a signal (time,), delayed by each number of samples."""
    return [np.concatenate([np.zeros(lag), values[: values.size - lag]]) for lag in lags]


def _regressors(u: np.ndarray, size: int, a: np.ndarray) -> list[np.ndarray]:
    """Return the columns of B, C and of the constant, filtered by 1/A."""
    order = len(a) - 1
    found = [column for one in u for column in _lagged(lfilter([1.0], a, one), range(order + 1))]
    return found + _lagged(lfilter([1.0], a, np.eye(1, size)[0]), range(order))


def _solved(columns: list[np.ndarray], target: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (coefficients, residual) of a least-squares problem; None if it is singular or not finite."""
    matrix = np.stack(columns, 1)
    size = np.linalg.norm(matrix, axis=0)
    matrix = matrix / np.where(size > 0, size, 1.0)
    if not np.isfinite(matrix).all():
        return None
    try:
        found = np.linalg.solve(matrix.T @ matrix + 1e-12 * np.eye(len(size)), matrix.T @ target)
    except np.linalg.LinAlgError:
        return None
    return found / np.where(size > 0, size, 1.0), target - matrix @ found


def _denominator(u: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray | None:
    """Return the coefficients of A after one iteration. Poles outside of the unit circle are mirrored."""
    order, filtered = len(a) - 1, lfilter([1.0], a, y)
    own = [-column for column in _lagged(filtered, range(1, order + 1))]
    found = _solved([*own, *_regressors(u, y.size, a), lfilter([1.0], a, np.ones(y.size))], filtered)
    if found is None or not np.isfinite(found[0]).all():
        return None
    poles = np.roots(np.concatenate([[1.0], found[0][:order]]))
    size = np.maximum(np.abs(poles), 1e-12)
    poles = poles / size * np.minimum(np.where(size > 1, 1 / size, size), INSIDE)
    return np.atleast_1d(np.poly(np.concatenate([poles, np.zeros(order - len(poles))]))).real


def _numerators(u: np.ndarray, y: np.ndarray, a: np.ndarray) -> _Model | None:
    """Return the model with the given A and the best B, C and constant."""
    found = _solved([*_regressors(u, y.size, a), np.ones(y.size)], y)
    if found is None:
        return None
    b = found[0][: len(u) * len(a)].reshape(len(u), len(a))
    return _Model(a, b, float((found[1] ** 2).mean()))


def _strong(model: _Model, u: np.ndarray, power: float) -> Fit:
    """Return the poles whose response to the inputs is not faint and is no drift, with their residues.

    A random drift resembles the response of a slow pole to any input. Its power lies at the few lowest frequencies of the
    record, and much of it remains in the error. So a weak response that is not much larger than the error counts only if its
    power is spread over more frequencies.
    """
    poles = np.roots(model.a).astype(complex)
    poles = poles[np.abs(poles) > 1e-6]  # a pole at zero is a delay
    places = 1 / poles
    others = 1 - places[:, None] * poles
    np.fill_diagonal(others, 1.0)
    numerators = (model.b[:, None] * places[:, None] ** np.arange(model.b.shape[1])).sum(-1)
    residues = numerators / np.where(others == 0, 1e-300, others).prod(1)
    least, sure, kept = max(FAINT**2 * power, UNSURE**2 * model.cost), min(WEAK**2 * power, SURE**2 * model.cost), []
    for pole, row in zip(poles, residues.T, strict=True):
        response = lfilter([1.0], [1.0, -pole], row @ u)
        size = float((np.abs(response) ** 2).mean())
        kept.append(size > least and (size > sure or frequencies(response.real) > DISTINCT))
    return Fit(poles[kept], residues[:, kept], model.cost / power)


def frequencies(signal: np.ndarray) -> float:
    """Return the number of frequencies, positive and negative, over which the power P of a signal is spread: (Σ P)² / Σ P².

    >>> round(frequencies(np.sin(2 * np.pi * 3 * np.arange(100) / 100)), 6)
    2.0
    """
    lines = np.abs(np.fft.fft(signal - signal.mean())) ** 2
    return float(lines.sum() ** 2 / max((lines**2).sum(), 1e-300))
