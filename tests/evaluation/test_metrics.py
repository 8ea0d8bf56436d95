"""Errors of predictions, compared with values that can be computed by hand."""

import math

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.evaluation.metrics import fit_percent, relative_l2, relative_linf, rmse, scores, summary
from lfno.evaluation.regimes import error_over_time, moving_average, regimes


def test_the_norm_of_a_sample_is_over_all_channels_and_points() -> None:
    truth = np.zeros((2, 2, 1, 2))
    truth[:, 0, 0, 0], truth[:, 1, 0, 1] = 3.0, 4.0
    prediction = truth.copy()
    prediction[1, 0, 0, 1] += 1.0
    assert relative_l2(prediction, truth) == pytest.approx([0, 1 / 5])
    assert relative_linf(prediction, truth) == pytest.approx([0, 1 / 4])
    assert rmse(prediction, truth) == pytest.approx([0.5, 0])


def test_errors_do_not_depend_on_the_unit() -> None:
    rng = np.random.default_rng(0)
    truth, prediction = rng.normal(size=(2, 5, 2, 30))
    for metric in (relative_l2, relative_linf, fit_percent):
        assert metric(1e6 * prediction, 1e6 * truth) == pytest.approx(metric(prediction, truth))


def test_fit_is_zero_for_the_mean_and_hundred_for_the_truth() -> None:
    truth = np.random.default_rng(1).normal(size=(3, 2, 50)) + 7
    own_mean = np.broadcast_to(truth.mean(-1, keepdims=True), truth.shape)
    assert fit_percent(truth, truth) == pytest.approx([100, 100])
    assert fit_percent(own_mean, truth) == pytest.approx([0, 0], abs=1e-9)
    assert np.isnan(fit_percent(np.ones((1, 1, 5)), np.ones((1, 1, 5)))).all()


def test_the_relative_error_of_a_zero_truth_is_zero_or_infinite() -> None:
    zero = np.zeros((1, 1, 4))
    assert relative_l2(zero, zero) == 0
    assert relative_l2(zero + 1, zero) == math.inf


def test_shapes_must_agree() -> None:
    with pytest.raises(LfnoError, match="cannot be compared"):
        relative_l2(np.zeros((4, 1, 5)), np.zeros((4, 5, 1)))


def test_summary_over_runs() -> None:
    told = summary([1.0, 2.0, 3.0])
    assert (told.mean, told.std, told.count) == (2.0, 1.0, 3)
    assert str(told) == "2 ± 1"
    assert str(summary([0.25])) == "0.25"
    assert summary([1.0, math.inf]).mean == math.inf


def test_scores_do_not_depend_on_the_units_of_the_outputs() -> None:
    """If one output is in micrometres instead of metres, only the RMSE of this output changes."""
    draw = np.random.default_rng(1)
    truth, unit = draw.normal(size=(4, 2, 50)), np.array([1.0, 1e6])
    prediction = truth + 0.1 * draw.normal(size=truth.shape)
    metres, other = scores(prediction, truth), scores(prediction * unit[:, None], truth * unit[:, None])
    for name in ("l2", "linf", "nrmse", "fit"):
        assert other[name] == pytest.approx(metres[name])
    assert other["rmse"] == pytest.approx(metres["rmse"] * unit)
    # with one output, a division of the output by its RMS changes nothing: `l2` is the plain relative error
    one = scores(prediction[:, :1], truth[:, :1])
    assert one["l2"] == pytest.approx(relative_l2(prediction[:, :1], truth[:, :1]).mean())
    assert one["nrmse"] == pytest.approx(one["rmse"][0] / truth[:, :1].std())


def test_the_offset_of_a_sensor_does_not_make_an_error_small() -> None:
    """`nrmse` does not change with an offset of the output. `l2`, the relative error of the paper, becomes smaller."""
    draw = np.random.default_rng(4)
    truth, offset = draw.normal(size=(1, 2, 200)), np.array([0.0, 500.0])[:, None]
    prediction = truth + 0.3 * draw.normal(size=truth.shape)
    plain, moved = scores(prediction, truth), scores(prediction + offset, truth + offset)
    assert moved["nrmse"] == pytest.approx(plain["nrmse"])
    assert moved["l2"] < plain["l2"]
    mean = np.broadcast_to(truth.mean(-1, keepdims=True), truth.shape)
    assert scores(mean + offset, truth + offset)["nrmse"] == pytest.approx(1)
    constant = np.full((1, 1, 200), 5.0)
    # the error of a constant output is divided by the RMS of the output
    assert scores(constant + 1, constant)["nrmse"] == pytest.approx(0.2)


def test_a_moving_average_does_not_change_lines_except_at_the_ends() -> None:
    assert moving_average(np.full(50, 3.0), 10) == pytest.approx(3.0)
    assert moving_average(np.arange(50.0), 11)[5:-5] == pytest.approx(np.arange(5, 45))
    assert moving_average(np.arange(4.0), 100) == pytest.approx(1.5)


def test_the_transient_regime_does_not_change_the_steady_regime() -> None:
    """The error decays in the transient regime. In the steady regime it is constant, so its variance is zero."""
    truth = np.zeros((3, 1, 2, 1000))
    prediction = truth + np.where(np.arange(1000) < 500, 1 + np.exp(-np.arange(1000) / 100), 0.5)
    both = regimes(prediction, -truth)
    assert both["steady"].mean == pytest.approx(0.5)
    assert both["steady"].variance == pytest.approx(0, abs=1e-20)
    assert both["steady"].smooth_variance == pytest.approx(0, abs=1e-20)
    assert both["transient"].mean == pytest.approx(error_over_time(prediction, truth)[:500].mean())
    assert 0 < both["transient"].smooth_variance < both["transient"].variance
    with pytest.raises(LfnoError, match="empty"):
        regimes(prediction, truth, split=1000)


def test_scores_with_a_mask_are_the_scores_of_the_measured_points() -> None:
    draw = np.random.default_rng(2)
    truth, prediction = draw.normal(size=(2, 3, 1, 40))
    kept = draw.random(40) < 0.5
    spoiled = np.where(kept, prediction, 1e9)
    masked, plain = scores(spoiled, truth, kept), scores(prediction[..., kept], truth[..., kept])
    for name, value in plain.items():
        assert masked[name] == pytest.approx(value), name
    without = np.broadcast_to(kept, truth.shape).copy()
    without[1] = False
    rest = scores(prediction[[0, 2]][..., kept], truth[[0, 2]][..., kept])
    assert scores(prediction, truth, without)["l2"] == pytest.approx(rest["l2"])
    spoiled = np.where(kept, np.nan, prediction)
    assert math.isnan(scores(spoiled, truth, kept)["l2"]), "a prediction that is not finite must not be hidden"
    with pytest.raises(LfnoError, match="outputs of the test were not measured"):
        scores(prediction, truth, np.zeros(40, dtype=bool))
    with pytest.raises(LfnoError, match="does not fit"):
        scores(prediction, truth, np.zeros(7, dtype=bool))
