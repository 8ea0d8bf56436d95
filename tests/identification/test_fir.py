"""The finite impulse response: inputs without variation give an error message, not a failed factorisation."""

from __future__ import annotations

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.identification.linear import fit_record
from lfno.systems.base import Channel


def test_an_input_that_is_zero_after_a_pulse_leaves_a_fit_without_the_linear_baseline() -> None:
    """The part of the record for the baseline holds no pulse."""
    t = 0.02 * np.arange(400)
    decay, force = np.exp(-0.3 * t) * np.cos(8 * t), 1.0 * (t < 0.03)
    grid = Grid.line(400, 0.02)
    with pytest.raises(LfnoError, match="do not vary"):
        fit_record(np.full((1, 320), 0.1), decay[None, :320], Grid.line(320, 0.02))
    model = lfno.fit(Record(force[None], decay[None], grid, (Channel("u"),), (Channel("y"),)), model="linear")
    assert model.modes()[0].frequency == pytest.approx(8 / (2 * np.pi), rel=1e-3)
