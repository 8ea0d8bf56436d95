"""Stretches contain the samples of the split in the units of the user. No sample is in two parts of the split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.prepare import Prepared, prepare
from lfno.data.signals.record import Record
from lfno.data.stretches import PARTS, REST, UNKNOWN, Stretch
from lfno.systems.base import Channel


def numbered(size: int, first: int = 0) -> Record:
    """Return a record whose input is first, first + 1, …, so that every sample can be recognised."""
    values = np.arange(first, first + size, dtype=float)[None]
    noise = np.random.default_rng(first).normal(size=(2, size))
    return Record(values, noise, Grid.line(size, 0.05), (Channel("f"),), (Channel("u"), Channel("v")))


def places(prepared: Prepared, part: str) -> set[int]:
    """Return the input values of all stretches of one part of the split; each value identifies one sample of `numbered`."""
    return {int(k) for stretch in prepared.stretches(part) for k in stretch.inputs[0]}


@pytest.mark.parametrize("test", [None, "0:20", "100:150"])
@pytest.mark.parametrize("from_rest", [False, True])
def test_stretches_share_no_sample_and_contain_the_windows_of_their_part(test: str | None, from_rest: bool) -> None:
    prepared = prepare(numbered(4_000), window=128, warmup=32, test=test, from_rest=from_rest)
    found = {part: places(prepared, part) for part in PARTS}
    assert sum(map(len, found.values())) == len(set.union(*found.values())) == 4_000
    for part in PARTS:
        windows = prepared.dataset.inputs[getattr(prepared.split, part)]
        assert {int(k) for k in windows.ravel()} == found[part]
    starts = {int(one.inputs[0, 0]): one.start for part in PARTS for one in prepared.stretches(part)}
    assert {place for place, start in starts.items() if start == REST} == ({0} if from_rest else set())
    assert set(starts.values()) <= {REST, UNKNOWN}


def test_another_record_for_the_test_is_one_stretch() -> None:
    prepared = prepare(numbered(2_000), window=128, warmup=32, test=numbered(500, first=10_000))
    assert places(prepared, "test") == set(range(10_000, 10_500))
    assert places(prepared, "train") | places(prepared, "validation") == set(range(2_000))


def test_stretches_of_trajectories_start_at_rest_and_keep_their_mask() -> None:
    values = np.random.default_rng(0).normal(size=(20, 1, 50)).cumsum(-1)
    values -= values[..., :1]
    values *= np.linspace(0, 1, 50)
    mask = np.ones(values.shape, bool)
    mask[:, :, 10:20] = False
    mask[:, :, 45:] = False
    data = Dataset(values, 2 * values, Grid.line(50, 0.1), mask=mask)
    prepared = prepare(data)
    for part in PARTS:
        rows = getattr(prepared.split, part)
        found = prepared.stretches(part)
        assert len(found) == len(rows)
        for row, stretch in zip(rows, found, strict=True):
            np.testing.assert_array_equal(stretch.outputs, 2 * values[row, :, :45])
            assert stretch.start == REST
            assert stretch.mask is not None
            assert stretch.mask.sum() == 35


def test_only_a_stretch_with_a_gap_has_a_mask() -> None:
    one = numbered(4_000)
    mask = np.ones(one.outputs.shape, bool)
    mask[0, 100:200] = False
    prepared = prepare(replace(one, mask=mask), window=128, warmup=32)
    assert prepared.stretches("train")[0].mask is not None
    assert prepared.stretches("test")[0].mask is None


def test_error_messages() -> None:
    with pytest.raises(LfnoError, match="no part 'testing'"):
        prepare(numbered(2_000), window=64, warmup=8).stretches("testing")
    with pytest.raises(LfnoError, match="10 samples of the input and 9 of the output"):
        Stretch(np.zeros((1, 10)), np.zeros((1, 9)))
    with pytest.raises(LfnoError, match="start of a stretch is 'moving'"):
        Stretch(np.zeros((1, 10)), np.zeros((1, 10)), start="moving")
