"""A further knee bends at the asked quantile of its signal, and leaves the simulation as it was: its gain is zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.identification.feedback.knees import with_knee
from lfno.identification.feedback.terms import Terms
from tests.identification.feedback.test_sensor import held, law, simulated

PLACES = (0.2, 0.7)


@pytest.mark.parametrize("sensor", [True, False])
def test_a_further_knee_bends_at_its_place_and_changes_no_output(sensor: bool) -> None:
    own = law(Terms(2, powers=((2, 0),), knees=(1,)), outputs=2)
    if not sensor:
        own = replace(own, gains=0.01 * np.ones((3, 2)), sensor=None)
    z = np.random.default_rng(0).normal(size=(50, 4, 2)) * [1.0, 3.0]
    found = list(with_knee(own, z, 4.0, PLACES))
    assert [laws[0].terms.knees for laws in found] == [(1, 0), (1, 1)]
    inputs = held(1, 64, 0)
    for signal, laws in enumerate(found):
        for one, place in zip(laws, np.quantile(z[..., signal], PLACES), strict=True):
            at = np.zeros(2)
            at[signal] = place
            slopes = one.terms.slopes(at[None], one.shape)[1][0, -1]
            beyond = one.terms.slopes(at[None] + 10 * z[..., signal].std(), one.shape)[1][0, -1]
            np.testing.assert_allclose(slopes, 0, atol=1e-12)
            np.testing.assert_allclose(beyond[signal], 1, atol=1e-12)
            if sensor:
                np.testing.assert_allclose(simulated(one, inputs)[0].outputs, simulated(own, inputs)[0].outputs, rtol=1e-12)
            else:
                np.testing.assert_array_equal(one.gains, np.concatenate([own.gains, np.zeros((3, 1))], axis=1))
