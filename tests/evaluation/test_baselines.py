"""Each baseline is exact for data of its own kind."""

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.evaluation.baselines import BASELINES, fit_baselines
from lfno.evaluation.metrics import relative_l2
from lfno.identification.fir import NormalEquations
from lfno.identification.frequency import measure_response
from lfno.identification.linear import fit_record, fit_trajectories
from tests.identification.oscillator import Oscillator, multisine

FIELD = Grid((Axis("x", 5, 0.1), Axis("t", 12, 0.1, time=True)))


def test_interpolation_and_extrapolation_are_exact_for_outputs_linear_in_the_parameter() -> None:
    rng = np.random.default_rng(0)
    base, slope = rng.normal(size=(2, 1, 5, 12))
    amplitude = rng.permutation(np.linspace(1, 2, 20))
    fields = base + amplitude[:, None, None, None] * slope
    predict = BASELINES["interpolation"](fields, fields, amplitude, FIELD)
    wanted = np.array([[0.5], [1.234], [3.0]])
    assert predict(np.zeros((3, 1)), wanted) == pytest.approx(base + wanted[..., None, None] * slope)
    twice = BASELINES["interpolation"](fields, np.concatenate([fields, fields + 2]), np.tile(amplitude, 2), FIELD)
    assert twice(np.zeros((3, 1)), wanted) == pytest.approx(base + wanted[..., None, None] * slope + 1)


def test_interpolation_needs_one_parameter() -> None:
    fields = np.random.default_rng(0).normal(size=(10, 1, 5, 12))
    with pytest.raises(LfnoError, match="exactly one parameter"):
        BASELINES["interpolation"](fields, fields, np.ones((10, 2)), FIELD)
    assert set(fit_baselines(fields, fields, None, FIELD)) == {"mean", "persistence", "linear"}
    assert set(fit_baselines(fields, fields, np.arange(10.0), FIELD)) == set(BASELINES)


def test_mean() -> None:
    fields = np.random.default_rng(0).normal(size=(10, 1, 5, 12))
    told = BASELINES["mean"](fields, fields, None, FIELD)(fields[:3], None)
    assert told == pytest.approx(fields.mean(0, keepdims=True).repeat(3, 0))


def test_persistence_is_the_last_input_frame_or_the_mean_first_value() -> None:
    rng = np.random.default_rng(1)
    frames = np.repeat(rng.normal(size=(8, 3, 5, 1)), 12, axis=-1)
    later = frames[:, -1:] * (1 - 0.05 * np.arange(1, 13))
    carried = BASELINES["persistence"](frames, later, None, FIELD)(frames[:2], None)
    assert carried == pytest.approx(frames[:2, -1:])
    # here the input is a constant force, not a state: the system starts at rest, and persistence predicts zero
    driven = frames[:, -1:] * np.arange(12)
    assert BASELINES["persistence"](frames, driven, None, FIELD)(frames[:2], None) == pytest.approx(0)


def test_the_linear_map_of_fields_is_exact_for_a_linear_operator() -> None:
    rng = np.random.default_rng(2)
    operator, shift = rng.normal(size=(60, 60)), rng.normal(size=60)
    fields = rng.normal(size=(90, 1, 5, 12))
    answers = (fields.reshape(90, 60) @ operator.T + shift).reshape(90, 1, 5, 12)
    predict = BASELINES["linear"](fields[:80], answers[:80], None, FIELD)
    assert relative_l2(predict(fields[80:], None), answers[80:]).max() < 1e-6


def test_the_linear_map_is_exact_for_inputs_that_are_constant_in_time() -> None:
    rng = np.random.default_rng(3)
    states = rng.normal(size=(40, 1, 5, 1)).repeat(12, -1)
    decay = states * np.exp(-0.1 * np.arange(12))
    predict = BASELINES["linear"](states[:30], decay[:30], None, FIELD)
    assert relative_l2(predict(states[30:], None), decay[30:]).max() < 1e-6


@pytest.mark.parametrize("rest", [True, False])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_the_normal_equations_give_the_solution_of_the_full_regression(rest: bool, gaps: bool, constant: bool) -> None:
    rng = np.random.default_rng(4)
    force, motion = rng.normal(size=(3, 2, 40)), rng.normal(size=(3, 2, 40)) + 5
    moments = rng.random((3, 40)) < (0.7 if gaps else 1.1)
    taps, begin = 6, 0 if rest else 5
    padded = np.pad(force, ((0, 0), (0, 0), (taps - 1, 0)))
    columns = np.stack([padded[..., taps - 1 - k : taps - 1 - k + 40] for k in range(taps)], axis=2)[..., begin:]
    matrix = columns.transpose(0, 3, 1, 2).reshape(-1, 2 * taps)
    matrix = np.pad(matrix, ((0, 0), (0, 1)), constant_values=float(constant))
    rows = moments[:, begin:].ravel()
    targets = motion[..., begin:].transpose(0, 2, 1).reshape(-1, 2)
    expected = np.linalg.lstsq(matrix[rows], targets[rows], rcond=None)[0]
    found = NormalEquations(force, motion, taps, rest, moments if gaps else None, constant).solve(taps, 0.0)
    assert np.abs(found.taps.reshape(2, -1).T - expected[:-1]).max() < 1e-12
    assert np.abs(found.constant - expected[-1]).max() < 1e-12


def test_the_linear_model_ignores_outputs_in_a_gap() -> None:
    """A tenth of the outputs is missing and has a wrong value. The model is fitted to the other outputs.

    A model of a record assumes that the input had its mean value before the record. The error of this assumption decays, and
    then the model is exact.
    """
    rng = np.random.default_rng(7)
    force = rng.normal(size=(1, 6000))
    motion = lsim(([2.0], [1.0, 0.8, 4.0]), force[0], 0.05 * np.arange(6000))[1][None]
    mask = np.ones((1, 6000), dtype=bool)
    mask[:, 2000:2600] = False
    model = fit_record(force, np.where(mask, motion, 50.0), Grid.line(6000, 0.05), mask)
    new = rng.normal(size=(1, 1, 1000))
    truth = lsim(([2.0], [1.0, 0.8, 4.0]), new[0, 0], 0.05 * np.arange(1000))[1]
    missed = model.predict(new)[0, 0] - truth
    assert np.linalg.norm(missed) < 0.01 * np.linalg.norm(truth)
    assert np.linalg.norm(missed[800:]) < 1e-6 * np.linalg.norm(truth[800:])


def test_best_linear_model_of_an_oscillator() -> None:
    """The model of M ẍ + C ẋ + K x = f predicts new trajectories, and its frequency response is (K − ω² M + iω C)⁻¹."""
    true, step = Oscillator(), 0.04
    force = multisine(30, 400, step, seed=5, channels=2)
    motion = true.respond(force, step)
    model = fit_trajectories(force[:25], motion[:25], Grid.line(400, step))
    assert relative_l2(model.predict(force[25:]), motion[25:]).max() < 1e-6
    frequencies = np.array([0.1, 0.5, 1.0])
    omega = 2 * np.pi * frequencies[:, None, None]
    exact = np.linalg.inv(true.stiffness - omega**2 * true.mass + 1j * omega * true.damping)
    assert model.frequency_response(frequencies) == pytest.approx(exact.transpose(1, 2, 0), rel=1e-5)


def test_a_common_free_motion_is_part_of_the_model() -> None:
    """All trajectories of ẋ = −x + f start at x(0) = 3. The model contains this common free motion."""
    force = multisine(20, 200, 0.1, seed=6)
    time = 0.1 * np.arange(200)
    motion = np.stack([lsim(([1.0], [1.0, 1.0]), f[0], time)[1] for f in force])[:, None] + 3 * np.exp(-time)
    model = fit_trajectories(force[:15], motion[:15], Grid.line(200, 0.1))
    assert relative_l2(model.predict(force[15:]), motion[15:]).max() < 1e-3
    with pytest.raises(LfnoError, match="cannot predict 100 steps"):
        model.predict(force[..., :100])


def test_a_record_with_offsets_that_starts_in_motion() -> None:
    rng = np.random.default_rng(7)
    force = rng.normal(size=20_000) + 5
    motion = lsim(([2.0], [1.0, 0.8, 4.0]), force, 0.05 * np.arange(20_000))[1]
    force, motion = force[500:], motion[500:] + 10 + 0.01 * rng.normal(size=19_500)
    model = fit_record(force[None, :15_000], motion[None, :15_000], Grid.line(15_000, 0.05))
    missed = model.predict(force[None, None])[0, 0, 15_000:] - motion[15_000:]
    assert missed.std() < 0.011
    frequencies = np.array([0.05, 0.3])
    s = 2j * np.pi * frequencies
    assert model.frequency_response(frequencies)[0, 0] == pytest.approx(2 / (s**2 + 0.8 * s + 4), rel=0.02)


def test_measured_frequency_response_of_two_inputs_and_two_outputs() -> None:
    """The taper of a segment broadens a resonance, so the error of the estimate falls as segments become longer."""
    true, step = Oscillator(damped=10), 0.1
    force = np.random.default_rng(8).normal(size=(4, 2, 40_000))
    motion = true.respond(force, step)
    errors = []
    for segment in (512, 1024, 2048, 4096):
        seen = measure_response(force, motion, step, segment)
        band = (seen.frequencies > 0.05) & (seen.frequencies < 1.5)
        omega = 2 * np.pi * seen.frequencies[band, None, None]
        exact = np.linalg.inv(true.stiffness - omega**2 * true.mass + 1j * omega * true.damping).transpose(1, 2, 0)
        # linear interpolation of the force between samples multiplies it by sinc²(f dt)
        exact = exact * np.sinc(step * seen.frequencies[band]) ** 2
        errors.append(np.abs(seen.response[..., band] - exact).max() / np.abs(exact).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02
    assert seen.coherence[:, band].min() > 0.9


def test_the_response_is_nan_at_frequencies_without_input() -> None:
    force = multisine(10, 2048, 0.1, seed=9)
    seen = measure_response(force, force, 0.1)
    silent = seen.frequencies > 3.0
    assert np.isnan(seen.response[..., silent]).all()
    assert (seen.coherence[:, silent] == 0).all()
    loud = (seen.frequencies > 0.1) & (seen.frequencies < 1.0)
    assert seen.response[..., loud] == pytest.approx(1.0)


def test_unsigned_integers_give_the_same_predictions_as_floats() -> None:
    """A difference of unsigned integers overflows: 3 − 5 must be −2."""
    rng, grid = np.random.default_rng(0), Grid.line(12, 0.1)
    values = rng.integers(0, 200, (9, 1, 12))
    for dtype in ("u1", "?"):
        given = values.astype(dtype)
        for name, predict in fit_baselines(given, given, None, grid).items():
            expected = fit_baselines(given.astype(float), given.astype(float), None, grid)[name](given.astype(float))
            np.testing.assert_allclose(predict(given), expected, atol=1e-6, err_msg=name)
