"""Missing values: found, filled or dropped on request, and noted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.signals import load
from lfno.data.signals.missing import longest_run
from tests.data.measured import F, T, U, record

RNG = np.random.default_rng(1)


def test_missing_values_of_a_record() -> None:
    holes = U.copy()
    holes[[0, 150, 151]] = np.nan
    with pytest.raises(LfnoError, match=r"in 3 rows \(row 1, row 151, row 152\)"):
        record(u=holes)
    filled = load({"t": T, "f": F, "u": holes}, interpolate=True)
    np.testing.assert_allclose(filled.outputs[0, 150:152], np.interp(T[150:152], T[[149, 152]], U[[149, 152]]))
    assert np.isfinite(filled.outputs).all()
    dropped = load({"t": T, "f": F, "u": holes}, drop_missing=True)
    np.testing.assert_array_equal(dropped.outputs[0], U[152:])
    np.testing.assert_array_equal(dropped.inputs[0], F[152:])
    np.testing.assert_allclose(dropped.grid["t"].points, T[152:])
    assert any("248 of 400 rows" in note for note in dropped.provenance["notes"])


def test_missing_values_of_samples() -> None:
    f, u = RNG.normal(size=(2, 8, 400))
    u[3, 7] = np.inf
    f[5, 0] = np.nan
    data = load({"t": T, "f": f, "u": u, "A": np.arange(8.0)}, input="f", output="u", drop_missing=True)
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.parameters["A"], [0, 1, 2, 4, 6, 7])
    np.testing.assert_array_equal(data.outputs[:, 0], u[[0, 1, 2, 4, 6, 7]])
    assert np.isfinite(data.inputs).all()


def test_rows_without_a_time_can_be_dropped_at_the_end() -> None:
    times = T.copy()
    times[-3:] = np.nan
    data = load({"t": times, "f": F, "u": U}, drop_missing=True)
    np.testing.assert_array_equal(data.outputs[0], U[:-3])
    np.testing.assert_array_equal(data.inputs[0], F[:-3])


def test_a_number_that_marks_missing_values_is_missing() -> None:
    marked = U.copy()
    marked[[7, 30]] = -9999
    with pytest.raises(LfnoError, match=r"\(marked by -9999\) or not finite in 2 rows \(row 8, row 31\)"):
        record(u=marked)
    filled = load({"t": T, "f": F, "u": marked}, interpolate=True)
    np.testing.assert_allclose(filled.outputs[0], U, atol=2e-3)
    assert marked[7] == -9999  # the caller's array is not touched
    assert "the value -9999 of 'u', far from all others, is taken as missing" in filled.provenance["notes"]
    # a signal that really goes there is a signal
    np.testing.assert_array_equal(record(u=marked * 0.5 - 2000).outputs[0], marked * 0.5 - 2000)
    large = np.where(marked < -1, -9999, 2000 * U)
    np.testing.assert_array_equal(record(u=large).outputs[0], large)


@settings(max_examples=60, deadline=None)
@given(good=st.lists(st.booleans(), min_size=1, max_size=30))
def test_longest_run_is_the_longest(good: list[bool]) -> None:
    runs = [(j - i, -i) for i in range(len(good)) for j in range(i + 1, len(good) + 1) if all(good[i:j])]
    if not runs:
        with pytest.raises(LfnoError):
            longest_run(np.array(good))
        return
    length, start = max(runs)
    assert longest_run(np.array(good)) == (-start, -start + length)
