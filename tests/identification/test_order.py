"""The choice of the number of modes: on new data, the identified model has the same error as the true system."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from lfno.core.grid import Grid
from lfno.identification.identify import Modes, identify

#: sampling step in seconds
STEP = 0.05
#: number of modes → frequencies in Hz
FREQUENCIES = {1: [0.8], 2: [0.6, 2.1], 6: [0.3, 0.7, 1.3, 2.2, 3.4, 5.0]}


def system(count: int, width: int) -> Modes:
    """Return a system of `count` modes with `width` inputs and `width` outputs.

    All modes have 3 % damping and residues of rank one. Their amplitudes fall with the frequency.
    """
    rng = np.random.default_rng(count)
    omega = 2 * np.pi * np.array(FREQUENCIES[count])
    poles = omega * (-0.03 + 1j * np.sqrt(1 - 0.03**2))
    shapes, forces = rng.uniform(0.5, 1.0, (width, count)), rng.uniform(0.5, 1.0, (width, count))
    signs = rng.choice([-1, 1], (width, count))
    residues = -1j * np.einsum("om,im->oim", signs * shapes, forces) / omega
    return Modes(poles, residues, np.zeros((width, width)), np.ones(count), 0.0, "linear")


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_the_error_on_new_data_equals_the_error_of_the_true_system(count: int, width: int, noise: float) -> None:
    truth = system(count, width)
    rng = np.random.default_rng(0)
    size, grid = 800, Grid.line(800, STEP)
    force, new = rng.normal(size=(8, width, size)), rng.normal(size=(8, width, size))
    motion, clean = truth.simulate(force, STEP), truth.simulate(new, STEP)
    scale = motion.std((0, 2), keepdims=True)
    motion = motion + noise * scale * rng.normal(size=motion.shape)
    measured = clean + noise * scale * rng.normal(size=clean.shape)
    found = identify(force, motion, grid)

    def error(answer: np.ndarray) -> float:
        return float(np.linalg.norm((answer - measured) / scale) / np.linalg.norm(measured / scale))

    reached = error(found.simulate(new, STEP))
    assert reached < (1.05 * error(clean) if noise else 1e-4)
    strong = found.poles[found.contributions > 0.02]
    assert (found.poles.real < 0).all()
    assert all(np.abs(truth.poles - pole).min() < 0.05 * abs(pole) for pole in strong), "a strong mode is false"


@pytest.mark.parametrize("seed", range(4))
def test_slow_noise_on_a_short_record_is_not_fitted_by_many_modes(seed: int) -> None:
    """The system has one mode, and its output has 30 % red noise. The fit has few modes, and no large ones that cancel."""
    truth = Modes(np.array([-0.25 + 0.3j]), np.full((1, 1, 1), 0.4 - 0.2j), np.zeros((1, 1)), np.ones(1), 0.0, "zero")
    rng = np.random.default_rng(seed)
    force = lfilter([1], [1, -1.7, 0.75], rng.normal(size=(1, 1, 200)))
    motion = truth.simulate(force, 1.0)
    rng.normal(size=motion.shape)
    noise = lfilter([1], [1, -1.8, 0.83], rng.normal(size=motion.shape))
    found = identify(force, motion + 0.3 * motion.std() / noise.std() * noise, Grid.line(200, 1.0), constant=True)
    assert len(found.poles) <= 3
    assert found.contributions.max() < 3
