"""Frequency responses of periodic records: nearly exact for smooth responses, also if the response depends on the level."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.identification.periodic import choose_width, cross_fit, fit_periodic

#: number of samples in a period
SIZE = 1024


def multisines(samples: int, channels: int, seed: int = 0) -> np.ndarray:
    """Return random-phase multisines (samples, channels, time). All lines except the mean and the upper fifth are excited."""
    rng = np.random.default_rng(seed)
    spectrum = np.zeros((samples, channels, SIZE // 2 + 1), complex)
    lines = slice(1, int(0.8 * SIZE / 2))
    spectrum[..., lines] = np.exp(2j * np.pi * rng.random(spectrum[..., lines].shape)) * np.sqrt(SIZE)
    return np.fft.irfft(spectrum, SIZE)


def filtered(inputs: np.ndarray, decay: float, frequency: float) -> np.ndarray:
    """Return the steady response of a system with the impulse response e^{−decay t} sin(2π frequency t), with t in periods."""
    s = 2j * np.pi * np.arange(SIZE // 2 + 1)
    return np.fft.irfft(np.fft.rfft(inputs) * 1e3 / ((s + decay) ** 2 + (2 * np.pi * frequency) ** 2), SIZE)


def relative(answer: np.ndarray, truth: np.ndarray) -> float:
    """Return the relative L2 error."""
    return float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))


def test_a_linear_system_with_two_inputs_is_found():
    inputs = multisines(5, 2)
    outputs = np.stack([filtered(inputs[:, 0], 150, 60) - filtered(inputs[:, 1], 120, 40), filtered(inputs[:, 1], 90, 80)], 1)
    model = fit_periodic(inputs[:4], outputs[:4], width=4)
    assert relative(model.simulate(inputs[4:]), outputs[4:]) < 5e-4


def test_the_error_of_the_local_polynomial_is_of_third_order_in_the_width():
    """Half the width gives about an eighth of the error."""
    inputs = multisines(3, 1)
    outputs = filtered(inputs, 150, 60)
    errors = [relative(fit_periodic(inputs, outputs, width=width).simulate(inputs), outputs) for width in (16, 8)]
    assert errors[1] < errors[0] / 7


def test_a_response_that_depends_on_the_level():
    """The system is y = (a + b s + c s²) ∗ u + s with the level s of the input u, and three impulse responses a, b and c.

    A linear model fails. A model of degree 2 is nearly exact, also at a level between the training levels.
    """
    shapes = multisines(13, 1)
    levels = np.r_[np.repeat([1.0, 2.0, 3.0], 4), 1.6][:, None, None]
    inputs = levels * shapes
    s = np.sqrt((inputs**2).mean((1, 2), keepdims=True))
    outputs = filtered(inputs, 150, 60) + s * filtered(inputs, 120, 50) - 0.1 * s**2 * filtered(inputs, 130, 70) + s
    linear, level = (fit_periodic(inputs[:12], outputs[:12], degree, 4) for degree in (0, 2))
    assert relative(linear.simulate(inputs[12:]), outputs[12:]) > 0.1
    assert relative(level.simulate(inputs[12:]), outputs[12:]) < 1e-3


def test_the_cross_fitted_output_of_a_sample_does_not_depend_on_its_own_fold():
    inputs, rng = multisines(6, 1), np.random.default_rng(1)
    outputs = filtered(inputs, 150, 60)
    folds = np.arange(6) % 3
    before = cross_fit(inputs, outputs, folds, 0, 4)
    changed = outputs.copy()
    changed[folds == 1] += rng.normal(size=changed[folds == 1].shape)
    after = cross_fit(inputs, changed, folds, 0, 4)
    np.testing.assert_array_equal(before[folds == 1], after[folds == 1])
    assert np.abs(before[folds != 1] - after[folds != 1]).max() > 1e-3


def test_a_sharp_resonance_gets_a_small_width_and_noise_gets_a_large_width():
    inputs, rng = multisines(6, 1), np.random.default_rng(2)
    sharp, smooth = filtered(inputs, 30, 60), filtered(inputs, 2000, 60)
    noisy = smooth + 0.3 * smooth.std() * rng.normal(size=smooth.shape)
    split = slice(4), slice(4, 6)
    widths = [choose_width(inputs[split[0]], y[split[0]], inputs[split[1]], y[split[1]], 0) for y in (sharp, noisy)]
    assert widths[0] <= 6 < widths[1]


def test_wrong_arguments_raise_an_error():
    inputs = multisines(3, 1)
    with pytest.raises(LfnoError, match="half-width of 400"):
        fit_periodic(inputs, inputs, width=400)
    with pytest.raises(LfnoError, match="the inputs are zero"):
        fit_periodic(0 * inputs, inputs)
    with pytest.raises(LfnoError, match="the inputs have shape"):
        fit_periodic(inputs, inputs).simulate(inputs[..., :100])
