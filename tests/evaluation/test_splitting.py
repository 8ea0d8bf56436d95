"""Errors of both parts are divided by the larger norm, of steady state or response. Without steady state they are NaN."""

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.evaluation.splitting import score_split


class Half:
    """A model with the transient part 0.5 × input and the steady part 0.3 × input."""

    def decompose(self, inputs, grid=None):
        return 0.5 * inputs, 0.3 * inputs


def test_errors_of_a_split():
    inputs = np.ones((40, 1, 8))
    steady = 2.0 * inputs  # larger than the response, so the errors are divided by the steady state
    steady[0] = np.nan
    data = Dataset(inputs, inputs, Grid.line(8, dt=0.1), steady=steady)
    errors = score_split(Half(), data)
    np.testing.assert_allclose(errors.prediction, 0.2)
    np.testing.assert_allclose(errors.steady[1:], 1.7 / 2)
    np.testing.assert_allclose(errors.transient[1:], 1.5 / 2)
    assert np.isnan(errors.steady[0])
    assert errors.means() == pytest.approx({"prediction": 0.2, "steady": 0.85, "transient": 0.75})


def test_data_without_steady_states_raise_an_error():
    with pytest.raises(LfnoError, match="steady=True"):
        score_split(Half(), Dataset(np.ones((1, 1, 8)), np.ones((1, 1, 8)), Grid.line(8, dt=0.1)))
