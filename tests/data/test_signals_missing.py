"""Missing values and missing rows are filled and masked, and notes say so."""

from __future__ import annotations

import numpy as np

from lfno.data import split
from lfno.data.dataset import Dataset
from lfno.data.gaps import after_gaps
from lfno.data.gathering import combined
from lfno.data.signals import read_signals
from lfno.data.signals.runs import Runs
from tests.data.measured import F, T, U, record

RNG = np.random.default_rng(1)


def test_missing_values_of_a_record() -> None:
    """Missing outputs are filled by linear interpolation and masked."""
    holes = U.copy()
    holes[[0, 150, 151]] = np.nan
    holes[300] = np.inf
    data = record(u=holes)
    np.testing.assert_allclose(data.outputs[0, 150:152], np.interp(T[150:152], T[[149, 152]], U[[149, 152]]))
    assert data.outputs[0, 0] == U[1]
    assert data.mask is not None
    np.testing.assert_array_equal(np.flatnonzero(~data.mask[0]), [0, 150, 151, 300])
    np.testing.assert_array_equal(data.outputs[data.mask], U[data.mask[0]])
    assert any("4 values of 400 (u) not measured, the first at 2 s" in note for note in data.notes)


def test_missing_values_of_inputs() -> None:
    """A short gap is filled. In a long gap, the outputs are masked. `after_gaps` also masks the 30 outputs after the gap."""
    holes = F.copy()
    holes[[20, 21]] = np.nan
    short = record(f=holes)
    assert short.mask is None
    np.testing.assert_allclose(short.inputs[0, 20:22], np.interp(T[20:22], T[[19, 22]], F[[19, 22]]))
    holes[100:150] = np.nan
    long = record(f=holes)
    assert long.mask is not None
    np.testing.assert_array_equal(np.flatnonzero(~long.mask[0]), np.arange(100, 150))
    later = after_gaps(long, 30).mask
    assert later is not None
    np.testing.assert_array_equal(np.flatnonzero(~later[0]), np.arange(100, 180))
    assert any("1 gap of the input longer than 5 steps, the longest 2.5 s from 7 s" in note for note in long.notes)


def test_missing_values_of_samples() -> None:
    f, u = RNG.normal(size=(2, 8, 400))
    u[3, 7] = np.inf
    f[5, 0:9] = np.nan
    f[6] = np.nan
    data = read_signals({"t": T, "f": f, "u": u, "A": np.arange(8.0)}, input="f", output="u")
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.parameters["A"], np.arange(8))
    assert np.isfinite(data.inputs).all()
    assert data.mask is not None
    assert data.mask[[0, 1, 2, 4, 7]].all()
    assert (~data.mask[3]).sum() == 1
    assert (~data.mask[5]).sum() == 9
    assert not data.mask[6].any()
    later = after_gaps(data).mask
    assert later is not None
    assert not later[5].any(), "if a trajectory begins with missing inputs, all of its outputs depend on them"


def gapped(samples: int, size: int) -> Dataset:
    """Return `samples` trajectories of `size` time steps from rest. In trajectory 1, the inputs 40 … 59 are missing."""
    f = RNG.normal(size=(samples, size)) * np.minimum(np.arange(size) / 20, 1)
    arrays = {"t": 0.1 * np.arange(size), "f": f.copy(), "u": np.cumsum(f, 1)}
    arrays["f"][1, 40:60] = np.nan
    found = read_signals(arrays)
    assert isinstance(found, Dataset)
    return found


def masked(data: Dataset) -> list[int]:
    """Return the number of masked outputs of each trajectory after `after_gaps`."""
    mask = after_gaps(data).mask
    return [0] * len(data) if mask is None else (~mask).sum((1, 2)).tolist()


def test_gaps_stay_at_their_trajectory_if_trajectories_are_chosen_joined_or_padded() -> None:
    data, other = gapped(6, 100), gapped(7, 100)
    assert masked(data) == [0, 60, 0, 0, 0, 0]
    assert masked(data[::-1]) == [0, 0, 0, 0, 60, 0]
    assert masked(data[2:]) == [0] * 4
    both = combined([data, other])
    assert isinstance(both, Dataset)
    assert masked(both) == [0, 60, *[0] * 4, 0, 60, *[0] * 5]
    runs = combined([data, gapped(2, 80)])
    assert isinstance(runs, Runs)
    assert masked(runs.padded()) == [0, 60, *[0] * 4, 20, 60]


def test_gaps_stay_at_their_time_in_a_part_of_a_record() -> None:
    holes = F.copy()
    holes[100:150] = np.nan
    whole = record(f=holes)
    for start, stop, first, last in ((0, 400, 100, 180), (90, 400, 10, 90), (120, 300, 0, 60), (0, 130, 100, 130)):
        mask = after_gaps(whole.part(start, stop), 30).mask
        assert mask is not None
        np.testing.assert_array_equal(np.flatnonzero(~mask[0]), np.arange(first, last))
    assert after_gaps(whole.part(200, 400), 30).mask is None


def test_chosen_samples_have_no_split_of_all_samples() -> None:
    f = RNG.normal(size=(12, 400))
    parts = {f"{name}_{part}": f[rows] for name in "fu" for part, rows in (("train", slice(9)), ("test", slice(9, None)))}
    data = read_signals({"t": T} | parts)
    assert isinstance(data, Dataset)
    assert split.of(data).test.tolist() == [9, 10, 11]
    assert split.of(data[:8]).sizes == split.standard(8).sizes


def test_rows_without_a_time_are_left_out() -> None:
    """At the end of a record, such rows are removed. In the middle, they count as missing, and their outputs are masked."""
    times = T.copy()
    times[-3:] = np.nan
    data = read_signals({"t": times, "f": F, "u": U})
    np.testing.assert_array_equal(data.outputs[0], U[:-3])
    times[50] = np.nan
    data = read_signals({"t": times, "f": F, "u": U})
    assert data.outputs.shape == (1, 397)
    assert data.mask is not None
    np.testing.assert_array_equal(np.flatnonzero(~data.mask[0]), [50])


def test_outputs_of_missing_rows_are_masked() -> None:
    kept = np.delete(np.arange(400), np.r_[30:40, 200])
    data = read_signals({"t": T[kept], "f": F[kept], "u": U[kept]})
    np.testing.assert_allclose(data.grid["t"].points, T, atol=1e-9)
    assert data.mask is not None
    np.testing.assert_array_equal(np.flatnonzero(~data.mask[0]), np.r_[30:40, 200])
    np.testing.assert_array_equal(data.outputs[0, kept], U[kept])
    assert any("11 rows are missing in the time 't', with the longest gap after row 30 (0.55 s)" in note for note in data.notes)


def test_outputs_in_a_gap_of_resampled_times_are_masked() -> None:
    drifting = (T * (1 + 2e-3 * T))[np.r_[:100, 140:400]]
    data = read_signals({"t": drifting, "f": np.sin(drifting), "u": np.cos(drifting)}, resample=True)
    times = data.grid["t"].points
    assert data.mask is not None
    outside = (times < drifting[99]) | (times > drifting[100])
    np.testing.assert_array_equal(data.mask[0][outside], True)
    assert data.mask[0][~outside].mean() < 0.1


def test_a_mark_for_missing_values_is_taken_as_missing() -> None:
    marked = U.copy()
    marked[[7, 30]] = -9999
    filled = record(u=marked)
    assert filled.mask is not None
    np.testing.assert_array_equal(np.flatnonzero(~filled.mask[0]), [7, 30])
    np.testing.assert_allclose(filled.outputs[0], U, atol=2e-3)
    assert marked[7] == -9999  # the caller's array is not touched
    assert "the value -9999 of 'u' is far from all other values and is taken as missing" in filled.provenance["notes"]
    # if other values of the signal are near -9999, it is not a mark for missing values
    np.testing.assert_array_equal(record(u=marked * 0.5 - 2000).outputs[0], marked * 0.5 - 2000)
    large = np.where(marked < -1, -9999, 2000 * U)
    np.testing.assert_array_equal(record(u=large).outputs[0], large)
