"""The estimated memory of a linear system is its true memory, whatever the length of the record, the input and the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import fftconvolve, lfilter

from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.data.system_memory import AT_ONCE, FORGOTTEN, by_spectra, memory
from lfno.systems.base import Channel
from tests.data.test_window_length import record

#: name of a system -> residues and poles of its impulse response, the sum of Re r p^t
SYSTEMS = {
    "first order": ([1.0], [np.exp(-1 / 20)]),
    "first order, slow": ([1.0], [np.exp(-1 / 150)]),
    "second order": ([-1j], [np.exp(-1 / 40 + 2j * np.pi / 100)]),
    "two modes": ([-1j, -1j], [np.exp(-1 / 60 + 2j * np.pi / 80), np.exp(-1 / 20 + 2j * np.pi / 15)]),
    "a weak slow decay": ([1.0, 0.1], [np.exp(-1 / 10), np.exp(-1 / 100)]),
}
INPUTS = {
    "white noise": lambda values: values,
    "low-pass noise": lambda values: lfilter([1.0], [1.0, -0.8], values),
    "steps": lambda values: np.repeat(values, 20)[: values.size],
}
LONG = 4000  # samples: every impulse response has ended


def impulse_response(name: str) -> np.ndarray:
    """Return the first LONG values of the impulse response."""
    residues, poles = (np.array(values, dtype=complex) for values in SYSTEMS[name])
    return (residues @ poles[:, None] ** np.arange(LONG)).real


def true_memory(name: str) -> int:
    """Return the number of samples until the impulse response stays below FORGOTTEN of its peak."""
    size = np.abs(impulse_response(name)[AT_ONCE:])
    return AT_ONCE + int(np.flatnonzero(size > FORGOTTEN * size.max())[-1]) + 1


def measured(name: str, form: str, size: int, noise: float, seed: int = 0) -> Record:
    """Return a record that begins in motion. The noise of the output is a share of its standard deviation."""
    draw = np.random.default_rng(seed)
    force = INPUTS[form](draw.normal(size=size + LONG))
    motion = fftconvolve(force, impulse_response(name))[: size + LONG]
    force, motion = force[None, LONG:], motion[None, LONG:]
    motion = motion + noise * motion.std() * draw.normal(size=motion.shape)
    return Record(force, motion, Grid.line(size, 0.05), (Channel("f"),), (Channel("u"),))


@pytest.mark.parametrize("size", [500, 2_000, 16_000])
@pytest.mark.parametrize("form", INPUTS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_memory_of_a_linear_system_does_not_depend_on_the_record(name: str, form: str, size: int) -> None:
    true = min(true_memory(name), size)
    # in a short record with noise, a weak slow response cannot be told from a drift
    noises = (0.0,) if (name, size) == ("a weak slow decay", 500) else (0.0, 0.03)
    for noise in noises:
        assert true / 1.5 < memory(measured(name, form, size, noise)) < 1.5 * true


@pytest.mark.parametrize("size", [2_000, 50_000])
def test_the_memory_with_ten_per_cent_noise(size: int) -> None:
    true = true_memory("two modes")
    assert true / 1.5 < memory(measured("two modes", "low-pass noise", size, 0.1)) < 1.5 * true


@pytest.mark.parametrize("direct", [0.0, 1.0, 30.0])
def test_an_immediate_response_is_not_part_of_the_memory(direct: float) -> None:
    """An acceleration contains the force itself. This direct part does not change the estimated memory."""
    ringing = record(40_000, 50, 20)
    mixed = replace(ringing, outputs=ringing.outputs + direct * ringing.inputs)
    for found in (memory(mixed), by_spectra(mixed)):
        assert found == pytest.approx(-50 * np.log(FORGOTTEN), rel=0.3)
    still = replace(ringing, outputs=direct * ringing.inputs)
    assert memory(still) <= 4
    assert by_spectra(still) <= 4


def test_a_memory_of_a_third_of_the_record() -> None:
    assert memory(record(6_000, 400, 50, noise=0.03)) == pytest.approx(-400 * np.log(FORGOTTEN), rel=0.1)


@pytest.mark.parametrize("change", ["ramp", "saturation", "coloured noise"])
def test_what_a_linear_model_does_not_explain_hardly_changes_the_memory(change: str) -> None:
    plain = measured("second order", "low-pass noise", 6_000, 0.02)
    size, draw = plain.outputs.std(), np.random.default_rng(1).normal(size=plain.outputs.shape)
    slow = {"ramp": np.linspace(-1, 1, 6_000), "coloured noise": lfilter([1.0], [1.0, -0.95], draw)}
    if change == "saturation":
        outputs = np.tanh(plain.outputs / size)
    else:
        outputs = plain.outputs + 0.1 * size * slow[change] / slow[change].std()
    assert memory(replace(plain, outputs=outputs)) == pytest.approx(true_memory("second order"), rel=0.5)


@pytest.mark.parametrize("size", [1_000, 4_000])
@pytest.mark.parametrize("share", [0.02, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_a_drift_of_the_sensor_is_no_slow_pole(seed: int, share: float, size: int) -> None:
    """A random walk resembles the response of a slow pole. The mode forgets in 5.8 time constants of 67 samples."""
    draw = np.random.default_rng(seed)
    pole = np.exp(-1 / 67 + 0.3j)
    force = draw.normal(size=size)
    motion, walk = lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], force), np.cumsum(draw.normal(size=size))
    drifted = motion + motion.std() * (share * walk / walk.std() + 0.01 * draw.normal(size=size))
    one = Record(force[None], drifted[None], Grid.line(size, 0.05), (Channel("f"),), (Channel("u"),))
    assert memory(one) == pytest.approx(-67 * np.log(FORGOTTEN), rel=0.2)


def test_several_inputs_and_outputs_in_different_units() -> None:
    """The slow response of the first output to the second input decides, although its unit makes it small."""
    draw = np.random.default_rng(0)
    forces = draw.normal(size=(3, 4_000)) * [[1.0], [1e3], [1.0]]
    slow, fast = lfilter([1.0], [1.0, -0.98], 1e-3 * forces[1]), lfilter([1.0], [1.0, -0.8], forces[0] + forces[2])
    outputs = np.stack([1e-6 * slow, fast])
    outputs += 0.02 * outputs.std(-1, keepdims=True) * draw.normal(size=outputs.shape)
    channels = tuple(Channel(f"f{k}") for k in range(3)), (Channel("a"), Channel("b"))
    assert memory(Record(forces, outputs, Grid.line(4_000, 0.05), *channels)) == pytest.approx(
        np.log(FORGOTTEN) / np.log(0.98), rel=0.3
    )


def test_the_spectra_give_the_memory_of_an_output_that_no_linear_model_explains() -> None:
    """The square of the motion forgets in half of the time, and the input explains nothing of it."""
    plain = measured("second order", "white noise", 20_000, 0.0)
    squared = replace(plain, outputs=plain.outputs**2)
    assert memory(squared) == by_spectra(squared)
    assert by_spectra(plain) == pytest.approx(true_memory("second order"), rel=0.3)
