"""The split of a response: the parts add up to it, and samples without a steady state are announced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.identification.split import split_response


@pytest.mark.parametrize("shape", [(4, 2, 30), (4, 1, 5, 30)])
def test_the_parts_add_up_and_samples_without_a_steady_state_are_counted(shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(0)
    whole, steady = draw.normal(size=shape), draw.normal(size=shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transient, same = split_response(whole, steady)
    np.testing.assert_allclose(transient + same, whole, rtol=1e-12)
    steady[1, ..., 3] = np.nan
    with pytest.warns(UserWarning, match="1 of 4 samples have no periodic steady state"):
        split_response(whole, steady)
    with pytest.raises(LfnoError, match="there is no steady state"):
        split_response(whole, np.full(shape, np.nan))


@pytest.mark.parametrize("refinement", [1, 4])
@pytest.mark.parametrize("hold", ["zero", "linear"])
def test_the_transient_part_of_a_linear_model_dies_away_at_any_time_step(hold: str, refinement: int) -> None:
    """After many repeats of its input, the response is the steady part. A smaller time step changes the hold of the input."""
    step, size = 0.1 / refinement, 100 * refinement
    modes = Modes(np.array([-0.3 + 5j]), np.full((1, 1, 1), -0.2j), np.zeros((1, 1)), np.ones(1), 0.0, hold)
    model = ModalModel(modes, np.zeros(1), np.zeros(1), Grid.line(100, 0.1))
    force = np.random.default_rng(0).normal(size=(1, 1, size))
    _, steady = model.decompose(force, Grid.line(size, step))
    late = model.predict(np.tile(force, 12), Grid.line(12 * size, step))[..., 10 * size : 11 * size]
    np.testing.assert_allclose(late, steady, atol=1e-6 * np.abs(steady).max())
