"""Fits of models with feedback to known systems. Predictions, modes and characteristic are compared with the true ones."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.initial import resting_input, signal_scales
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from tests.identification.feedback.systems import duffing, multisines, solved, stretches

GRID = Grid.line(400, 0.1)


def duffing_data(seed: int, samples: int = 8, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return forces (samples, time) and motions (samples, 1, time) of the Duffing oscillator, without noise."""
    force = size * multisines(samples, 400, 0.1, 3.0, seed)
    return force, solved(duffing, np.zeros((samples, 2)), force, 0.1)[:, :1]


@pytest.fixture(scope="module")
def noisy_duffing() -> FeedbackModel:
    return fit_feedback(stretches(*duffing_data(0), 0.01), stretches(*duffing_data(1, 3), 0.01, 1), GRID)


def test_a_fit_to_data_with_noise_predicts_new_data_better_than_the_noise(noisy_duffing: FeedbackModel) -> None:
    force, motion = duffing_data(2, 5)
    error = np.linalg.norm(noisy_duffing.predict(force[:, None]) - motion) / np.linalg.norm(motion)
    assert error < 0.002  # 1 % noise in the training data
    assert noisy_duffing.hold == "linear"
    assert noisy_duffing.law.terms.names == ["z^3"]
    assert 0.8 < noisy_duffing.noise[0] / (0.01 * motion.std()) < 1.3


def test_intervals_of_the_modes_contain_the_true_values(noisy_duffing: FeedbackModel) -> None:
    truth = np.roots([1, 0.5, 1])[0]
    modes = noisy_duffing.small_signal_modes()
    assert abs(modes.poles[0] - truth) < 0.01
    width = np.sqrt(np.diag(modes.covariance[0]))
    assert np.all(width > 0)
    assert abs((modes.poles[0] - truth).real) < 4 * width[0]
    assert abs((modes.poles[0] - truth).imag) < 4 * width[1]


def test_characteristic_is_the_restoring_force(noisy_duffing: FeedbackModel) -> None:
    z, force, lower, upper = noisy_duffing.characteristic(51)
    truth = z + z**3
    assert np.abs(force - truth).max() < 0.01 * np.abs(truth).max()
    assert z[-1] > 1
    assert np.all(lower <= upper)
    assert ((truth > force - 2 * (force - lower)) & (truth < force + 2 * (upper - force))).mean() > 0.9


def test_model_file_predicts_the_same(noisy_duffing: FeedbackModel, tmp_path) -> None:
    noisy_duffing.save(tmp_path / "model.safetensors")
    again = FeedbackModel.load(tmp_path / "model.safetensors")
    force, _ = duffing_data(3, 2)
    assert np.array_equal(again.predict(force[:, None]), noisy_duffing.predict(force[:, None]))
    assert np.array_equal(again.characteristic(5)[2], noisy_duffing.characteristic(5)[2])


def test_prediction_is_causal(noisy_duffing: FeedbackModel) -> None:
    force, _ = duffing_data(3, 2)
    changed = force.copy()
    changed[:, 200:] = 0
    one, two = (noisy_duffing.predict(values[:, None])[..., :200] for values in (force, changed))
    assert np.abs(one - two).max() < 1e-12


def test_steady_part_is_periodic(noisy_duffing: FeedbackModel) -> None:
    time = 0.1 * np.arange(400)
    force = np.sin(2 * np.pi * 4 * time / 40)[None, None]
    transient, steady = noisy_duffing.decompose(force)
    longer = noisy_duffing.predict(np.tile(force, 4), Grid.line(1600, 0.1))
    assert np.abs(longer[..., 1200:] - steady).max() < 1e-6
    assert np.abs(transient + steady - noisy_duffing.predict(force)).max() < 1e-12


def test_unknown_initial_states_and_gaps_do_not_disturb_a_fit() -> None:
    force = multisines(1, 4000, 0.1, 3.0, 0)
    motion = solved(duffing, np.zeros((1, 2)), force, 0.1)[:, :1]
    mask = np.random.default_rng(0).random((1, 3900)) > 0.1
    noise = 0.002 * np.random.default_rng(1).normal(size=mask.shape)
    broken = np.where(mask, motion[0, :, 100:] + noise, 50.0)
    model = fit_feedback([Stretch(force[:, 100:], broken, mask)], [], GRID)
    new, truth = duffing_data(2, 5)
    assert np.linalg.norm(model.predict(new[:, None]) - truth) < 1e-3 * np.linalg.norm(truth)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_the_input_at_rest_is_zero_or_a_working_point(level: float) -> None:
    """A tank y′ = u − √y starts at y = level². For both levels, the mean of the input is 1."""
    force = 1 + 0.3 * multisines(4, 300, 0.1, 3.0, 0)
    motion = solved(lambda x, u: u[:, None] - np.sqrt(np.abs(x)), np.full((4, 1), level), force, 0.1)
    data = stretches(force, motion)
    assert resting_input(data, 0.1, signal_scales(data))[0] == pytest.approx(level, abs=0.1)


BAD = {
    "short": (lambda u, y: (u[:, :40], y[:, :40]), "too few"),
    "constant": (lambda u, y: (0 * u + 1, y), "constant"),
    "identical": (lambda u, y: (u, np.tile(y, (2, 1))), "identical"),
    "unexcited": (lambda u, y: (u, np.random.default_rng(int(1e6 * y[0, 5] ** 2)).normal(size=y.shape)), "excite no mode"),
    "missing": (lambda u, y: (u, np.where(y > 1, np.nan, y)), "NaN"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_raise_an_error_with_the_reason(name: str) -> None:
    change, word = BAD[name]
    force, motion = duffing_data(0, 6, 2.0)
    pairs = [change(u[None], y) for u, y in zip(force, motion, strict=True)]
    data = [Stretch(u, y, start="rest") for u, y in pairs]
    with pytest.raises(LfnoError, match=word):
        fit_feedback(data[:4], data[4:], GRID, seconds=2)


def test_a_single_period_without_validation_data_is_refused() -> None:
    """A period cannot be divided into training and validation windows."""
    force = multisines(1, 400, 0.1, 3.0, 0)
    period = Stretch(force, solved(duffing, np.zeros((1, 2)), force, 0.1)[0, :1], start="periodic")
    with pytest.raises(LfnoError, match="single window"):
        fit_feedback([period], [], GRID, seconds=2)


def test_a_linear_model_has_no_backbone() -> None:
    """Frequency and damping of a linear model do not depend on the amplitude, and z is always zero."""
    terms = Terms(1)
    law = Law(
        np.array([-0.1 + 1j]), np.ones((1, 1), complex), np.zeros((2, 0)), np.zeros((1, 2)), np.zeros(0), np.eye(1, 2),
        np.zeros((1, 1)), np.zeros(1), np.zeros(2), np.array([[-1.0, 1.0]]), terms,
    )  # fmt: skip
    model = FeedbackModel(
        law, Structure(0, 1, terms), np.zeros(1), GRID, "linear", 0.1, np.zeros((1, 2)), np.eye(5), np.ones(1)
    )
    with pytest.raises(LfnoError, match="no backbone"):
        model.backbone()


@pytest.mark.long
def test_a_cubic_spring_about_a_working_point_has_one_mode_and_a_quadratic_term() -> None:
    """The mode belongs to the equation linearised about the equilibrium under the mean force."""
    force = 2.0 * multisines(1, 2400, 0.1, 3.0, 5) + 0.4
    motion = solved(duffing, np.zeros((1, 2)), force, 0.1)[:, :1]
    motion = motion + 0.005 * np.random.default_rng(0).standard_normal(motion.shape)
    record = [Stretch(force[:, a:b], motion[0][:, a:b]) for a, b in ((200, 1700), (1700, 2400))]
    model = fit_feedback(record[:1], record[1:], GRID)
    assert {"z^3", "z^2"} <= {*model.law.terms.names}
    rest = np.roots([1, 0, 1, -force[0, 200:1700].mean()])
    rest = rest[np.abs(rest.imag) < 1e-9].real[0]
    poles = model.small_signal_modes().poles
    assert len(poles) == 1
    assert abs(poles[0] - np.roots([1, 0.5, 1 + 3 * rest**2])[0]) < 0.02
