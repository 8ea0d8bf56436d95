"""Windows of a record: each sample scored once, nothing shared between parts, stitching undoes cutting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import split, windows
from lfno.data.signals import Record
from lfno.systems.base import Channel


@settings(max_examples=100, deadline=None)
@given(
    start=st.integers(0, 20),
    size=st.integers(1, 200),
    length=st.integers(1, 60),
    warmup=st.integers(0, 59),
    rest=st.booleans(),
)
def test_every_sample_after_the_warm_up_is_scored_exactly_once(
    start: int, size: int, length: int, warmup: int, rest: bool
) -> None:
    assume(warmup < length <= size)
    cut = windows.cut(start, start + size, length, warmup, rest)
    count = np.zeros(start + size + 5, dtype=int)
    for first, mask in zip(cut.starts, cut.mask, strict=True):
        assert start <= first <= start + size - length
        count[first : first + length] += mask
    scored_from = start if rest else start + warmup
    assert (count[scored_from : start + size] == 1).all()
    assert count[:scored_from].sum() == count[start + size :].sum() == 0
    # every scored sample has at least the warm-up before it in its window
    assert (cut.scored[int(rest) :] >= warmup).all()


@settings(max_examples=40, deadline=None)
@given(size=st.integers(20, 100), length=st.integers(5, 20), warmup=st.integers(0, 4))
def test_stitching_undoes_cutting(size: int, length: int, warmup: int) -> None:
    values = np.random.default_rng(size).normal(size=(2, 3, size))
    cut = windows.cut(0, size, length, warmup)
    back = cut.stitch(cut.gather(values), size)
    np.testing.assert_array_equal(back[..., warmup:], values[..., warmup:])
    assert np.isnan(back[..., :warmup]).all()


def test_parts_in_time_share_no_sample_and_tests_come_last() -> None:
    parts = windows.cut_parts(1000, split.in_time(1000, 0.15, 0.25), length=64, warmup=16)
    seen = {name: {k for s in cut.starts for k in range(s, s + 64)} for name, cut in parts.items()}
    assert max(seen["train"]) < min(seen["validation"])
    assert max(seen["validation"]) < min(seen["test"])
    assert max(seen["test"]) == 999
    assert len(seen["train"]) == 600


def test_windows_as_a_data_set() -> None:
    grid = Grid.line(100, 0.1)
    values = np.arange(100.0)[None]
    record = Record(values, 2 * values, grid, (Channel("f", "N"),), (Channel("u", "m"),))
    data = windows.as_dataset(record, windows.cut(0, 100, 40, 10))
    assert data.inputs.shape == (3, 1, 40)
    np.testing.assert_array_equal(data.parameters["start"], [0, 30, 60])
    np.testing.assert_array_equal(data.inputs[:, 0, 0], [0, 30, 60])
    assert data.output_channels == (Channel("u", "m"),)
    assert data.grid.steps == (0.1,)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((0, 10, 20, 0), "fewer than one window of 20"), ((0, 100, 20, 20), "leaves nothing to score")],
)
def test_what_cannot_be_cut(arguments: tuple[int, int, int, int], says: str) -> None:
    with pytest.raises(LfnoError, match=says):
        windows.cut(*arguments)


def test_a_part_too_short_is_named_and_random_splits_are_refused() -> None:
    with pytest.raises(LfnoError, match="the validation part: 10 samples are fewer"):
        windows.cut_parts(100, split.in_time(100), 20, 5)
    with pytest.raises(LfnoError, match="not one stretch"):
        windows.cut_parts(100, split.random(100), 5, 1)
    with pytest.raises(LfnoError, match="do not fit"):
        windows.cut(0, 10, 5, 0).stitch(np.zeros((3, 1, 5)), 10)
