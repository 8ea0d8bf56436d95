"""The range of validity and the prediction intervals, tested with inputs and errors of known distributions."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.evaluation.conformal import Calibration
from lfno.evaluation.coverage import Coverage
from tests.core.strict import strictly_read

GRID = Grid.line(512, dt=0.05)
T = GRID.axes[0].points


def multisines(
    count: int, seed: int, scale: float = 1.0, band: tuple[float, float] = (0.1, 1.5), least: float = 0.8
) -> np.ndarray:
    """Return random-phase multisines of 24 tones, (count, 1, time).

    scale: factor of all amplitudes.
    band: lowest and highest frequency in Hz.
    least: the amplitude of each multisine is random between `least` and 1.
    """
    rng = np.random.default_rng(seed)
    tones = rng.uniform(*band, (count, 24, 1))
    size = scale * rng.uniform(least, 1.0, (count, 1)) / np.sqrt(24)
    return (size * np.sin(2 * np.pi * tones * T + rng.uniform(0, 2 * np.pi, (count, 24, 1))).sum(1))[:, None]


def flagged(coverage: Coverage, inputs: np.ndarray) -> float:
    """Return the share of samples that are out of range."""
    return float(np.mean([bool(coverage.excesses(sample[None], GRID)) for sample in inputs]))


def test_inputs_of_the_same_kind_are_in_range_and_others_are_not() -> None:
    coverage = Coverage.of(multisines(274, 0), GRID)
    assert flagged(coverage, multisines(300, 1)) <= 0.02
    for scale in (2.0, 5.0):
        assert flagged(coverage, multisines(100, 2, scale)) >= 0.95
    for band in ((2.0, 4.0), (0.01, 0.05)):
        assert flagged(coverage, multisines(100, 3, band=band)) >= 0.95


def test_inputs_of_twice_the_amplitude_have_larger_distances() -> None:
    """In training the amplitudes are 0.5 to 1, and later 1 to 2. At least 95 % of the later inputs have larger distances."""
    coverage = Coverage.of(multisines(274, 0, least=0.5), GRID)
    known, twice = (coverage.distances(multisines(300, seed, scale, least=0.5), GRID) for seed, scale in ((1, 1.0), (2, 2.0)))
    assert (twice[:, None] > known).mean() >= 0.95
    assert (known > 1).mean() <= 0.02
    flags = [bool(coverage.excesses(one[None], GRID)) for one in multisines(50, 2, 2.0, least=0.5)]
    assert flags == (coverage.distances(multisines(50, 2, 2.0, least=0.5), GRID) > 1).tolist()


def test_an_excess_states_how_far_the_input_is_out_of_range() -> None:
    inputs = multisines(274, 0)
    coverage = Coverage.of(inputs, GRID)
    peak = np.abs(inputs).max(-1).argmax()
    (excess,) = coverage.excesses(3 * inputs[peak : peak + 1], GRID)
    assert excess.feature == "amplitude"
    assert excess.times == pytest.approx(3.0, rel=0.2)
    assert "times the largest" in excess.message


def test_an_input_slower_than_a_window_lies_below_one_cycle_per_window() -> None:
    coverage = Coverage.of(multisines(274, 0, band=(0.5, 1.5)), GRID)
    t = GRID.axes[-1].points
    slow = (np.abs(t - t.mean()) < 0.42 * GRID.axes[-1].length) + 0.1 * np.sin(2 * np.pi * 1.4 * t)
    (message,) = [excess.message for excess in coverage.excesses(slow[None, None], GRID) if excess.feature == "band"]
    assert "below 0 Hz" not in message
    assert f"below {1 / GRID.axes[-1].length:.3g} Hz" in message


def test_the_excess_of_a_long_record_is_the_excess_of_its_worst_window() -> None:
    coverage = Coverage.of(multisines(274, 0), GRID)
    record = np.concatenate(list(multisines(8, 1)), -1)[None]
    grid = Grid.line(record.shape[-1], dt=0.05)
    assert coverage.excesses(record, grid) == []
    record[..., 1024:1536] *= 4
    assert coverage.excesses(record, grid)[0].times > 2


def test_channels_that_were_never_used_alone() -> None:
    """In training both channels are equal. An input with one channel nearly zero is out of range."""
    one = multisines(100, 0)
    coverage = Coverage.of(np.concatenate([one, one], 1), GRID)
    alone = np.concatenate([one[:1], 1e-4 * one[:1]], 1)
    assert "channels" in {excess.feature for excess in coverage.excesses(alone, GRID)}


def test_from_dict_is_the_inverse_of_to_dict() -> None:
    coverage = Coverage.of(multisines(20, 0), GRID)
    assert Coverage.from_dict(coverage.to_dict()) == coverage


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("tail", ["normal", "heavy"])
def test_intervals_have_the_promised_coverage(everywhere: bool, tail: str) -> None:
    """The mean coverage of 90 % intervals over 200 calibrations is 88 % to 92 %, for two distributions of the errors."""
    rng = np.random.default_rng(0)

    def errors(count: int) -> np.ndarray:
        steps = rng.normal(size=(count, 1, 40)) if tail == "normal" else rng.standard_t(2, size=(count, 1, 40))
        return np.cumsum(steps, -1) * rng.uniform(0.2, 3, (count, 1, 1))

    shares = []
    for _ in range(200):
        width = Calibration.of(errors(200), np.zeros((200, 1, 40))).half_width(0.9, everywhere)
        new = np.abs(errors(100))[:, 0]
        shares.append(float((new.max(-1) <= width).mean() if everywhere else (new <= width).mean()))
    assert 0.88 <= np.mean(shares) <= 0.92


def test_the_error_message_states_the_largest_level_that_few_samples_allow() -> None:
    rng = np.random.default_rng(0)
    calibration = Calibration.of(rng.normal(size=(5, 2, 30)), np.zeros((5, 2, 30)))
    with pytest.raises(LfnoError, match=r"at most 83\.3 %"):
        calibration.half_width(0.9)
    assert calibration.half_width(0.8).shape == (2,)
    with pytest.raises(LfnoError, match="between 0 and 1"):
        calibration.half_width(90)


def test_missing_values_are_ignored() -> None:
    error = np.zeros((20, 1, 30))
    mask = np.ones(error.shape, bool)
    error[:, :, 10], mask[:, :, 10] = 1e6, False
    calibration = Calibration.of(error, np.zeros_like(error), mask)
    assert calibration.half_width(0.9)[0] == calibration.half_width(0.9, everywhere=False)[0] == 0


def test_a_sample_without_measured_points_in_one_channel_is_left_out() -> None:
    """The second channel was measured in half of the samples. The other samples do not count as samples without error."""
    error = np.ones((40, 2, 30))
    mask = np.ones(error.shape, bool)
    error[20:, 1], mask[20:, 1] = 0.0, False
    calibration = Calibration.of(error, np.zeros_like(error), mask)
    assert calibration.count == 20
    assert calibration.half_width(0.3).tolist() == calibration.half_width(0.3, everywhere=False).tolist() == [1.0, 1.0]
    never = Calibration.of(error[20:], np.zeros((20, 2, 30)), mask[20:])
    assert never.count == 20, "a channel that was never measured does not remove all samples"
    assert never.unmeasured == [1]
    for found in (never, Calibration.from_dict(strictly_read(to_json(never.to_dict())))):
        np.testing.assert_array_equal(found.half_width(0.3), [1.0, np.nan])
        np.testing.assert_array_equal(found.half_width(0.3, everywhere=False), [1.0, np.nan])
    assert calibration.unmeasured == []
