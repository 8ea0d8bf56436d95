"""Causal finite impulse responses by ridge regression: the most general linear time-invariant model.

    u_o[t] = Σ_i Σ_{k<L} g_oi[k] f_i[t − k]

f_i is input i, u_o is output o, and g_oi is the impulse response of L taps between them. The matrix of the normal equations has
L² entries for each pair of inputs. In a trajectory without gaps, two neighbouring entries of a diagonal differ by two products
only. So Fourier transforms give the first row and the first column of the L × L entries of each pair. A matrix product gives
all differences along the diagonals, and the other entries follow by addition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.signal import oaconvolve

from lfno.core.errors import LfnoError
from lfno.core.short import Short

CHUNK = 256  # largest number of rows in one matrix product of `_change`; the limit bounds the memory


@dataclass(frozen=True, repr=False)
class Taps(Short):
    """A finite impulse response.

    taps: the impulse response (outputs, inputs, taps), one tap per step.
    constant: the fitted constant of each output, (outputs,); zero if none was fitted. `simulate` does not add this constant.
    """

    taps: np.ndarray
    constant: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def simulate(self, inputs: np.ndarray, step: float) -> np.ndarray:
        """Return the response (samples, outputs, time) from rest to inputs `(samples, inputs, time)`.

        The step must be the sampling step of the taps.
        """
        parts = [
            oaconvolve(inputs, self.taps[None, output], axes=-1)[..., : inputs.shape[-1]].sum(1)
            for output in range(len(self.taps))
        ]
        return np.stack(parts, axis=1)

    def frequency_response(self, frequencies: np.ndarray, step: float) -> np.ndarray:
        """Return Σ_k g[k] e^{−2πi f k dt} at frequencies in Hz, (outputs, inputs, frequencies)."""
        delays = step * np.arange(self.taps.shape[-1])
        return self.taps @ np.exp(-2j * math.pi * np.outer(delays, frequencies))


class NormalEquations:
    """The normal equations of trajectories `(samples, channels, time)` for up to `length` taps.

    rest: if True, the input was zero before the first sample. If False, the input before the first sample is unknown. Then the
        outputs of the first length − 1 steps are not fitted.
    moments: (samples, time), True where all outputs were measured. Only these moments are fitted.
    constant: fit a constant to each output. The sums then use deviations from the means. Each delay of an input has its own
        mean, because a delay shifts the measured moments to other samples of the input.

    >>> force = np.random.default_rng(0).normal(size=(1, 1, 500))
    >>> motion = 2 * force + np.pad(force, ((0, 0), (0, 0), (1, 0)))[..., :-1]
    >>> NormalEquations(force, motion, 8).solve(3, 1e-12).taps.round(6) + 0.0
    array([[[2., 1., 0.]]])
    """

    def __init__(
        self, inputs: np.ndarray, outputs: np.ndarray, length: int, rest: bool = True, moments: np.ndarray | None = None,
        constant: bool = False,
    ) -> None:  # fmt: skip
        past = length - 1
        scored = np.ones((len(inputs), inputs.shape[-1]), dtype=bool) if moments is None else moments.copy()
        if rest:
            before = ((0, 0), (0, 0), (past, 0))
            inputs, outputs, scored = np.pad(inputs, before), np.pad(outputs, before), np.pad(scored, before[1:])
        scored[:, :past] = False
        channels, size = inputs.shape[1:]
        points = 1 << (size + length).bit_length()
        spectrum = np.fft.rfft(inputs, points)

        def correlate(signal: np.ndarray) -> np.ndarray:
            """Return Σ signal_a[t] f_b[t − k] over the scored moments t, (signals, inputs, length)."""
            kept = np.where(scored[:, None], signal, 0.0)
            cross = np.einsum("saf,sbf->abf", np.fft.rfft(kept, points), spectrum.conj(), optimize=True)
            return np.fft.irfft(cross, points)[..., :length]

        self.right = correlate(outputs)
        first = correlate(inputs)
        change = _change(inputs, scored, past).reshape(channels, past, channels, past)
        self.left = np.empty((channels, length, channels, length))
        self.left[:, 0] = first
        self.left[:, :, :, 0] = first.transpose(1, 2, 0)
        for j in range(past):
            self.left[:, j + 1, :, 1:] = self.left[:, j, :, :-1] + change[:, j]
        self.input_means, self.output_means = np.zeros((channels, length)), np.zeros(outputs.shape[1])
        if constant:
            count = scored.sum()
            self.input_means = correlate(np.ones((len(inputs), 1, size)))[0] / count
            self.output_means = outputs.swapaxes(0, 1)[:, scored].mean(-1)
            self.left -= count * np.multiply.outer(self.input_means, self.input_means)
            self.right -= count * np.multiply.outer(self.output_means, self.input_means)

    def solve(self, length: int, ridge: float) -> Taps:
        """Return the `length` taps that minimise squared error + ridge × mean input energy × squared taps.

        Raises LfnoError for inputs that are constant up to rounding errors.
        """
        channels = self.left.shape[0]
        matrix = self.left[:, :length, :, :length].reshape(channels * length, -1)
        energy = np.trace(matrix) / len(matrix) or 1.0
        try:
            factor = cho_factor(matrix + ridge * energy * np.eye(len(matrix)), check_finite=False)
        except np.linalg.LinAlgError:
            raise LfnoError("the inputs do not vary where outputs were measured: there is no linear model") from None
        solution = cho_solve(factor, self.right[..., :length].reshape(len(self.right), -1).T, check_finite=False)
        taps = solution.T.reshape(len(self.right), channels, length)
        return Taps(taps, self.output_means - np.einsum("oik,ik->o", taps, self.input_means[:, :length]))


def _change(inputs: np.ndarray, scored: np.ndarray, past: int) -> np.ndarray:
    """Return the change of the sums Σ_t f_a[t − j] f_b[t − k] over the scored moments t, if both lags j and k grow by one step.

    f_a and f_b are two input channels. The result has the shape (channels × past, channels × past).

    inputs: (samples, channels, time).
    scored: (samples, time), True where the outputs are fitted.
    past: the longest lag in steps.

    With larger lags, each interval of scored moments moves back by one step. The sum gains the moment before the interval and
    loses the last moment of the interval.
    """
    edges = np.diff(np.pad(scored, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    change = np.zeros((inputs.shape[1] * past,) * 2)
    back = np.arange(past)
    for sign, (sample, moment) in ((1, np.nonzero(edges == 1)), (-1, np.nonzero(edges == -1))):
        for first in range(0, len(sample), CHUNK):
            rows, ends = sample[first : first + CHUNK], moment[first : first + CHUNK]
            histories = inputs[rows[:, None], :, ends[:, None] - 1 - back].swapaxes(1, 2).reshape(len(rows), -1)
            change += sign * (histories.T @ histories)
    return change
