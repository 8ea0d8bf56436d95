"""The page about a fitted model shows correct numbers and the correct pieces of the test data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.identification.frequency import measure_response
from lfno.identification.mode import Mode
from lfno.plots.bode import bode_figure, bode_picture
from lfno.plots.compared import Compared, signals_of_test
from lfno.plots.fit_figures import LONGEST, field_error_figure, prediction_figure, spectrum_figure, typical_and_worst
from lfno.plots.fit_page import fit_page
from lfno.plots.mode_rows import mode_cells, with_interval
from lfno.plots.model_words import explained
from lfno.plots.page import page_html
from lfno.plots.parts import left_out, parts_of_test
from lfno.plots.style import as_svg
from lfno.surrogate import Surrogate
from lfno.surrogate.verdict import MODAL
from lfno.systems.base import Channel
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
    assert steps.start <= 2 * LONGEST < steps.stop
    assert as_svg(partial(prediction_figure, compared(truth, truth + wrong, mask)))


def test_only_scored_values_are_drawn_and_the_residuals_have_the_time_axis_of_the_prediction() -> None:
    truth, mask = RNG.normal(size=(1, 2, 100)), np.zeros((1, 2, 100), bool)
    mask[..., 60:90], mask[..., 70:75] = True, False
    figure = prediction_figure(compared(truth, truth + 1, mask))
    assert len(figure.axes) == 4
    for panel in figure.axes:
        for line in panel.lines:
            np.testing.assert_allclose(line.get_xdata(), 0.1 * np.arange(60, 90))
    figure.draw_without_rendering()
    assert len({panel.get_xlim() for panel in figure.axes}) == 1


def test_spectra_use_the_longest_stretch_without_missing_values() -> None:
    truth, mask = RNG.normal(size=(2, 1, 400)), np.ones((2, 1, 400), bool)
    mask[0, 0, 100], mask[1, 0, :120] = False, False
    whole = compared(truth, truth + 1, mask).complete()
    np.testing.assert_array_equal(whole.truth, truth[:, :, 120:])
    assert whole.mask is None
    np.testing.assert_allclose(whole.times(1), 0.1 * np.arange(120, 400))
    assert spectrum_figure(compared(truth, truth + 1, mask)) is not None
    mask[..., ::10] = False
    assert spectrum_figure(compared(truth, truth + 1, mask)) is None


def test_figures_have_the_times_of_the_file() -> None:
    step, begin = 0.05, 1000.0
    force = RNG.normal(size=(1, 2000))
    grid = Grid((lfno.Axis("t", 2000, step, begin, "s", time=True),))
    record = Record(force, Oscillator().respond(force[None], step)[0, :1], grid, (Channel("f"),), (Channel("x"),))
    model = lfno.fit(record, model="linear")
    assert model.fitted is not None
    assert model.fitted.contest is not None
    shown = signals_of_test(model, model.fitted.contest, "model")
    assert shown.inputs is not None
    places = np.round((shown.times(0) - begin) / step).astype(int)
    np.testing.assert_array_equal(shown.inputs[0, 0], force[0, places])
    page = page_html(fit_page(model, "rig"))
    assert f"from {shown.times(0)[0]:.4g} to {shown.times(0)[-1]:.4g} s" in page
    assert "the warm-up, are not shown" in page


def mode(pole: complex, half: float = 0.0) -> Mode:
    """Return a mode whose intervals have the half-width `half`."""
    values = abs(pole.imag) / (2 * np.pi), -pole.real / abs(pole), -1 / pole.real
    return Mode(pole, *values, 0.7, (1 + 0j,), *((value - half, value + half) for value in values))


def test_the_caption_says_how_far_the_slowest_mode_decays() -> None:
    modes = [mode(-0.5 + 2j), mode(-0.1 + 1j), mode(-3 + 0j)]
    assert left_out(5.0, "s", modes).endswith("(time constant 10 s) decays to 61 %.")  # exp(-5/10)
    assert left_out(60.0, "s", modes).endswith("decays to less than 1 %.")
    assert "does not decay" in left_out(5.0, "s", [mode(1e-3 + 1j)])
    assert left_out(0.0, "s", modes) == ""


def test_a_decay_has_no_frequency_and_a_wide_interval_no_number() -> None:
    assert mode_cells(mode(-0.5 + 0j)) == ["decay", "–", "2 s", "70 %"]
    assert mode_cells(mode(-0.5 + 0j, 1e5), "h")[2] == "about 2 h, uncertain"
    assert mode_cells(mode(-0.5 + 2 * np.pi * 1j, 0.01), "h")[0] == "1.000 ± 0.010 1/h"


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
    figure = bode_figure(found, {(0, 0): "x / f [m/N]"}, "h")
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), 3.0)
    assert figure.axes[2].get_xlabel() == "frequency [1/h]"
    with pytest.raises(LfnoError, match="excite no frequency"):
        bode_picture(np.zeros((20, 1, 512)), {"measured": inputs}, Grid.line(512, 0.01).axes[0], {(0, 0): "x / f"})


def test_every_column_of_the_bode_plot_has_its_pair_and_its_scale() -> None:
    inputs = RNG.normal(size=(20, 2, 512))
    gains = np.array([[3.0, 0.01]])
    found = {"measured": measure_response(inputs, np.einsum("on,snt->sot", gains, inputs), 0.01, 512, 1e-3)}
    figure = bode_figure(found, {(0, 0): "x / f", (0, 1): "x / g"})
    figure.draw_without_rendering()
    for panel, pair, gain in zip(figure.axes[:2], ("x / f", "x / g"), gains[0], strict=True):
        assert panel.get_title(loc="left") == pair
        assert panel.yaxis.get_tick_params()["labelleft"]
        low, high = panel.get_ylim()
        assert low < gain < high


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
    titles = ("What to do next", "Errors on the test data", "Frequency response", "Modes", "Range of validity")
    for words in (*titles, "Data and choices", "noise floor"):
        assert words in page
    assert page.count("data:image/svg+xml") == 5  # four figures; the first one has a second form for phones
    assert "repeated for ever" in page
    assert "noise floor is not known" not in page
    assert fitted.scores is not None
    assert f"{100 * fitted.scores.rows[MODAL]['nrmse']:.3g} %" in page
    # `modes()` leaves out modes that explain less than the test error
    assert fitted.accuracy == fitted.scores.rows[MODAL]["l2"]
    first = fitted.modes()[0]
    assert with_interval(first.frequency, first.frequency_interval, "Hz") in page
    assert fitted.coverage is not None
    assert f"{fitted.coverage.peak[0]:.4g}" in page
    assert f"±\u00a0{fitted.coverage.peak[0]:.3g}" in page  # the tile of the range


def test_data_that_repeat_exactly_have_no_ratio_of_error_and_noise(fitted: Surrogate) -> None:
    assert fitted.fitted is not None
    exact = replace(fitted.fitted, prepared=replace(fitted.fitted.prepared, noise_floor=np.zeros(1)))
    page = page_html(fit_page(Surrogate(fitted.members, fitted.provenance, exact), "rig"))
    assert "noise floor (RMS)" in page
    assert "times the noise" not in page


def test_transient_and_steady_part_add_up_to_the_prediction(fitted: Surrogate) -> None:
    assert fitted.fitted is not None
    assert fitted.fitted.contest is not None
    transient, steady = parts_of_test(fitted, 2)
    expected = fitted.fitted.contest.prediction[:2]
    assert np.abs(transient + steady - expected).max() < 1e-5 * np.abs(expected).max()


def test_the_parts_of_a_record_add_up_to_the_prediction_in_the_figure() -> None:
    """The system moves when the test begins, so the prediction depends on the inputs before the test."""
    force = RNG.normal(size=(1, 3000))
    model = lfno.fit((force, Oscillator().respond(force[None], 0.05)[0, :1]), dt=0.05, model="linear")
    assert model.fitted is not None
    assert model.fitted.contest is not None
    transient, steady = parts_of_test(model, 1)
    np.testing.assert_allclose(transient + steady, model.fitted.contest.prediction)


def test_every_name_in_the_table_of_errors_is_explained(fitted: Surrogate) -> None:
    assert fitted.scores is not None
    assert all(explained(name, fitted) for name in fitted.scores.rows)
    assert all(explained(name, fitted) for name in ("linear", "feedback", "equation", "LFNO"))
    network = lfno.Surrogate([lfno.LFNO(Grid.line(64, 0.1), width=2, modes=4)] * 3)
    assert explained(network.kind, network) == explained("LFNO", network)
