"""The modes of known systems follow from their impulse responses, and from responses to pulses."""

import math

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.pulse import small_signal_modes
from lfno.identification.realisation import choose_order, realise
from lfno.spectral.physics import describe_poles

from .oscillator import Oscillator


@pytest.mark.parametrize(("step", "size"), [(0.02, 800), (0.002, 8000), (0.1, 400)])
def test_poles_and_residues_of_an_impulse_response(step: float, size: int) -> None:
    """The poles are found even if the two modes have 366 and 934 samples per period and neighbouring samples hardly differ."""
    true = Oscillator()
    markov = true.impulse(size, step)
    found = realise(markov, step)
    assert np.sort(found.poles.imag) == pytest.approx(true.poles.imag, rel=1e-8)
    again = np.einsum("oin,nt->oit", found.residues, np.exp(np.outer(found.poles, step * np.arange(size)))).real
    assert np.abs(again - markov).max() < 1e-9
    noisy = markov + 0.01 * markov.std() * np.random.default_rng(0).normal(size=markov.shape)
    found = realise(noisy, step)
    assert len(found.poles) == 2
    assert np.sort(found.poles.imag) == pytest.approx(true.poles.imag, rel=1e-3)


def test_a_real_pole_has_a_real_residue() -> None:
    time = 0.1 * np.arange(200)
    found = realise((2 * np.exp(-0.3 * time) + np.exp(-2 * time))[None, None], 0.1)
    assert np.sort(found.poles) == pytest.approx([-2, -0.3])
    assert np.sort(found.residues[0, 0]) == pytest.approx([1, 2])


def test_the_order_counts_singular_values_above_tolerance_and_noise_floor() -> None:
    assert choose_order(np.array([1.0, 0.5, 1e-4, 1e-9, 1e-9]), 1e-3) == 2
    assert choose_order(np.array([10.0, 1.0] + [0.02] * 20), 1e-6) == 2
    assert choose_order(np.zeros(5), 1e-6) == 0


def duffing(force: np.ndarray, step: float, cubic: float = 1.0) -> np.ndarray:
    """Return the solution (samples, 1, time) of x'' + 0.2 x' + 4 x + cubic x³ = f from rest, by RK4.

    The force is linear between samples.
    """
    force = np.asarray(force)[:, 0]
    state = np.zeros((2, len(force)))

    def rate(state: np.ndarray, push: np.ndarray) -> np.ndarray:
        return np.stack([state[1], push - 0.2 * state[1] - 4 * state[0] - cubic * state[0] ** 3])

    path = [state[0]]
    for now, then in zip(force.T[:-1], force.T[1:], strict=True):
        one = rate(state, now)
        two = rate(state + step / 2 * one, (now + then) / 2)
        three = rate(state + step / 2 * two, (now + then) / 2)
        four = rate(state + step * three, then)
        state = state + step / 6 * (one + 2 * two + 2 * three + four)
        path.append(state[0])
    return np.stack(path, axis=-1)[:, None]


def test_a_small_pulse_gives_the_linear_mode_in_single_precision() -> None:
    noise = np.random.default_rng(1)

    def respond(force: np.ndarray) -> np.ndarray:
        return (duffing(force, 0.02) + 1e-5 * noise.normal(size=force.shape)).astype(np.float32)

    modes = small_signal_modes(respond, Grid.line(1024, 0.02), amplitude=0.1)
    assert len(modes.poles) == 1
    assert modes.poles[0] == pytest.approx(-0.1 + 1j * math.sqrt(4 - 0.01), rel=1e-3)
    assert modes.residues[0, 0, 0] == pytest.approx(-1j / math.sqrt(4 - 0.01), rel=1e-2)


def test_duffing_frequency_rises_with_amplitude() -> None:
    grid = Grid.line(1024, 0.02)
    found = [small_signal_modes(lambda f: duffing(f, 0.02), grid, height, order=2) for height in (0.01, 5, 20, 50)]
    frequencies = [describe_poles(modes.poles)["frequency"][0] for modes in found]
    assert frequencies == sorted(frequencies)
    assert frequencies[-1] > 1.3 * frequencies[0]


@pytest.mark.parametrize("level", [1.0, 5.0, 20.0])
def test_modes_about_an_operating_level(level: float) -> None:
    """The equilibrium x₀ solves 4 x₀ + x₀³ = level, and the stiffness there is 4 + 3 x₀²."""
    modes = small_signal_modes(lambda f: duffing(f, 0.02), Grid.line(4096, 0.02), 0.01, operating=level)
    roots = np.roots([1, 0, 4, -level])
    rest = roots[np.abs(roots.imag) < 1e-9].real[0]
    assert modes.poles[0] == pytest.approx(-0.1 + 1j * math.sqrt(4 + 3 * rest**2 - 0.01), rel=1e-4)


def test_several_channels_give_mode_shapes() -> None:
    true = Oscillator()
    modes = small_signal_modes(lambda f: true.respond(f, 0.02), Grid.line(1500, 0.02), 1.0, channels=2)
    picked = [np.abs(modes.poles - pole).argmin() for pole in true.poles]
    assert modes.poles[picked] == pytest.approx(true.poles, rel=1e-5)
    assert np.abs(modes.shapes[:, picked] - true.shapes).max() < 1e-4


@pytest.mark.parametrize(("accuracy", "count"), [(0.0, 3), (0.01, 3), (0.1, 2), (0.6, 1)])
def test_modes_weaker_than_the_accuracy_are_not_found(accuracy: float, count: int) -> None:
    """The response has two modes. Between their frequencies it has a false mode with 4 % of the response.

    A network with an error of 4 % may have such a response.
    """
    step, true = 0.02, Oscillator()
    middle = np.abs(true.poles).mean()

    def respond(force: np.ndarray) -> np.ndarray:
        truth = true.respond(force, step)
        lie = np.stack([lsim(([1], [1, 0.1 * middle, middle**2]), f[0], step * np.arange(f.shape[-1]))[1] for f in force])
        return truth + 0.04 * np.linalg.norm(truth) / np.linalg.norm(lie) * lie[:, None]

    modes = small_signal_modes(respond, Grid.line(1500, step), 1.0, accuracy=accuracy)
    assert len(modes.poles) == count
    for pole in true.poles[: min(count, 2)]:
        assert np.abs(modes.poles - pole).min() < 0.02 * abs(pole)


def test_a_zero_response_or_a_negative_amplitude_raises_an_error() -> None:
    with pytest.raises(LfnoError, match="zero or not finite"):
        small_signal_modes(np.zeros_like, Grid.line(512, 0.1), 1.0)
    with pytest.raises(LfnoError, match="cannot show modes"):
        small_signal_modes(np.zeros_like, Grid.line(512, 0.1), -1.0)


def test_frequency_damping_and_time_constant_of_poles() -> None:
    told = describe_poles(np.array([-3 + 4j, -2 + 0j, 5j, 1 + 0j]))
    assert told["frequency"] == pytest.approx(np.array([4, 0, 5, 0]) / (2 * math.pi))
    assert told["natural_frequency"] == pytest.approx(np.array([5, 2, 5, 1]) / (2 * math.pi))
    assert told["damping_ratio"] == pytest.approx([0.6, 1, 0, -1])
    assert told["time_constant"] == pytest.approx([1 / 3, 0.5, math.inf, -1])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, bool])
def test_integer_responses_have_the_same_modes_as_float_responses(dtype):
    """An analogue-to-digital converter returns unsigned integers. The difference 3 − 5 must not become 254."""
    draw = np.random.default_rng(0)
    answers = draw.integers(0, 2 if dtype is bool else 100, (2, 1, 256)).astype(dtype)
    grid = Grid.line(256, 0.1)
    whole, floats = (small_signal_modes(lambda f, a=a: a, grid, 1.0) for a in (answers, answers.astype(float)))
    assert np.array_equal(whole.poles, floats.poles)
