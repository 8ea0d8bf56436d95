"""The page about a fitted model shows correct numbers and the correct pieces of the test data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.frequency import measure_response
from lfno.plots.bode import bode_figure, bode_picture
from lfno.plots.fit_figures import LONGEST, Compared, field_error_figure, prediction_figure, spectrum_figure, typical_and_worst
from lfno.plots.fit_page import fit_page
from lfno.plots.mode_rows import with_interval
from lfno.plots.page import page_html
from lfno.plots.parts import parts_of_test
from lfno.plots.style import as_svg
from lfno.surrogate import Surrogate
from tests.identification.oscillator import Oscillator

RNG = np.random.default_rng(0)


def compared(truth: np.ndarray, prediction: np.ndarray, mask: np.ndarray | None = None) -> Compared:
    """Return test data with a time step of 0.1 s. The linear baseline predicts zero."""
    axis = Grid.line(truth.shape[-1], 0.1).axes[0]
    return Compared("LFNO", axis, truth, prediction, 0 * truth, [f"x{k}" for k in range(truth.shape[1])], mask)


def test_the_pieces_have_the_median_error_and_the_largest_error() -> None:
    truth = RNG.normal(size=(5, 1, 100))
    errors = np.array([0.3, 0.1, 0.5, 0.2, 0.4])[:, None, None]
    assert [(words, sample) for words, sample, _ in typical_and_worst(compared(truth, truth + errors))] == [
        ("median error", 0), ("largest error", 2)]  # fmt: skip


def test_the_largest_error_is_found_in_a_piece_of_a_long_record_and_not_in_a_gap() -> None:
    truth = RNG.normal(size=(1, 1, 4 * LONGEST))
    wrong, mask = np.zeros_like(truth), np.ones(truth.shape, bool)
    wrong[..., 2 * LONGEST : 2 * LONGEST + 50] = 1.0
    wrong[..., :50], mask[..., :50] = 9.0, False
    (_, _, steps) = typical_and_worst(compared(truth, truth + wrong, mask))[-1]
    assert steps.start == 2 * LONGEST
    assert spectrum_figure(compared(truth, truth, mask)) is None
    assert as_svg(partial(prediction_figure, compared(truth, truth + wrong, mask)))


def test_the_spectrum_of_white_noise_lies_on_the_noise_floor() -> None:
    level, step = 0.3, 0.1
    truth = RNG.normal(size=(40, 1, 2048))
    figure = spectrum_figure(compared(truth, truth + level * RNG.normal(size=truth.shape)), noise=[level])
    assert figure is not None
    (panel,) = figure.axes
    lines = {str(line.get_label()): np.asarray(line.get_ydata()) for line in panel.lines}
    floor = lines["noise floor (white noise)"][0]
    assert floor == pytest.approx(level * np.sqrt(2 * step))
    assert np.median(lines["residual of LFNO"]) == pytest.approx(floor, rel=0.05)


def test_the_bode_plot_shows_the_gain_of_the_system() -> None:
    inputs = RNG.normal(size=(20, 1, 512))
    found = {"measured": measure_response(inputs, 3 * inputs, 0.01, 512, 1e-3)}
    gain = bode_figure(found, {(0, 0): "x / f"}).axes[0]
    np.testing.assert_allclose(gain.lines[0].get_ydata(), 3.0)
    with pytest.raises(LfnoError, match="excite no frequency"):
        bode_picture(np.zeros((20, 1, 512)), {"measured": inputs}, 0.01, {(0, 0): "x / f"})


def test_an_error_map_is_prediction_minus_truth() -> None:
    grid = Grid((lfno.Axis("x", 6, 0.1), lfno.Axis("t", 8, 0.2, time=True)))
    truth = RNG.normal(size=(6, 8))
    figure = field_error_figure(grid, truth, truth + 0.25, "LFNO", "u")
    np.testing.assert_allclose(figure.axes[2].images[0].get_array(), 0.25)


@pytest.fixture(scope="module")
def fitted() -> Surrogate:
    """Return a linear model, fitted to the displacement of one mass of an oscillator with two masses."""
    step = 0.05
    forces = RNG.normal(size=(30, 1, 300))
    return lfno.fit((forces, Oscillator().respond(forces, step)[:, :1]), dt=step, model="linear")


def test_the_page_shows_errors_modes_range_and_candidates(fitted: Surrogate) -> None:
    assert fitted.fitted is not None
    known = replace(fitted.fitted, prepared=replace(fitted.fitted.prepared, noise_floor=np.array([1e-3])))
    page = page_html(fit_page(Surrogate(fitted.members, fitted.provenance, known), "<b>rig</b>", "runs/rig"))
    assert "&lt;b&gt;rig" in page
    for words in ("Candidates", "Frequency response", "Modes", "Range of validity", "Data and choices", "noise floor"):
        assert words in page
    assert page.count("data:image/svg+xml") == 5  # four figures; the first one has a second form for phones
    assert "repeated for ever" in page
    assert "noise floor is not known" not in page
    assert fitted.scores is not None
    assert f"{100 * fitted.scores.rows['linear']['nrmse']:.3g} %" in page
    # `modes()` leaves out modes that explain less than the test error
    assert fitted.accuracy == fitted.scores.rows["linear"]["l2"]
    mode = fitted.modes()[0]
    assert f"{with_interval(mode.frequency, mode.frequency_interval)} Hz" in page
    assert fitted.coverage is not None
    assert f"{fitted.coverage.peak[0]:.4g}" in page
    assert f"± {fitted.coverage.peak[0]:.3g}" in page  # the tile of the range


def test_data_that_repeat_exactly_have_no_ratio_of_error_and_noise(fitted: Surrogate) -> None:
    assert fitted.fitted is not None
    exact = replace(fitted.fitted, prepared=replace(fitted.fitted.prepared, noise_floor=np.zeros(1)))
    page = page_html(fit_page(Surrogate(fitted.members, fitted.provenance, exact), "rig"))
    assert "noise floor (RMS)" in page
    assert "times the measurement noise" not in page


def test_transient_and_steady_part_add_up_to_the_prediction(fitted: Surrogate) -> None:
    assert fitted.fitted is not None
    assert fitted.fitted.contest is not None
    transient, steady = parts_of_test(fitted, 2)
    expected = fitted.fitted.contest.prediction[:2]
    assert np.abs(transient + steady - expected).max() < 1e-5 * np.abs(expected).max()
