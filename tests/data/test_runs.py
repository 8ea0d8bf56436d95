"""Several runs: each run is in one part of the split, lengths may differ, and the outputs show whether a run starts at rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.data.partition import whole_runs
from lfno.data.prepare import prepare
from lfno.data.signals.record import Record
from lfno.data.signals.runs import Runs
from lfno.data.starts import moving, starts
from lfno.data.stretches import PARTS, REST, UNKNOWN
from tests.data.laboratory import as_record, run


@settings(max_examples=200, deadline=None)
@given(sizes=st.lists(st.integers(1, 10_000), min_size=2, max_size=40))
def test_every_run_has_one_part_and_the_longest_is_for_training(sizes: list[int]) -> None:
    parts = whole_runs(sizes)
    assert len(parts) == len(sizes)
    assert parts[int(np.argmax(sizes))] == "train"
    assert "test" in parts
    assert ("validation" in parts) == (len(sizes) > 2)
    share = sum(size for size, part in zip(sizes, parts, strict=True) if part == "test") / sum(sizes)
    assert share <= 0.5


def test_windows_of_a_run_are_all_in_the_part_of_the_run() -> None:
    runs = [run(size, seed, moving=True) for seed, size in enumerate((3000, 1200, 2500, 700, 1800, 90))]
    prepared = prepare(runs)
    owner = prepared.dataset.parameters["record"]
    parts = {part: set(owner[getattr(prepared.split, part)]) for part in PARTS}
    assert set.union(*parts.values()) == set(range(6))
    assert sum(map(len, parts.values())) == 6
    assert all(parts.values())
    for part in PARTS:
        for stretch in prepared.stretches(part):
            assert stretch.start == UNKNOWN
            assert any(np.array_equal(stretch.outputs, one.outputs) for one in runs)
    assert any("do not start at rest" in note for note in prepared.notes)


def test_the_warm_up_of_several_runs_is_masked() -> None:
    prepared = prepare([run(2000, seed, moving=True) for seed in range(5)], window=200, warmup=60)
    mask = prepared.dataset.mask
    assert mask is not None
    assert not mask[..., :60].any()
    assert mask[..., -1].all()
    assert prepared.record is None


def test_short_runs_from_rest_are_whole_trajectories_and_their_padding_is_masked() -> None:
    runs = [run(200 + 30 * seed, seed) for seed in range(8)]
    prepared = prepare(runs)
    assert prepared.warmup == 0
    assert len(prepared.dataset) == 8
    assert prepared.dataset.mask is not None
    np.testing.assert_array_equal(prepared.dataset.mask.sum((1, 2)), [len(one) for one in runs])
    lengths = sorted(len(stretch) for part in PARTS for stretch in prepared.stretches(part))
    assert lengths == [len(one) for one in runs]


def test_of_two_runs_the_shorter_is_the_test() -> None:
    one, two = run(3000, 0, moving=True), run(1000, 1, moving=True)
    prepared = prepare([two, one])
    assert prepared.test is not None
    np.testing.assert_array_equal(prepared.test.outputs, two.outputs)
    assert sum(len(stretch) for part in ("train", "validation") for stretch in prepared.stretches(part)) == 3000


def test_the_test_is_a_range_of_runs_or_other_runs() -> None:
    runs = [run(1000, seed, moving=True) for seed in range(4)]
    chosen = prepare(runs, test="1:3").stretches("test")
    assert len(chosen) == 2
    np.testing.assert_array_equal(chosen[0].outputs, runs[1].outputs)
    given_runs = prepare(runs[:2], test=runs[2:]).stretches("test")
    np.testing.assert_array_equal(given_runs[1].outputs, runs[3].outputs)
    with pytest.raises(LfnoError, match="does not fit 4 runs"):
        prepare(runs, test="3:5")
    with pytest.raises(LfnoError, match="at least one run must be left"):
        prepare(runs, test="0:4")
    short = [run(200, seed) for seed in range(6)]
    for records, window in ((runs, None), (runs, 64), (short, None)):
        for wrong in ("0.5:2", "0:1.9"):
            with pytest.raises(LfnoError, match="whole numbers"):
                prepare(records, test=wrong, window=window)


def test_several_files_are_runs_and_must_have_one_time_step(tmp_path: Path) -> None:
    files = []
    for seed, size in enumerate((800, 1000, 900)):
        one = run(size, seed)
        files.append(tmp_path / f"run{seed}.csv")
        table = np.stack([one.grid.axes[-1].points, one.inputs[0], one.outputs[0]], 1)
        np.savetxt(files[-1], table, delimiter=",", header="time (s),force (N),x (m)", comments="")
    prepared = prepare(files)
    assert len(prepared.records) == 3
    assert sum(len(stretch) for part in PARTS for stretch in prepared.stretches(part)) == 2700
    with pytest.raises(LfnoError, match=r"run0.csv is named twice"):
        prepare([files[0], files[0]])
    with pytest.raises(LfnoError, match="is used for training"):
        prepare(files[:2], test=[files[1]])
    with pytest.raises(LfnoError, match="is used for training"):
        prepare(tuple(files[:2]), test=(files[1],))
    other = run(500, 9)
    with pytest.raises(LfnoError, match="resample them to one time step"):
        prepare([run(500, 8), replace(other, grid=other.grid.change("t", step=0.1))])


def test_the_outputs_show_whether_a_run_starts_at_rest() -> None:
    rest, in_motion = [run(500, k) for k in range(6)], [run(500, k, moving=True) for k in range(6)]
    assert starts(rest) == [REST] * 6
    assert set(starts(in_motion)) == {UNKNOWN}
    assert moving(rest) == []
    offset = [as_record(one.inputs[0], one.outputs[0] + 20) for one in rest]
    assert starts(offset) == [REST] * 6, "an equilibrium need not be zero"
    free = as_record(np.zeros(300) + 1e-9 * np.arange(300), np.cos(0.3 * np.arange(300)))
    assert moving([free]) == [0]


def test_a_run_shorter_than_a_window_is_padded_and_the_padding_is_masked() -> None:
    prepared = prepare([run(2000, 0), run(1500, 1), run(60, 2), run(1200, 3)], window=128, warmup=20)
    mask = prepared.dataset.mask
    assert mask is not None
    short = prepared.dataset.parameters["record"] == 2
    assert short.sum() == 1
    assert mask[short].sum() in (40, 60)  # 60 measured samples; 20 of them are warm-up unless the run starts at rest
    assert 60 in [len(stretch) for part in PARTS for stretch in prepared.stretches(part)]


def test_gaps_of_one_run_stay_in_that_run() -> None:
    one, two, three = (run(1000, seed) for seed in range(3))
    mask = np.ones(one.outputs.shape, bool)
    mask[:, 300:400] = False
    prepared = prepare([replace(one, mask=mask), two, three], window=100, warmup=20)
    masks = [stretch.mask for part in PARTS for stretch in prepared.stretches(part)]
    assert sorted(0 if mask is None else int((~mask).sum()) for mask in masks) == [0, 0, 100]


def test_the_repr_of_runs_is_short() -> None:
    assert repr(Runs((run(50, 0), run(80, 1)))) == "Runs(2 runs of 50 to 80 samples)"


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_noise_does_not_hide_a_start_at_rest(noise: float) -> None:
    """At least 18 of 20 noisy runs from rest are recognised. At most 2 of 20 runs in motion are taken as at rest."""
    rng = np.random.default_rng(0)

    def noisy(seed: int, moving: bool) -> Record:
        one = run(400, seed, moving)
        return replace(one, outputs=one.outputs + noise * one.outputs.std() * rng.normal(size=one.outputs.shape))

    assert starts([noisy(seed, moving=False) for seed in range(20)]).count(REST) >= 18
    assert starts([noisy(seed, moving=True) for seed in range(20)]).count(REST) <= 2
