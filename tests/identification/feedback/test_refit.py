"""A refit keeps the structure of a model and fits the parameters again. The search for a structure finds friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.data.stretches import UNKNOWN, Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.precision import physical
from lfno.identification.feedback.refit import refit, scaled_law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import Scales
from tests.identification.feedback.systems import duffing, multisines, solved

#: sampling step in seconds
STEP = 0.1
CUBIC = Terms(1, powers=((3,),))
SCALES = Scales(np.array([0.5]), np.array([2.0]), np.array([-1.0]), np.array([0.3]), 0.7)


def oscillator() -> FeedbackModel:
    """Return a model with feedback that has the equation of the system `duffing`, ẍ + 0.5 ẋ + x + x³ = u."""
    pole = -0.25 + 1j * np.sqrt(1 - 0.25**2)
    read = np.array([[0.0, 1 / pole.imag]])
    law = Law(
        np.array([pole]), np.ones((1, 1), complex), np.array([[-1.0], [0.0]]), read, np.zeros(0), read, np.zeros((1, 1)),
        np.zeros(1), np.zeros(2), np.array([[-1e3, 1e3]]), CUBIC,
    )  # fmt: skip
    return FeedbackModel(
        law, Structure(0, 1, CUBIC), np.zeros(1), Grid.line(400, STEP), "linear", STEP / 2, np.array([[-1.0, 1.0]]),
        np.eye(9), np.array([1e-3]), {"feedback": {"label": "degree 3", "validation error": 0.1}},
    )  # fmt: skip


def test_scaled_law_is_the_inverse_of_physical():
    model = oscillator()
    back, _ = physical(scaled_law(model.law, SCALES), model.structure, np.eye(9), SCALES)
    for name in ("poles", "drive", "gains", "read", "direct", "offset"):
        np.testing.assert_allclose(getattr(back, name), getattr(model.law, name), atol=1e-14)


def test_a_refit_corrects_wrong_parameters():
    force = multisines(3, 600, STEP, 3.0, seed=5)
    motion = solved(duffing, np.zeros((3, 2)), force, STEP)[:, :1]
    # records that begin in motion
    data = [Stretch(u[None, 100:], y[:, 100:], start=UNKNOWN) for u, y in zip(force, motion, strict=True)]
    truth = oscillator()
    law = replace(truth.law, poles=truth.law.poles * 1.03, gains=0.8 * truth.law.gains, offset=np.array([0.05]))
    found = refit(replace(truth, law=law), data, seconds=60.0)
    modes = found.small_signal_modes()
    assert abs(modes.poles[0] - truth.law.poles[0]) < 1e-3
    z, restoring, _, _ = found.characteristic(21)
    assert np.abs(restoring - (z + z**3)).max() < 1e-2 * np.abs(restoring).max()
    assert found.structure == truth.structure


def rubbing(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the rate of (x, ẋ) for an oscillator with friction, ẍ + 0.2 ẋ + x + 0.3 tanh(20 ẋ) = u."""
    return np.stack([x[:, 1], u - 0.2 * x[:, 1] - x[:, 0] - 0.3 * np.tanh(20 * x[:, 1])], axis=1)


@pytest.mark.long
def test_friction_is_found():
    grid = Grid.line(300, STEP)
    force = multisines(9, 300, STEP, 3.0, seed=6)
    motion = solved(rubbing, np.zeros((9, 2)), force, STEP, substeps=16)[:, :1]
    data = [Stretch(u[None], y, start="rest") for u, y in zip(force, motion, strict=True)]
    model = fit_feedback(data[:5], data[5:7], grid, seconds=600.0)
    errors = [np.std(model.predict(one.inputs[None])[0] - one.outputs) / np.std(one.outputs) for one in data[7:]]
    assert "friction" in model.provenance["feedback"]["label"]
    assert max(errors) < 0.02
