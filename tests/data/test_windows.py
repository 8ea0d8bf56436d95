"""Windows of a record: each sample is scored once, and parts of the split share no sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import partition, windows
from lfno.data.signals import Record
from lfno.data.stretches import Span
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
    for first, scored in zip(cut.starts, cut.scored, strict=True):
        assert start <= first <= start + size - length
        count[first + scored : first + length] += 1
    scored_from = start if rest else start + warmup
    assert (count[scored_from : start + size] == 1).all()
    assert count[:scored_from].sum() == count[start + size :].sum() == 0
    # each window has at least `warmup` samples before its first scored sample, except the first window of a record from rest
    assert (cut.scored[int(rest) :] >= warmup).all()


def test_windows_as_a_data_set() -> None:
    grid = Grid.line(100, 0.1)
    values = np.arange(100.0)[None]
    record = Record(values, 2 * values, grid, (Channel("f", "N"),), (Channel("u", "m"),))
    spans = [Span("train", 0, 60), Span("test", 60, 100)]
    data, parts = windows.as_samples([record], spans, 40, 20)
    assert data.inputs.shape == (3, 1, 40)
    np.testing.assert_array_equal(data.parameters["start"], [0, 20, 60])
    np.testing.assert_array_equal(data.inputs[:, 0, 0], [0, 20, 60])
    assert parts.sizes == (2, 0, 1)
    assert data.output_channels == (Channel("u", "m"),)
    assert data.grid.steps == (0.1,)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((0, 10, 20, 0), "too few for a window of 20"), ((0, 100, 20, 20), "leaves no samples to score")],
)
def test_windows_that_are_not_possible_raise_an_error(arguments: tuple[int, int, int, int], says: str) -> None:
    with pytest.raises(LfnoError, match=says):
        windows.cut(*arguments)


def test_the_error_message_names_the_part_that_is_too_short() -> None:
    record = Record(np.zeros((1, 100)), np.zeros((1, 100)), Grid.line(100, 0.1), (Channel("f"),), (Channel("u"),))
    with pytest.raises(LfnoError, match="the test part: 10 samples are too few"):
        windows.as_samples([record], partition.in_time(100, 20, (90, 100)), 20, 5)


def test_validation_lies_where_outputs_were_measured() -> None:
    """A gap covers the usual validation span beside the test. Validation then lies elsewhere, and no spans overlap."""
    scored = np.ones(1000, bool)
    scored[650:800] = False
    spans = partition.in_time(1000, 50, scored=scored, warmup=20)
    covered = np.zeros(1000, int)
    for span in spans:
        covered[span.start : span.stop] += 1
    assert covered.max() == 1
    (held,) = (span for span in spans if span.part == "validation")
    assert held.stop - held.start == 100
    assert scored[held.start + 20 : held.stop].all()
    assert sum(span.stop - span.start for span in spans if span.part == "train") == 700
    assert partition.in_time(1000, 50, scored=np.ones(1000, bool), warmup=20) == partition.in_time(1000, 50)
