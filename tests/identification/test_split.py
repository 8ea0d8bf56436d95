"""The split of a response: the parts add up to it, and samples without a steady state are announced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lfno.core.errors import LfnoError
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
