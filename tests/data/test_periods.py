"""Repeated periods: the period is found, no period is in two parts of the split, and the noise is estimated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.data.periods import average, find_period
from lfno.data.prepare import Prepared, prepare
from lfno.data.stretches import PARTS, PERIODIC, REST
from lfno.identification.modal import identify_signals
from tests.data.laboratory import STEP, as_record, multisine, periods, resonance, run


@pytest.mark.parametrize("period", [64, 100, 511, 1024])
@pytest.mark.parametrize("input_noise", [0.0, 0.1])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_period_is_found_in_noise(period: int, input_noise: float, count: int) -> None:
    assert find_period(periods(period, count, seed=period, input_noise=input_noise).inputs) == period


def test_the_period_is_found_if_the_first_period_differs_and_the_last_is_incomplete() -> None:
    force = np.tile(multisine(200, 30, np.random.default_rng(0)), 6)
    force[:150] *= np.linspace(0, 1, 150)
    assert find_period(force[None, :1130]) == 200


def test_signals_that_do_not_repeat_have_no_period() -> None:
    t = np.arange(4000) * 0.01
    rng = np.random.default_rng(1)
    smooth = np.convolve(rng.normal(size=4200), np.hanning(200), "valid")[:4000]
    for force in (rng.normal(size=4000), smooth, np.sin(t**2), np.sin(5 * t) * np.exp(-t / 10), t, np.ones(4000)):
        assert find_period(force[None]) is None


def sines(frequencies: np.ndarray, seed: int, size: int = 3000) -> np.ndarray:
    """Return a sum of sines with random phases and RMS 1, (size,). frequencies: in cycles per record."""
    phases = 2 * np.pi * np.random.default_rng(seed).random((len(frequencies), 1))
    signal = np.sin(2 * np.pi * frequencies[:, None] * np.arange(size) / size + phases).sum(0)
    return np.asarray(signal / signal.std())


@pytest.mark.parametrize("lines", [2, 3, 5, 14, 40])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_sines_that_nearly_return_have_no_period(lines: int, noise: float) -> None:
    """In half of the record, every sine completes a whole number of cycles plus or minus 1/50 of a cycle."""
    for seed in range(10):
        whole = np.random.default_rng(seed).choice(np.arange(1, 200), lines, replace=False)
        force = sines(2 * (whole + 0.02 * np.where(np.arange(lines) % 2, 1, -1)), seed)
        size = np.sqrt(((force[1500:] - force[:1500]) ** 2).mean())
        assert size == pytest.approx(2 * np.sin(0.02 * np.pi), rel=0.05)
        force += noise * np.random.default_rng(seed).normal(size=force.shape)
        assert find_period(force[None]) is None


def test_a_comb_of_lines_between_the_frequencies_of_the_record_has_no_period() -> None:
    """After the time 1/Δ, all sines with the frequencies f₀ + k Δ are shifted by the same phase 2π f₀/Δ.

    f₀/Δ is no whole number, so the comb does not repeat after 1/Δ. For the offsets 0.97 and 0.02, it is close to one.
    """
    for lines, offset in [(14, 0.68), (60, 0.97), (200, 0.53), (740, 0.02)]:
        for seed in range(5):
            force = sines(2 * (1 + offset + (0.998 + 0.004 * offset) * np.arange(lines)), seed)
            assert find_period(force[None]) is None


def test_slow_piecewise_constant_and_swept_inputs_have_no_period() -> None:
    t, rng = np.arange(4000), np.random.default_rng(3)
    levels = np.tile(np.arange(4.0), 25) + 0.05 * rng.normal(size=100)
    sweep = np.sin(2 * np.pi * (8 + 0.15 * t / 4000) * t / 4000)
    growing = np.sin(2 * np.pi * t / 200) * (1 + 0.5 * t / 4000)
    drifting = np.sin(2 * np.pi * t / 200) + 0.3 * np.sin(2 * np.pi * (t / 3900) ** 2)
    for force in (levels.repeat(40), sweep, growing, drifting, np.sign(rng.normal(size=80)).repeat(50), np.floor(t / 400)):
        assert find_period(force[None]) is None


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_the_period_is_found_if_the_measured_input_has_noise_hum_or_coarse_steps(count: int) -> None:
    rng = np.random.default_rng(count)
    force = np.tile(multisine(500, 50, rng), count)
    t = np.arange(len(force))
    coarse = 0.02 * np.round((force + 0.003 * rng.normal(size=t.shape)) / 0.02)
    late = np.where(t < 300, t / 300, 1) * force + 0.05 * rng.normal(size=t.shape)
    other = np.tile(multisine(500, 30, rng), count) + 0.1 * rng.normal(size=t.shape)
    assert find_period((force + 0.05 * np.sin(2.8358 * t + 1))[None]) == 500
    assert find_period(coarse[None]) == 500
    assert find_period(np.stack([force, other])) == 500
    if count > 2:
        assert find_period(late[None]) == 500
        assert find_period(np.tile(rng.normal(size=500), count)[None] + 0.1 * rng.normal(size=t.shape)) == 500


def test_the_period_of_a_field_is_found_if_each_point_has_noise() -> None:
    rng = np.random.default_rng(0)
    shape = np.sin(np.linspace(0, np.pi, 60))[:, None]
    field = shape * np.tile(multisine(64, 8, rng), 4) + 0.05 * shape * rng.normal(size=(60, 256))
    assert find_period(field[None]) == 64


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_period_is_found_if_a_gap_of_the_input_was_filled(count: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        force = np.tile(multisine(500, 100, rng), count)
        start = int(rng.integers(10, len(force) - 30))
        gap = np.arange(start, start + 6)
        force[gap] = np.interp(gap, [start - 1, start + 6], force[[start - 1, start + 6]])
        assert find_period(force[None], [(0, start, start + 6)]) == 500


def test_a_response_with_twice_the_period_of_the_input_is_not_averaged() -> None:
    force = np.tile(multisine(400, 50, np.random.default_rng(0)), 6)
    slow = 0.2 * np.cos(np.pi * np.arange(2400) / 400)
    assert average(as_record(force, resonance(force) + slow), 400) is None


@pytest.mark.parametrize("noise", [0.003, 0.03])
@pytest.mark.parametrize(("count", "rest"), [(5, True), (5, False), (3, True), (2, False)])
def test_the_noise_floor_is_the_noise(noise: float, count: int, rest: bool) -> None:
    found = average(periods(1000, count, seed=3, noise=noise, rest=rest), 1000)
    assert found is not None
    assert found.noise is not None
    assert found.noise[0] == pytest.approx(noise, rel=0.1)
    assert found.before == int(rest)
    true = periods(1000, 1, seed=3, rest=False).outputs
    error = np.sqrt(((found.mean.outputs - true) ** 2).mean())
    assert error == pytest.approx(noise / np.sqrt(found.count), rel=0.15), "the mean of K periods has 1/√K of the noise"


def test_gaps_do_not_change_the_noise_floor() -> None:
    one = periods(500, 5, seed=0, noise=0.02, rest=False)
    mask = np.ones(one.outputs.shape, bool)
    mask[:, 620:700] = False
    found = average(replace(one, outputs=np.where(mask, one.outputs, 70.0), mask=mask), 500)
    assert found is not None
    assert found.noise is not None
    assert found.noise[0] == pytest.approx(0.02, rel=0.1)
    assert np.abs(found.mean.outputs).max() < 7


def overlap(prepared: Prepared) -> bool:
    """Return whether a scored time step is in two parts of the split.

    The input value identifies a time step, because all values are different.
    """
    seen: dict[bytes, str] = {}
    for part in PARTS:
        for stretch in prepared.stretches(part):
            scored = np.ones(len(stretch), bool) if stretch.mask is None else stretch.mask[0]
            for value in np.round(stretch.inputs[0, scored], 9):
                if seen.setdefault(value.tobytes(), part) != part:
                    return True
    return False


@pytest.mark.parametrize("realisations", [1, 2, 3, 8])
def test_no_period_is_in_two_parts(realisations: int) -> None:
    prepared = prepare([periods(800, 5, seed=seed, noise=0.01) for seed in range(realisations)])
    assert not overlap(prepared)
    assert all(prepared.stretches(part) for part in PARTS)
    assert prepared.noise_floor is not None
    assert prepared.noise_floor[0] == pytest.approx(0.01, rel=0.2)
    assert any("are averaged" in note for note in prepared.notes)
    if realisations >= 3:
        for part in PARTS:
            kinds = {stretch.start for stretch in prepared.stretches(part)}
            assert kinds == {PERIODIC, REST}


def test_the_warm_up_of_the_first_window_is_in_the_period_before() -> None:
    prepared = prepare([periods(600, 4, seed=seed, rest=False) for seed in range(4)], window=150, warmup=50)
    mask = prepared.dataset.mask
    assert mask is not None
    for part in PARTS:
        rows = getattr(prepared.split, part)
        counted = prepared.dataset.outputs[rows][mask[rows]]
        whole = np.concatenate([stretch.outputs[0] for stretch in prepared.stretches(part)])
        assert sorted(np.round(counted, 12)) == sorted(np.round(whole, 12)), "every sample of a period is scored once"


def test_the_user_can_state_the_period_or_turn_the_search_off() -> None:
    records = [periods(400, 4, seed=seed, input_noise=0.3) for seed in range(3)]
    assert prepare(records).noise_floor is None, "with so much noise in the input its period is not found"
    assert prepare(records, periodic=400 * 0.05).noise_floor is not None
    assert prepare([periods(400, 4, seed=seed) for seed in range(3)], periodic="no").noise_floor is None
    for wrong in ("often", 1e9, 0.0):
        with pytest.raises(LfnoError, match="periodic="):
            prepare(records, periodic=wrong)


def test_outputs_that_do_not_repeat_are_not_averaged() -> None:
    one = periods(400, 4, seed=0)
    wild = as_record(one.inputs[0], resonance(np.random.default_rng(5).normal(size=1600)))
    prepared = prepare(wild)
    assert prepared.noise_floor is None
    assert any("but the outputs do not" in note for note in prepared.notes)


def test_one_realisation_is_split_by_masks_and_no_part_holds_outputs_of_another() -> None:
    record = periods(800, 4, seed=1)
    prepared = prepare(record)
    phases = [prepared.stretches(part)[0] for part in PARTS]
    masks = np.stack([stretch.mask for stretch in phases])
    assert (masks.sum(0) == 1).all()
    period = record.outputs[:, -800:]
    for stretch in phases:
        assert np.array_equal(stretch.inputs, phases[0].inputs)
        assert stretch.outputs[stretch.mask] == pytest.approx(period[stretch.mask], abs=1e-9)
        assert np.ptp(stretch.outputs[~stretch.mask]) == 0


def test_the_steady_periods_of_one_realisation_give_the_exact_linear_system() -> None:
    """The memory of the resonance is longer than a period: each period also contains the response to earlier periods."""
    force = np.tile(multisine(400, 60, np.random.default_rng(2)), 24)
    record = as_record(force[4000:], resonance(force, decay=150)[4000:])
    model = identify_signals(prepare(record))
    assert model.modes.poles[0] * STEP == pytest.approx(-1 / 150 + 2j * np.pi / 25, rel=1e-6)


def test_a_short_period_of_one_realisation_is_not_split_and_a_note_says_so() -> None:
    prepared = prepare(periods(100, 30, seed=0))
    assert any("the test has the same input as the training" in note for note in prepared.notes)
    assert prepare(run(3000, 0)).noise_floor is None


@pytest.mark.parametrize("clock", [{"fs": np.array([20.0])}, {"t": np.arange(256) * 0.05}])
def test_arrays_of_samples_channels_realisations_and_periods(clock: dict[str, np.ndarray]) -> None:
    records = [periods(256, 3, seed=seed, noise=0.01) for seed in range(4)]
    arrays = {
        name: np.stack([getattr(record, role)[0].reshape(3, 256).T for record in records], 1)[:, None]
        for name, role in (("u", "inputs"), ("y", "outputs"))
    }
    prepared = prepare(arrays | clock)
    assert prepared.noise_floor is not None
    assert prepared.noise_floor[0] == pytest.approx(0.01, rel=0.2)
    assert not overlap(prepared)
    whole = prepare(records)
    for part in PARTS:
        for one, other in zip(prepared.stretches(part), whole.stretches(part), strict=True):
            np.testing.assert_allclose(one.outputs, other.outputs)
