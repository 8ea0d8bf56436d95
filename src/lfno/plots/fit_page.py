"""The HTML page about a fitted model: verdict, error, prediction, residuals, frequency response, modes, range of validity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.evaluation.coverage import QUANTILES, Coverage
from lfno.identification.mode import Mode
from lfno.plots.bode import bode_picture
from lfno.plots.fit_figures import Compared, field_error_figure, prediction_figure, spectrum_figure
from lfno.plots.mode_rows import HEADINGS, mode_cells
from lfno.plots.page import Page, Picture, Section, Table, Tile
from lfno.plots.parts import overview
from lfno.plots.style import as_svg
from lfno.surrogate.verdict import figure

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

BEST_LINEAR = "linear baseline"
MOST_OUTPUTS = 4  # outputs; with more of them, the table of errors has no column for each output
FEW_INPUTS = 2  # largest number of inputs that the tile of the range shows
MOST_MODES = 8  # largest number of rows of the table of modes
LEVEL = 0.9  # coverage probability of the prediction interval on the page


def fit_page(model: Surrogate, name: str, folder: str = "FOLDER") -> Page:
    """Return the page about a fitted model.

    Args:
        model: A model that `lfno.fit` returned. Its attribute `fitted.contest` holds the results on the test data.
        name: The name of the data, used in the title.
        folder: The folder of the model, used in the suggested commands.
    """
    assert model.fitted is not None
    assert model.fitted.contest is not None
    contest, floor = model.fitted.contest, model.fitted.prepared.noise_floor
    noise = None if floor is None else [float(level) for level in floor]
    label = next(iter(contest.rows))
    modes = _modes(model)
    first, splits = overview(model, contest, label) if model.grid.ndim == 1 else (None, True)
    sections = [
        *([first] if first else []),
        _prediction(model, contest, label, noise),
        Section("Candidates", tables=[_candidates(contest, noise)]),
        *_response(model, contest, label),
        _mode_section(modes, model),
        _range(model),
        Section("Data and choices", _story(model), folded=True),
    ]
    split = ("Split a response into its transient and its steady part:", f"lfno decompose {folder} FILE")
    steps = (
        ("Predict the response to new inputs:", f"lfno predict {folder} FILE -o OUT"),
        *([split] if splits else []),
        ("Use the model without lfno:", f"lfno export {folder} --to fmu"),
    )
    tiles = [*_tiles(contest, label, modes, noise), *_range_tile(model)]
    return Page(f"{name}: a fitted model", _lead(model, contest, label, noise), sections, steps, tiles=tiles)


def _lead(model: Surrogate, contest: Contest, label: str, noise: Sequence[float] | None) -> list[str]:
    """Return the first sentences of the page: the error, the verdict, and the error relative to the noise."""
    row, signals = contest.rows[label], model.signals
    inputs = ", ".join(signals.names("inputs")) or f"{model.channels[0]} inputs"
    outputs = ", ".join(signals.names("outputs")) or f"{model.channels[1]} outputs"
    sentences = [
        f"The {label.removesuffix(' model')} model predicts {outputs} from {inputs}. On test data that the fit did not use, "
        f"the error is {_percent(row['nrmse'])} of the standard deviation of the output.",
        contest.verdict,
    ]
    if model.equation:
        sentences.insert(1, f"The identified equation: {model.equation}.")
    # simulated data can repeat exactly: their noise is zero, and there is no ratio
    times = [error / level for error, level in zip(row["rmse"], noise or (), strict=noise is not None) if level > 0]
    if times:
        sentences.append(f"The error is {max(times):.2g} times the measurement noise. No model can reach less than 1.")
    return sentences


def _tiles(contest: Contest, label: str, modes: list[Mode], noise: Sequence[float] | None) -> list[Tile]:
    """Return the most important numbers: errors, noise floor, and the strongest mode."""
    own = contest.rows[label]
    tiles = [Tile(_percent(own["nrmse"]), f"error of {label}", f"fit {own['fit']:.2f} %")]
    if BEST_LINEAR in contest.rows:
        linear = contest.rows[BEST_LINEAR]["nrmse"]
        tiles.append(Tile(_percent(linear), BEST_LINEAR, f"{figure(linear / max(own['nrmse'], 1e-300))} × {label}"))
    if noise is not None:
        tiles.append(Tile(", ".join(f"{level:.3g}" for level in noise), "noise floor (RMS)", "from repeated periods"))
    if modes:
        first = modes[0]
        pure = first.frequency == 0
        value = f"{first.time_constant:.3g} s" if pure else f"{first.frequency:.4g} Hz"
        tiles.append(Tile(value, "main time constant" if pure else "main mode", f"damping ratio {first.damping_ratio:.3g}"))
    return tiles


def _range_tile(model: Surrogate) -> list[Tile]:
    """Return a tile with the peaks and the highest frequency of the training inputs. Many inputs and fields have no tile."""
    coverage = model.coverage
    if coverage is None or len(coverage.peak) > FEW_INPUTS or model.grid.ndim > 1:
        return []
    units = model.signals.units("inputs") or [""] * len(coverage.peak)
    peaks = ", ".join(f"{peak:.3g} {unit}".rstrip() for peak, unit in zip(coverage.peak, units, strict=False))
    highest = max(high for _, high in coverage.band[-1])
    hertz = "Hz" if coverage.unit == "s" else f"1/{coverage.unit}"
    return [Tile(f"± {peaks}", "trained on inputs within", f"up to {highest:.3g} {hertz}; it extrapolates beyond")]


def _prediction(model: Surrogate, contest: Contest, label: str, noise: Sequence[float] | None) -> Section:
    """Return the section with the figures of the prediction and of the spectra of the residuals."""
    grid = model.grid
    if grid.ndim > 1:
        one = (grid, contest.truth[0, 0], contest.prediction[0, 0], label, contest.outputs[0])
        words = "The first test sample: truth, prediction, and prediction minus truth. The last map has its own colour scale."
        return Section("Prediction", pictures=[Picture(as_svg(partial(field_error_figure, *one)), words)])
    compared = _compared(model, contest, label)
    words = (
        "Test data that the fit did not use. The broad grey line is the measurement. Below each panel are the residuals "
        "(prediction minus measurement). The dotted line is the residual of the linear baseline."
    )
    if compared.spread is not None:
        words += " The band is ± 2 standard deviations of the predictions of the ensemble."
    pictures = [Picture(as_svg(partial(prediction_figure, compared)), words)]
    spectrum = as_svg(partial(spectrum_figure, compared, noise))
    if spectrum is not None:
        words = (
            "Amplitude spectral density of the output and of the residuals. Where the residual is far below the output, the "
            "model explains the output at that frequency."
        )
        pictures.append(Picture(spectrum, words))
    return Section("Prediction and residuals", pictures=pictures)


def _compared(model: Surrogate, contest: Contest, label: str) -> Compared:
    """Return the signals of the test data with their time axis."""
    axis = model.grid.change(model.grid.names[-1], size=contest.truth.shape[-1]).axes[-1]
    return Compared(
        label, axis, contest.truth, contest.prediction, contest.linear, contest.outputs, contest.mask, contest.spread
    )


def _candidates(contest: Contest, noise: Sequence[float] | None) -> Table:
    """Return the table of the errors of the model and of the baselines."""
    few = len(contest.outputs) <= MOST_OUTPUTS
    columns = ["", "error", "fit", *(f"RMSE {name}" for name in contest.outputs if few)]
    rows = []
    for name, row in contest.rows.items():
        rmse = [f"{value:.4g}" for value in row["rmse"]] if few else []
        rows.append([name, _percent(row["nrmse"]), f"{row['fit']:.2f} %", *rmse])
    errors = [row["nrmse"] for row in contest.rows.values()]
    if noise is not None and few:
        rows.append(["noise floor", "", "", *(f"{level:.4g}" for level in noise)])
    note = "Error: RMSE divided by the standard deviation of the output. A fit of 100 % is exact. The mean has a fit of 0 %."
    if noise is None:
        note += " The noise floor is not known: a periodic input is needed to measure the noise."
    return Table(columns, rows, errors.index(min(errors)), note)


def _response(model: Surrogate, contest: Contest, label: str) -> list[Section]:
    """Return the section with the Bode plot, or with the reason why there is none. Fields have no such section."""
    if model.grid.ndim > 1:
        return []
    title = "Frequency response"
    if contest.mask is not None:
        return [Section(title, ["There is no frequency response, because the test data have missing values."])]
    data, pairs = model.fitted.prepared.dataset, {}  # type: ignore[union-attr]
    for k, out in enumerate(data.output_channels):
        for n, into in enumerate(data.input_channels):
            pairs[k, n] = f"{out.name} / {into.name}"
    answers = {"measured": contest.truth, BEST_LINEAR: contest.linear, label: contest.prediction}
    try:
        picture = bode_picture(contest.inputs, answers, model.grid.steps[-1], pairs)
    except LfnoError as error:
        return [Section(title, [f"There is no frequency response: {error}."])]
    return [Section(title, pictures=[picture])]


def _modes(model: Surrogate) -> list[Mode]:
    """Return the modes of the model, strongest first."""
    try:
        return model.modes()
    except LfnoError:  # a system without an equilibrium, or without a time axis, has no modes
        return []


def _mode_section(modes: list[Mode], model: Surrogate) -> Section:
    """Return the section with the table of modes, or with a sentence if the model has no modes."""
    if not modes:
        return Section("Modes", ["The model has no modes for small inputs."])
    rows = [[str(n), *mode_cells(mode)] for n, mode in enumerate(modes[:MOST_MODES], 1)]
    what = "Modes of the linear model" if model.linear else "Modes of the model for small inputs"
    note = f"{what}, strongest first, with 95 % intervals. Contribution: share of the mode in the response."
    if model.networks:
        note += " The intervals belong to the modes of the network. The modes of the real system can lie outside."
    return Section("Modes", tables=[Table(["", *HEADINGS], rows, note=note)])


def _range(model: Surrogate) -> Section:
    """Return the section on the inputs for which the model was trained, and on the prediction interval."""
    sentences = []
    coverage = model.coverage
    calibration = model.calibration
    if calibration is not None:
        try:
            widths = calibration.half_width(LEVEL)
            units = model.signals.units("outputs") or [""] * len(widths)
            said = ", ".join(f"± {width:.3g} {unit}".rstrip() for width, unit in zip(widths, units, strict=False))
            sentences.append(
                f"For inputs inside the range of the table, {100 * LEVEL:.0f} % of new responses stay within {said} of the "
                "prediction."
            )
        except LfnoError as error:
            sentences.append(f"There is no prediction interval: {error}.")
    tables = [] if coverage is None else [_coverage(coverage, model)]
    return Section("Range of validity", sentences, tables=tables)


def _coverage(coverage: Coverage, model: Surrogate) -> Table:
    """Return the table of the largest values and of the frequencies of the training inputs."""
    hertz = "Hz" if coverage.unit == "s" else f"1/{coverage.unit}"
    columns = ["input", "largest value", "largest RMS", *(f"{100 * q:.0f} % of the energy below" for q in QUANTILES)]
    names = model.signals.inputs or [(f"input {k}", "") for k in range(model.channels[0])]
    rows = []
    for k, (name, unit) in enumerate(names):
        bands = [f"{coverage.band[q][k][0]:.3g} to {coverage.band[q][k][1]:.3g} {hertz}" for q in range(len(QUANTILES))]
        sizes = [f"{value:.4g} {unit}".rstrip() for value in (coverage.peak[k], coverage.rms[k])]
        rows.append([with_unit(name, unit), *sizes, *bands])
    note = (
        f"The inputs of the training data: {coverage.count} windows of {coverage.duration:g} {coverage.unit}. Outside this "
        "range the model extrapolates. A note on the prediction then says so."
    )
    return Table(columns, rows, note=note)


def _story(model: Surrogate) -> list[str]:
    """Return sentences on the model, on the samples, and on the choices of the fit."""
    fitted = model.fitted
    assert fitted is not None
    sizes = zip(("training", "validation", "test"), fitted.prepared.split.sizes, strict=True)
    samples = ", ".join(f"{count} for {part}" for part, count in sizes)
    told = [*fitted.prepared.notes, *fitted.choices]
    return [f"Model: {model!r}.", f"Samples: {samples}.", *(text[:1].upper() + text[1:].rstrip(".") + "." for text in told)]


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
