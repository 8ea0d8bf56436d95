"""The 95 % interval of a ratio of errors contains the true ratio in about 95 % of all tests."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.evaluation.comparison import in_pieces, ratio_interval, squared_errors


def test_the_interval_covers_the_true_ratio_in_95_of_100_tests() -> None:
    """Errors of two predictions have the standard deviations 0.5 and 0.4 and a common part. A test: 30 samples of 20 values."""
    draw, covered, count = np.random.default_rng(0), 0, 1000
    for _ in range(count):
        common, one, other = draw.normal(size=(3, 30, 20))
        squares = [((0.3 * common + size * own) ** 2).mean(-1) for size, own in ((0.4, one), (np.sqrt(0.07), other))]
        low, high = ratio_interval(*squares) or (0.0, 0.0)
        covered += low < 0.5 / 0.4 < high
    assert covered / count == pytest.approx(0.95, abs=0.025)


def test_equal_predictions_have_the_ratio_one() -> None:
    squares = np.random.default_rng(1).random(5)
    assert ratio_interval(squares, squares) == pytest.approx((1, 1))
    assert ratio_interval(squares[:2], squares[:2]) is None
    assert ratio_interval(np.array([1.0, 2.0, np.inf]), np.ones(3)) is None


def test_pieces_and_offsets() -> None:
    """A record of 200 samples is cut into 8 pieces of 25. An offset of prediction and truth does not change the errors."""
    truth = np.random.default_rng(2).normal(size=(1, 1, 200))
    assert in_pieces(truth, 120).shape == (8, 1, 25)
    assert in_pieces(truth, 20).shape == (10, 1, 20)
    errors = squared_errors(truth + 0.1, truth, length=120)
    assert errors == pytest.approx(np.full(8, 0.01 / truth.var()))
    assert squared_errors(truth + 50.1, truth + 50, length=120) == pytest.approx(errors)
