"""Modes with feedback as a method of a benchmark.

The first outputs of a record give its initial state. The error of an identified nonlinear spring is as small as the noise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.challenges import CHALLENGES, run
from lfno.challenges.feedback import delayed, is_rough, stretch
from lfno.challenges.fitted import Fitted, Settings
from lfno.challenges.load import Data
from lfno.challenges.methods import METHODS, compact, fit_lfno
from lfno.challenges.protocol import Question, Record, Training
from lfno.core.grid import Grid
from lfno.data.stretches import PERIODIC, UNKNOWN
from lfno.identification.feedback import FeedbackModel
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.observe import observed_state, state_prior
from lfno.identification.feedback.pieces import steady_response
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from tests.challenges.layouts import signal

#: sampling interval in seconds
STEP = 0.05
#: standard deviation of the noise on the outputs
NOISE = 0.01
#: number of first outputs from which the initial state is estimated
SKIP = 50
#: settings of a network that is trained for a few seconds
TINY = {"epochs": 2, "width": 4, "transient_layers": 1, "n_poles": 4, "projection": 8}


def duffing() -> FeedbackModel:
    """Return a model with feedback of one mode that has the equation x″ + 0.4 x′ + 9 x + 9 x³ = u and the output y = x."""
    pole = -0.2 + 1j * np.sqrt(9 - 0.04)
    terms = Terms(1, powers=((3,),))
    # y = Re(r w) with w′ = μ w + u − 9 y³ and r = 1 / (i Im μ)
    read = np.array([[0.0, 1 / pole.imag]])
    law = Law(
        np.array([pole]), np.ones((1, 1), complex), np.array([[-9.0], [0.0]]), read, np.zeros(0), read, np.zeros((1, 1)),
        np.zeros(1), np.zeros(2), np.array([[-1e3, 1e3]]), terms,
    )  # fmt: skip
    return FeedbackModel(
        law, Structure(0, 1, terms), np.zeros(1), Grid.line(2000, STEP), "linear", STEP / 4, np.array([[-1.0, 1.0]]),
        np.eye(1), np.array([1e-6]),
    )  # fmt: skip


def motion(seed: int, size: int, level: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """Return input and clean output, each (1, size), of a record that starts in motion."""
    force = level * signal(np.random.default_rng(seed), 1, size + 300)
    return force[:, 300:], duffing().predict(force[None])[0, :, 300:]


def test_the_model_solves_its_equation():
    force = 6 * np.sin(2 * STEP * np.arange(400))[None]
    x = duffing().predict(force[None])[0, 0]
    speed, bend = (x[2:] - x[:-2]) / (2 * STEP), (x[2:] - 2 * x[1:-1] + x[:-2]) / STEP**2
    middle = x[1:-1]
    left = bend + 0.4 * speed + 9 * middle + 9 * middle**3 - force[0, 1:-1]
    assert left.std() < 0.05 * force.std()  # second differences are a coarse check of the sign and size of every term


def test_the_initial_state_is_estimated_from_the_first_outputs():
    model = duffing()
    force = 6 * signal(np.random.default_rng(1), 1, 900)
    states = model.states(force[None], STEP)[:, 0]
    y = model.outputs(states[:, None], force[None])[0]
    prior = state_prior(model, [force])
    found = observed_state(model, force[:, 500:], y[:, 500:530], *prior)
    # the model is exact, so only the prior causes an error of the state
    np.testing.assert_allclose(found, states[500], atol=1e-3 * states.std())
    assert np.allclose(observed_state(model, force, y[:, :0], *prior), prior[0])  # no outputs: the prior mean


def records() -> Data:
    """Return a training record and a test record of the hardening spring of `duffing`, with noise, as data of a benchmark."""
    rng = np.random.default_rng(5)
    (u, x), (u_test, x_test) = motion(2, 1500), motion(3, 1000)
    y, y_test = (values + NOISE * rng.normal(size=values.shape) for values in (x, x_test))
    challenge = replace(CHALLENGES["cascaded-tanks"], skip=SKIP)
    return Data(challenge, Training((Record("training", u, y),), STEP, SKIP), (Record("test", u_test, y_test),))


@pytest.fixture(scope="module")
def found() -> dict:
    """Return a dictionary: the data under "data", and each fitted model without a network under its name."""
    data = records()
    return {"data": data, **compact(data.training, Settings(seconds=600.0))}


def test_a_hardening_spring_is_identified_down_to_the_noise(found: dict, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(METHODS, "feedback", lambda training, settings: found["feedback"])
    result = run(found["data"], method="feedback")
    assert result.mean["test"] < 1.15 * NOISE
    # one mode and one cubic term have 9 parameters. This input is rough, so the two neighbours of each sample are inputs, too;
    # they add 4 parameters
    assert "13 parameters: degree 3 of output 1" in result.model
    assert found["linear"].validation["training"] > 10 * NOISE  # the linear model is much worse
    assert "feedback" in result.model


def test_the_network_corrects_the_model_with_the_smallest_validation_error(found: dict):
    data: Data = found["data"]
    fitted = fit_lfno(data.training, Settings(changes=TINY), [found["linear"], found["feedback"]])
    assert fitted.configuration["path"] == found["feedback"].models[0].description
    # after two epochs the network is almost untrained: modes with feedback plus network are nearly as good as modes with
    # feedback alone
    assert fitted.validation["training"] < 0.5 * found["linear"].validation["training"]


def test_a_periodic_record_is_predicted_in_steady_state(found: dict):
    model = found["feedback"].models[0]
    force = 3 * signal(np.random.default_rng(7), 1, 256)
    answer = model.simulate(Question(np.tile(force, 2), force[:, :0], period=256))
    long = duffing().predict(np.tile(force, 20)[None])[0, :, -512:]
    np.testing.assert_allclose(answer, long, atol=0.05 * long.std())


def test_long_periods_are_fitted_in_windows():
    steady = np.tile(signal(np.random.default_rng(4), 1, 6000), 2)
    assert stretch(Record("one", steady, steady, period=6000)).start == UNKNOWN
    assert stretch(Record("one", steady, steady, period=500)).start == PERIODIC


def test_a_method_that_fails_is_left_out(found: dict, monkeypatch: pytest.MonkeyPatch):
    def singular(training: Training, settings: Settings) -> Fitted:
        raise np.linalg.LinAlgError("singular matrix")

    monkeypatch.setitem(METHODS, "feedback", singular)
    monkeypatch.setitem(METHODS, "linear", lambda training, settings: found["linear"])
    assert set(compact(found["data"].training, Settings())) == {"linear"}


def test_the_steady_response_in_pieces_is_the_limit_of_many_periods():
    force = 6 * signal(np.random.default_rng(8), 1, 2500)
    found = steady_response(duffing(), force)
    # one period of 125 s is 25 time constants, so the second period from rest is steady
    np.testing.assert_allclose(found, duffing().predict(np.tile(force, 3)[None])[0, :, 2500:5000], atol=1e-5)
    # a simulation of pieces begins with 256 samples or more of the previous piece (the run-in). This is more than half of a
    # period of 400 samples, so whole periods are simulated
    short = steady_response(duffing(), force[:, :400])
    np.testing.assert_allclose(short, duffing().predict(np.tile(force[:, :400], 12)[None])[0, :, 4000:4400], atol=1e-4)


def test_rough_inputs_are_distinguished_from_smooth_and_piecewise_constant_inputs():
    rng = np.random.default_rng(9)
    white, smooth = rng.normal(size=(1, 2000)), np.sin(0.3 * np.arange(2000))[None]
    steps = np.repeat(rng.normal(size=(1, 200)), 10, axis=1)
    noisy = smooth + 0.01 * white  # a smooth input with little noise
    for inputs, rough in ((white, True), (smooth, False), (steps, False), (noisy, False)):
        assert is_rough(Training((Record("training", inputs, inputs),), STEP, 0)) == rough


def test_delayed_periodic_inputs_wrap_around():
    inputs = np.arange(4.0)[None]
    np.testing.assert_array_equal(delayed(inputs, (0, -1, 1), period=4), [[0, 1, 2, 3], [1, 2, 3, 0], [3, 0, 1, 2]])
