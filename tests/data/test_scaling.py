"""Offset and scale of a channel."""

import numpy as np
import pytest

from lfno.data.scaling import scale_of


def test_the_offset_is_zero_unless_the_mean_is_larger_than_the_deviation():
    rest = np.random.default_rng(0).standard_normal((4, 1, 100)) + 0.2
    assert scale_of(rest)[0] == 0
    warm = 5 * rest + 293
    offset, scale = scale_of(warm)
    assert offset[0] == pytest.approx(warm.mean())
    assert scale[0] == pytest.approx(warm.std())
    assert scale_of(np.full((2, 1, 5), 7.0))[1] == 1
