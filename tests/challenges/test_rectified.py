"""The sensor measures absolute values only. The method finds the signs of the outputs, and a linear model of the system."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.challenges import CHALLENGES, run
from lfno.challenges.fitted import Settings
from lfno.challenges.linear import LinearModes
from lfno.challenges.load import Data
from lfno.challenges.methods import fit_rectified
from lfno.challenges.protocol import Question, Record, Training
from lfno.challenges.rectified import Rectified, applies, changing
from lfno.core.errors import LfnoError
from lfno.identification.identify import Modes
from tests.challenges.layouts import NOISE, record

#: number of first outputs from which the initial state is estimated
SKIP = 20


def measured(seed: int, size: int) -> Record:
    """Return a record of |y| with noise, where y is the output of the system in `layouts`."""
    u, clean, _ = record(np.random.default_rng(seed), size)
    y = np.abs(clean) + NOISE * np.random.default_rng(seed + 100).normal(size=size)
    return Record("training", u[None], y[None])


def test_the_sign_changes_once_at_each_deep_minimum():
    x = np.sin(np.arange(60) * 0.3 + 1.0)
    clear = np.abs(x) > 0.3  # the sample at the minimum itself may have either sign
    signs = changing(np.abs(x), 0.3)
    np.testing.assert_array_equal((signs * np.sign(x[0]))[clear], np.sign(x)[clear])
    np.testing.assert_array_equal(changing(2 + x, 0.3), np.ones(60))


@pytest.mark.long
def test_a_resonance_is_identified_from_absolute_values():
    training = Training((measured(0, 500), measured(1, 500)), 0.02, SKIP)
    assert applies(training)
    data = Data(replace(CHALLENGES["cascaded-tanks"], skip=SKIP), training, (replace(measured(2, 400), figure="test"),))
    result = run(data, method="rectified")
    assert result.mean["test"] < 1.5 * NOISE
    # a linear model of the same records explains almost nothing
    assert run(data, method="linear").mean["test"] > 50 * NOISE


def test_outputs_that_are_not_absolute_values_are_refused():
    one = measured(0, 500)
    training = Training((replace(one, outputs=one.outputs - one.outputs.mean()),), 0.02, SKIP)
    assert not applies(training)
    with pytest.raises(LfnoError, match="absolute values"):
        fit_rectified(training, Settings())
    assert not applies(Training((replace(one, outputs=one.outputs + 1.0),), 0.02, SKIP))  # never near zero


def test_the_initial_state_is_found_from_absolute_values():
    modes = Modes(np.array([-0.3 + 4j]), np.array([[[0.5 - 1j]]]), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    inputs = np.random.default_rng(0).normal(size=(1, 1, 600))
    whole = modes.simulate(inputs, 0.05)[0]
    zero = np.zeros((1, 1))
    signed = LinearModes(modes, zero, zero, 0.05, whole.var() * np.eye(2)[None], np.array([1e-10]))
    for start in range(100, 400, 50):
        answer = Rectified(signed).simulate(Question(inputs[0, :, start:], np.abs(whole[:, start : start + 40])))
        np.testing.assert_allclose(answer, np.abs(whole[:, start:]), atol=1e-3 * whole.std())
