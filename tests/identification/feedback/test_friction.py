"""A mass with dry friction: the regression returns the coefficients of a simulated axis.

A thinned record has a reduced sampling rate (see `lfno.identification.feedback.thin`). The tests of thinning are here too.
"""

from __future__ import annotations

import numpy as np
import pytest

from lfno.data.stretches import Stretch
from lfno.identification.feedback.friction import initial_law, initial_states, regression
from lfno.identification.feedback.initial import LINEAR, signal_scales
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.thin import thinned, thinning
from lfno.identification.feedback.windows import Scales, Windows, cut

#: sampling step in seconds
STEP = 0.002
#: b in the equation of `axis`
DRIVE = 3.0
#: d in the equation of `axis`
DAMPING = 2.0
#: f in the equation of `axis`
FRICTION = 0.8
#: c in the equation of `axis`
CONSTANT = 0.1


def axis(seed: int = 0, size: int = 12_000) -> Stretch:
    """Return force and position of an axis y″ = b u − d y′ − f sign(y′) + c, which starts at rest and sticks at reversals."""
    rng = np.random.default_rng(seed)
    force = np.repeat(rng.uniform(-1.5, 1.5, size // 300), 300)
    y, v, found = 0.0, 0.0, np.zeros(size)
    for k, u in enumerate(force):
        found[k] = y
        for _ in range(5):
            free = v + STEP / 5 * (DRIVE * u - DAMPING * v + CONSTANT)
            drop = STEP / 5 * FRICTION
            v = 0.0 if abs(free) <= drop else free - np.sign(free) * drop
            y += STEP / 5 * v
    return Stretch(force[None], found[None])


def windows(stretch: Stretch, factor: int) -> tuple[Windows, Scales]:
    """Return the windows of a thinned stretch, and their units."""
    thin = [thinned(stretch, factor)]
    scales = signal_scales(thin)
    return cut(thin, factor * STEP, scales, "linear"), scales


def test_the_regression_returns_the_coefficients_of_an_axis():
    data, scales = windows(axis(), 4)
    found = regression(data, 0, 2)
    unit = scales.output_scale[0]
    assert found.drive[0] * unit / scales.input_scale[0] == pytest.approx(DRIVE, rel=0.02)
    assert found.damping == pytest.approx(DAMPING, rel=0.03)
    assert found.friction * unit == pytest.approx(FRICTION, rel=0.05)
    # the inputs are centred, so their mean acts like a part of the constant force
    assert found.constant * unit == pytest.approx(CONSTANT + DRIVE * scales.input_offset[0], abs=0.03)
    assert found.ratio < 0.5


def test_a_viscous_axis_shows_no_friction():
    rng = np.random.default_rng(1)
    force = np.repeat(rng.uniform(-1.5, 1.5, 40), 300)
    speed = np.zeros(len(force))
    for k in range(len(force) - 1):
        speed[k + 1] = speed[k] + STEP * (DRIVE * force[k] - DAMPING * speed[k])
    position = np.cumsum(speed) * STEP + 1e-5 * rng.normal(size=len(force))
    data, _ = windows(Stretch(force[None], position[None]), 4)
    assert regression(data, 0, 2).ratio > 0.95


def test_the_initial_law_has_an_integrator_and_starts_at_the_measured_position():
    data, _ = windows(axis(), 4)
    like = Law(
        np.array([-1 + 0j]), np.ones((1, 1), complex), np.zeros((1, 0)), np.zeros((1, 1)), np.zeros(0), np.ones((1, 1)),
        np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.array([[-1.0, 1.0]]), LINEAR,
    )  # fmt: skip
    law = initial_law(data, regression(data, 0, 2), like)
    slow, fast = np.sort(np.abs(law.poles.real))
    assert slow * len(data.inputs) * data.step < 0.02
    assert fast == pytest.approx(DAMPING, rel=0.05)
    starts = initial_states(data, law)
    np.testing.assert_allclose(starts @ law.read[0], data.targets[0, :, 0], atol=1e-9)


def test_thinning_keeps_the_integral_of_the_input():
    rng = np.random.default_rng(2)
    force = rng.normal(size=(1, 801))
    force[:, :9] = force[:, -9:] = 0
    thin = thinned(Stretch(force, force), 8)
    lines = (thin.inputs[:, 1:] + thin.inputs[:, :-1]).sum() / 2 * 8
    assert lines == pytest.approx(force.sum(), abs=1e-9)


def test_a_record_with_few_samples_in_each_period_is_not_thinned():
    time = np.arange(20_000)
    fast, slow = np.sin(0.3 * time)[None], np.sin(0.002 * time)[None]
    noise = 1e-3 * np.random.default_rng(3).normal(size=slow.shape)
    assert thinning([Stretch(fast, fast)]) == 1
    assert thinning([Stretch(fast, slow)]) >= 8
    assert thinning([Stretch(fast, slow + noise)]) >= 8
