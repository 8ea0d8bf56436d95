"""Periodic steady states: transfer functions, long simulations, exact solutions, and systems without a steady state."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.make import dataset
from lfno.systems import Beam, Brusselator, Burgers, Duffing, Heat, Lorenz, Pendulum, ReactionDiffusion, find

GRID = Grid.line(40, dt=0.16)
PERIOD = GRID.axes[0].length


def tones(t):
    """Return the sum of four sines whose periods divide the length of the window."""
    return sum(np.sin(2 * np.pi * k * t / PERIOD + k) / k for k in (1, 2, 3, 7))


def test_the_steady_state_of_a_linear_oscillator_is_its_transfer_function_times_the_input():
    """x̂(ω) = f̂(ω)/(α − ω² + icω) at every harmonic of the window."""
    found = Duffing(c=1.2, alpha=4.0, beta=0.0).steady_state(tones, GRID)
    force = tones(GRID["t"].points)
    omega = 2 * np.pi * np.fft.rfftfreq(40, 0.16)
    expected = np.fft.irfft(np.fft.rfft(force) / (4 - omega**2 + 1.2j * omega))
    assert found.reached.all()
    assert np.linalg.norm(found.values[0, 0] - expected) < 1e-5 * np.linalg.norm(expected)


@pytest.mark.parametrize("system", [Duffing(c=1.5), Lorenz(rho=5)])
def test_the_steady_state_repeats_itself(system):
    """The last of sixteen windows, solved from rest, equals the steady state."""
    sizes = np.array([0.2, 0.5])[:, None]
    found = system.steady_state(lambda t: sizes * tones(t), GRID)
    assert found.reached.all()
    many = Grid.line(40 * 16, dt=0.16)
    whole = system.solve(lambda t: sizes * tones(t), many)[..., -40:]
    assert np.linalg.norm(found.values - whole) < 3e-5 * np.linalg.norm(whole)


def test_an_array_is_continued_periodically():
    as_function = Duffing(c=1.5).steady_state(tones, GRID)
    as_array = Duffing(c=1.5).steady_state(tones(GRID["t"].points), GRID)
    assert np.abs(as_array.values - as_function.values).max() < 0.01 * np.abs(as_function.values).max()


def test_heat_in_closed_form_is_the_limit_of_repetition():
    """The last of forty windows of 0.5 s equals the steady state. The longest time constant is 1.6 s."""
    entry = find("heat-rich")
    grid, window = entry.grid, entry.grid.axes[1].length

    def load(x, t):
        return np.sin(np.pi * x / 3.92) * (1 + np.cos(2 * np.pi * t / window))

    found = Heat().steady_state(load, grid)
    whole = Heat().solve(load, grid.change("t", size=50 * 40))[..., -50:]
    assert np.abs(found.values - whole).max() < 1e-5 * np.abs(whole).max()


def test_reaction_diffusion_settles_or_blows_up():
    """The response to a weak load becomes periodic. The response to a strong load grows without bound."""
    grid = find("reaction-diffusion").grid
    sizes = np.array([0.3, -2.5])[:, None, None]

    def load(x, t):
        return sizes * np.sin(np.pi * x / 3.92) * (1 + np.cos(2 * np.pi * t))

    found = ReactionDiffusion().steady_state(load, grid)
    assert found.reached.tolist() == [True, False]
    assert np.isnan(found.values[1]).all()
    whole = ReactionDiffusion().solve(lambda x, t: load(x, t)[:1], grid.change("t", size=50 * 20))[..., -50:]
    assert np.abs(found.values[:1] - whole).max() < 1e-4 * np.abs(whole).max()


def test_a_response_that_drifts_reaches_no_steady_state():
    """A pendulum under a torque stronger than gravity turns for ever, so that its angle is never periodic."""
    found = Pendulum(c=0.5).steady_state(lambda t: 3.0 + 0 * t, Grid.line(10, dt=0.16))
    assert found.reached.tolist() == [False]
    assert np.isnan(found.values).all()


@pytest.mark.parametrize(
    ("system", "words"),
    [(Duffing(c=0), "damps"), (Beam(), "damps"), (Brusselator(), "without forcing"), (Burgers(), "not a force")],
)
def test_systems_without_a_steady_state_say_why(system, words):
    grid = system.signal_grid(system.grid)
    found = system.steady_state(np.zeros((2, *grid.shape)))
    assert found.values.shape == (2, 1, *system.grid.shape)
    assert not found.reached.any()
    assert words in found.reason


def test_data_sets_include_the_steady_state_on_request(tmp_path):
    small = {"count": 6, "out": tmp_path}
    plain = dataset("heat-rich", **small)
    assert plain.steady is None
    assert not plain.settled.any()
    data = dataset("heat-rich", steady=True, **small)
    np.testing.assert_array_equal(data.outputs, plain.outputs)
    assert data.steady.shape == data.outputs.shape
    assert data.settled.all()
    assert data[2:4].steady.shape == (2, 1, 50, 50)
    assert dataset("heat-rich", **small).steady is None
    again = data.from_xarray(data.to_xarray())
    np.testing.assert_array_equal(again.steady, data.steady)
    with pytest.raises(LfnoError, match="no periodic steady state"):
        dataset("duffing-c0", steady=True, **small)


def test_the_steady_state_of_a_data_set_belongs_to_the_sampled_input(tmp_path):
    """A model sees the samples of an input, not the function. The steady state must therefore follow from the samples."""
    data = dataset("heat-rich", steady=True, count=3, out=tmp_path, dtype="float64")
    again = Heat().steady_state(data.inputs, data.grid).values
    np.testing.assert_allclose(data.steady, again, rtol=1e-9, atol=1e-12)
