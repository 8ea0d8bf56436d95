"""Linear models of long records with signals in a small frequency band: lightly damped modes at close frequencies are found."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.challenges.band import band_modes, decimated, decimation
from lfno.challenges.protocol import Record
from lfno.identification.identify import Modes

#: sampling interval in seconds
STEP = 1 / 400
#: frequencies of the modes in Hz
FREQUENCIES = np.array([3.0, 5.0, 5.6, 8.0])
#: poles of the modes, with 1.5 % damping
POLES = 2 * np.pi * FREQUENCIES * (-0.015 + 1j)


def records(count: int = 2, size: int = 30_000) -> list[Record]:
    """Return responses to noise between 2 and 10 Hz. The level of each record is ten times the level of the previous one."""
    truth = Modes(POLES, np.array([[[1.0, -0.7, 0.8, 0.5j]]]), np.zeros((1, 1)), np.ones(4), 0.0, "linear")
    spectrum = np.fft.rfft(np.random.default_rng(0).normal(size=(count, 1, size)))
    frequencies = np.fft.rfftfreq(size, STEP)
    spectrum[..., (frequencies < 2) | (frequencies > 10)] = 0
    force = np.fft.irfft(spectrum, size) * 10.0 ** np.arange(count)[:, None, None]
    return [Record("training", u, y) for u, y in zip(force, truth.simulate(force, STEP), strict=True)]


def test_the_decimation_keeps_the_band():
    factor = decimation(records())
    assert 8 <= factor <= 400 / (2 * 10)


def test_decimation_keeps_the_amplitude_of_a_slow_sine():
    time = STEP * np.arange(8000)
    found = decimated(np.sin(2 * np.pi * 5 * time)[None], 10)[0]
    assert np.abs(found).max() == pytest.approx(1, abs=0.01)


def test_all_modes_are_found():
    data = records()
    modes, inputs, _ = band_modes(data, STEP, decimation(data), 6)
    for pole in POLES:
        nearest = modes.poles[np.abs(modes.poles - pole).argmin()]
        assert abs(nearest - pole) < 0.003 * abs(pole)
    assert modes.error < 0.02
    assert inputs.shape[0] == 2
