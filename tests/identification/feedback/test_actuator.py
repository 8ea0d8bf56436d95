"""A linear system with curved actuators and dead times: derivatives, exact recovery, units and storage."""

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import cont2discrete, lfilter

from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.dead_time import delayed
from lfno.identification.feedback.initial import signal_scales
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import cut

SIZE = 600
TERMS = Terms(2, powers=((2, 0), (3, 0)), knees=(0, 1))


def law() -> Law:
    """Return a law with one decay, one oscillation, and two curved actuators. Both inputs exceed the limits of the curves."""
    draw = np.random.default_rng(1)
    drive = draw.normal(size=(2, 2)) + 1j * draw.normal(size=(2, 2)) * [[0], [1]]
    matrix = np.array([[1.0, 0, 0.3, -0.1, 0.5, 0], [0, 0.4, 0, 0, 0, 1.2]])
    return Law(
        np.array([-0.3 + 0j, -0.2 + 1.1j]), drive, np.zeros((3, 4)), np.diag([1.0, 0.7]), draw.normal(size=4),
        draw.normal(size=(2, 3)), np.zeros((2, 2)), np.zeros(2), np.zeros(3), np.tile([-1.5, 1.5], (2, 1)), TERMS,
        actuator=matrix,
    )  # fmt: skip


@pytest.mark.parametrize("hold", ["zero", "cubic"])
def test_the_jacobian_equals_finite_differences(hold: str) -> None:
    draw, own = np.random.default_rng(0), law()
    data = [Stretch(np.repeat(draw.normal(size=(2, 10)), 4, -1), draw.normal(size=(2, 40))) for _ in range(2)]
    windows = cut(data, 0.5, signal_scales(data), hold, delays=np.array([1.0, 2.5]))
    structure = Structure(1, 1, TERMS, actuator=(0, 0)).anchored(own)
    problem = Problem(windows, structure, own)
    point = Point(structure.pack(own), 0.1 * draw.normal(size=(2, 3)))
    found = problem.jacobian(point, problem.states(point))
    for k, nudge in enumerate(1e-6 * np.eye(len(point.vector))):
        ends = [problem.residual(Point(point.vector + sign * nudge, point.starts)) for sign in (1, -1)]
        assert np.abs((ends[0] - ends[1]) / 2e-6 - found[..., k]).max() < 1e-7 * (1 + np.abs(found[..., k]).max())


def test_the_fixed_entry_of_each_mode_stays_the_same_during_a_fit() -> None:
    """A fit does not change the entry of B that is the largest of its mode at the start. Another entry may become larger."""
    own = law()
    structure = Structure(1, 1, TERMS, actuator=(0, 0)).anchored(own)
    draw = np.random.default_rng(0)
    data = [Stretch(draw.normal(size=(2, 40)), draw.normal(size=(2, 40)))]
    problem = Problem(cut(data, 0.5, signal_scales(data), "zero"), structure, own)
    vector = structure.pack(own)
    vector[structure.places(2, 2)["drive"]] *= 50
    point = Point(vector, np.zeros((1, 3)))
    changed = problem.law(point)
    assert (np.abs(changed.drive).argmax(axis=1) != structure.fixed(own)).all()
    np.testing.assert_array_equal(structure.pack(changed), vector)
    found, nudge = problem.jacobian(point, problem.states(point)), 1e-6 * np.eye(len(vector))[3]
    ends = [problem.residual(Point(vector + sign * nudge, point.starts)) for sign in (1, -1)]
    assert np.abs((ends[0] - ends[1]) / 2e-6 - found[..., 3]).max() < 1e-7 * (1 + np.abs(found[..., 3]).max())


def test_delays_of_any_size() -> None:
    ramp = np.tile(np.arange(1.0, 8.0), (3, 1))
    whole = delayed(ramp, np.array([0.0, 2.0, 2.5]))
    np.testing.assert_allclose(whole[:, 4:], ramp[:, 4:] - np.array([[0.0], [2.0], [2.5]]))
    assert np.all(whole[1:, :2] == 0)
    assert np.all(delayed(ramp, np.array([0.0, 9.0, 9.0]))[1:] == 0)
    np.testing.assert_allclose(delayed(ramp, np.full(3, 2.5), "periodic")[0, :3], [5.5, 6.5, 4.0])


def steps(count: int, seed: int) -> np.ndarray:
    """Return inputs (count, SIZE) that keep each random value for twelve samples."""
    return np.repeat(np.random.default_rng(seed).uniform(-1.5, 1.5, (count, SIZE // 12)), 12, axis=-1)


def response(effective: np.ndarray, numerator: list[float], denominator: list[float]) -> np.ndarray:
    """Return the exact response of a transfer function to inputs that are constant between samples, one second apart."""
    top, bottom, _ = cont2discrete((numerator, denominator), 1.0)
    return np.asarray(lfilter(top.ravel(), bottom, effective))


def plant(u: np.ndarray) -> np.ndarray:
    """Return the response to a quadratic valve with a dead time of four samples, plus the linear response to a second input."""
    late = np.concatenate([np.zeros(4), u[0, :-4]])
    return response(late + 0.3 * late**2, [1.0], [50.0, 15.0, 1.0]) - 0.5 * response(u[1], [1.0], [8.0, 1.0])


def test_a_valve_with_a_dead_time_is_found_exactly(tmp_path: Path) -> None:
    """Without noise, dead times, curve and output are exact, in the user's units and after storage."""
    unit, offset = np.array([[20.0], [0.01]]), np.array([[50.0], [3.0]])

    def measured(seed: int) -> Stretch:
        u = steps(2, seed)
        return Stretch(offset + unit * u, 7 * plant(u)[None] + 90, start="unknown")

    model = fit_feedback([measured(0)], [measured(1)], Grid.line(SIZE, 1.0), seconds=1e6)
    model.save(tmp_path / "valve.safetensors")
    again = FeedbackModel.load(tmp_path / "valve.safetensors")
    assert again.delays.tolist() == [4.0, 0.0]
    assert again.curved_inputs == [0]
    test = measured(2)
    missed = (again.predict(test.inputs[None])[0] - test.outputs)[:, 200:]
    assert np.abs(missed).max() < 1e-4 * test.outputs.std()
    u, v, lower, upper = again.characteristic()
    true = (u - 50) / 20 + 0.3 * ((u - 50) / 20) ** 2
    np.testing.assert_allclose(v, u[0] + (true - true[0]) * np.ptp(u) / np.ptp(true), atol=1e-3 * np.ptp(u))
    assert np.all(upper >= lower)
    poles = again.small_signal_modes().poles
    for pole in (-0.1, -0.2, -0.125):
        assert np.abs(poles - pole).min() < 1e-4


def test_an_input_with_two_levels_gets_no_curve() -> None:
    u = 1.5 * np.sign(steps(1, 3))
    y = response(u[0] + 0.3 * u[0] ** 2, [1.0], [50.0, 15.0, 1.0]) + 0.02 * np.random.default_rng(0).normal(size=SIZE)
    data = [Stretch(u[:, part], y[None, part]) for part in (slice(0, 400), slice(400, None))]
    assert not fit_feedback(data[:1], data[1:], Grid.line(400, 1.0), seconds=1e6).curved_inputs
