"""Warm-ups are as long as the memory of the system, and windows of one part never contain samples of another part."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.partition import in_time
from lfno.data.prepare import prepare
from lfno.data.signals.record import Record
from lfno.data.split import Split
from lfno.data.system_memory import memory
from lfno.data.window_length import choose_windows
from lfno.data.windows import as_samples
from lfno.systems.base import Channel


def record(size: int, decay: float, period: float, noise: float = 0.0, seed: int = 0) -> Record:
    """Return a record of white noise and the response of one resonance.

    size: length in samples.
    decay: time constant in samples.
    period: period of the oscillation in samples.
    noise: standard deviation of the noise of the output, as a share of the standard deviation of the output.
    """
    rng = np.random.default_rng(seed)
    pole = np.exp(-1 / decay + 2j * np.pi / period)
    force = rng.normal(size=(1, size))
    motion = lfilter([1.0], [1, -2 * pole.real, abs(pole) ** 2], force)
    motion += noise * motion.std() * rng.normal(size=motion.shape)
    return Record(force, motion, Grid.line(size, 0.05), (Channel("f"),), (Channel("u"),))


def samples(one: Record, window: int, warmup: int, test: tuple[int, int] | None = None) -> tuple[Dataset, Split]:
    """Return (data set, split) of the windows of one record that is split in time. All lengths are in samples."""
    return as_samples([one], in_time(len(one), window, test), window, warmup)


@pytest.mark.parametrize(("size", "decay"), [(4_000, 65), (6_000, 400), (50_000, 65), (300, 200)])
def test_the_warm_up_is_as_long_as_the_record_allows(size: int, decay: int) -> None:
    """If the record is long enough, the warm-up is the whole memory.

    Otherwise, a window is 1/8 of the record, and all of it is warm-up except the last quarter, or the last 16 samples if they
    are more.
    """
    one = record(size, decay, 20)
    window, warmup, _, why = choose_windows([one])
    assert warmup >= min(memory(one), size // 8 - max(size // 32, 16))
    assert ("too long for this record" in why) == (warmup < memory(one))
    _, split = samples(one, window, warmup)
    assert min(split.sizes) >= 1
    assert len(split.train) >= 8


@pytest.mark.parametrize("size", [1, 3, 6, 15])
def test_a_record_shorter_than_any_window_is_an_error_message(size: int) -> None:
    with pytest.raises(LfnoError, match="too short"):
        prepare(record(size, 3, 5))


@pytest.mark.parametrize("size", [16, 20, 40, 60, 120])
def test_short_records_are_cut_or_refused(size: int) -> None:
    try:
        prepared = prepare(record(size, 3, 5))
    except LfnoError:
        assert size < 120
    else:
        assert min(prepared.split.sizes) >= 1


def test_the_last_of_a_few_runs_is_the_test() -> None:
    runs = {name: np.random.default_rng(0).normal(size=(4, 50)) for name in ("force", "u")}
    prepared = prepare({"t": 0.1 * np.arange(50.0), **runs})
    assert prepared.split.test.tolist() == [3]
    assert prepared.split.sizes == (2, 1, 1)
    assert any("the last of 4 runs is for the test" in note for note in prepared.notes)
    two = prepare({"t": 0.1 * np.arange(50.0), **{name: values[:2] for name, values in runs.items()}})
    lengths = [len(two.stretches(part)[0]) for part in ("train", "validation", "test")]
    assert (lengths[0] + lengths[1], lengths[2]) == (50, 50)


def test_windows_are_split_in_time_and_no_training_window_contains_test_samples() -> None:
    one = record(10_000, 20, 30)
    window, warmup, _, why = choose_windows([one], window=256)
    assert "are warm-up and not scored" in why
    data, split = samples(one, window, warmup)
    start = data.parameters["start"]
    assert start[split.train].max() + window <= start[split.validation].min()
    assert start[split.validation].max() + window <= start[split.test].min() == 8000
    data, split = samples(one, window, warmup, test=(2000, 3000))
    inside = (start_of := data.parameters["start"])[split.test]
    assert inside.min() == 2000
    assert inside.max() + window == 3000
    others = np.concatenate([start_of[split.train], start_of[split.validation]])
    assert ((others + window <= 2000) | (others >= 3000)).all()


def test_every_scored_sample_is_scored_once() -> None:
    one = record(5_000, 20, 30)
    data, split = samples(one, 300, 100)
    places = [
        np.arange(start + skip, start + 300)
        for start, skip in zip(data.parameters["start"][split.train], data.parameters["scored"][split.train], strict=True)
    ]
    joined = np.concatenate(places)
    assert len(np.unique(joined)) == len(joined)


def test_the_test_is_another_record_or_a_range_and_must_fit_the_record() -> None:
    one, two = record(4_000, 10, 20), record(1_000, 10, 20, seed=1)
    prepared = prepare(one, window=128, test=two)
    assert prepared.test is not None
    np.testing.assert_array_equal(prepared.test.outputs, two.outputs)
    tested = prepared.dataset.inputs[prepared.split.test]
    np.testing.assert_array_equal(tested[0, 0], two.inputs[0, :128])
    assert prepare(one, window=128, test="100:150").stretch == (2000, 3000)
    with pytest.raises(LfnoError, match="not inside the record"):
        prepare(one, window=128, test="100:900")
    with pytest.raises(LfnoError, match="one time step"):
        prepare(one, window=128, test=Record(two.inputs, two.outputs, Grid.line(1000, 0.1), *[(Channel("f"),)] * 2))
    with pytest.raises(LfnoError, match="too few samples for training"):
        prepare(one, window=3_500)
    for wide in ("2.4:150", "30:198"):  # the samples before and after the test are too few for a window of 600
        with pytest.raises(LfnoError, match="too few samples for training"):
            prepare(one, window=600, test=wide)


def test_with_another_record_for_the_test_the_first_is_for_training_and_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = record(1_000, 10, 20), record(2_000, 10, 20, seed=1)
    assert prepare(one, window=300, warmup=50, test=two).split.sizes == (3, 1, 8), "each window has 250 scored samples"
    monkeypatch.setattr("lfno.data.windows.MOST_WINDOWS", 2)
    thinned = prepare(one, window=100, warmup=50, test=two)
    assert any("is used" in note for note in thinned.notes)
    assert len(thinned.split.train) < 15


def test_of_a_record_larger_than_memory_every_second_window_is_used_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    one = record(20_000, 10, 20)
    monkeypatch.setattr("lfno.data.windows.available", lambda: 800_000)
    prepared = prepare(one, window=128, warmup=28)
    assert any("one in 2 is used" in note for note in prepared.notes)
    starts = prepared.dataset.parameters["start"]
    assert set(np.diff(starts[prepared.split.train])) <= {200, *range(100, 300)}
    assert len(prepared.split.train) < 75
