"""Splits never change and contain each sample once. In a split in time, the test samples come last."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import split
from lfno.data.dataset import Dataset


def _complete(parts: split.Split, size: int) -> bool:
    """Return whether each of `size` samples is in exactly one part."""
    return sorted(np.concatenate([parts.train, parts.validation, parts.test])) == list(range(size))


def test_the_standard_split_is_274_30_76_in_every_fold_and_each_sample_is_in_one_test() -> None:
    folds = [split.standard(380, fold) for fold in range(split.FOLDS)]
    assert all(fold.sizes == (274, 30, 76) for fold in folds)
    assert all(_complete(fold, 380) for fold in folds)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(380))


def test_the_standard_split_never_changes() -> None:
    # published errors depend on these values
    assert split.standard(380).test[:8].tolist() == [5, 6, 7, 9, 12, 14, 29, 39]
    assert split.permutation(6, 0).tolist() == [3, 2, 1, 0, 4, 5]


@settings(max_examples=50, deadline=None)
@given(size=st.integers(5, 500), seed=st.integers(0, 2**32))
def test_random_splits_are_complete_and_repeatable(size: int, seed: int) -> None:
    parts = split.random(size, 0.1, 0.2, seed)
    assert _complete(parts, size)
    assert parts.to_dict() == split.random(size, 0.1, 0.2, seed).to_dict()
    assert split.Split.from_dict(parts.to_dict()).to_dict() == parts.to_dict()


@settings(max_examples=50, deadline=None)
@given(size=st.integers(5, 500))
def test_a_split_in_time_has_the_order_training_validation_test(size: int) -> None:
    parts = split.in_time(size)
    assert _complete(parts, size)
    assert parts.train.max() < parts.validation.min()
    assert parts.validation.max() < parts.test.min()


def test_a_split_in_the_provenance_is_used_in_place_of_the_standard_split() -> None:
    values = np.zeros((10, 1, 4))
    own = {"train": [3, 4], "test": [1]}
    data = Dataset(values, values, Grid.line(4, 1.0), provenance={"split": own})
    assert split.of(data).sizes == (2, 0, 1)
    assert split.of(Dataset(values, values, Grid.line(4, 1.0))).sizes == split.standard(10).sizes


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: split.standard(380, 5), "fold 5 does not exist"),
        (lambda: split.standard(4), "4 samples cannot be split"),
        (lambda: split.random(100, 0.5, 0.5), "leave no samples for training"),
        (lambda: split.in_time(2), "too few"),
        (lambda: split.Split(np.array([1, 2]), np.array([2]), np.array([3])), "in two parts"),
        (lambda: split.Split(np.array([1, 2]), np.array([0]), np.array([], dtype=int)), "0 test samples"),
    ],
)
def test_splits_that_are_not_possible_raise_an_error(make: object, says: str) -> None:
    with pytest.raises(LfnoError, match=says):
        make()  # type: ignore[operator]


def test_an_empty_part_may_have_any_dtype() -> None:
    made = split.Split(np.arange(3), np.zeros(0, "S3"), np.arange(3, 5))
    assert made.sizes == (3, 0, 2)
