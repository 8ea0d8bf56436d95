"""The HTML page about a fitted model: verdict, error, prediction, residuals, frequency response, modes, range of validity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lfno.core.errors import LfnoError
from lfno.core.grid import frequency_unit, with_unit
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.evaluation.coverage import QUANTILES, Coverage
from lfno.identification.mode import Mode
from lfno.plots.bode import bode_picture, pair_label
from lfno.plots.compared import Compared, signals_of_test
from lfno.plots.fit_figures import LINEAR_MODEL, field_error_figure, prediction_figure, spectrum_figure
from lfno.plots.mode_rows import DECAY, HEADINGS, UNCERTAIN, mode_cells
from lfno.plots.model_words import explained
from lfno.plots.page import Page, Picture, Section, Table, Tile
from lfno.plots.parts import overview
from lfno.plots.style import as_svg
from lfno.surrogate.verdict import figure

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

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
    signals = model.grid.ndim == 1
    compared = signals_of_test(model, contest, label)
    first, splits = overview(model, compared, modes) if signals else (None, True)
    split = ("Split a response into its transient and its steady part:", f"lfno decompose {folder} FILE")
    steps = (
        ("Predict the response to new inputs:", f"lfno predict {folder} FILE -o OUT"),
        *([split] if splits else []),
        ("Use the model without lfno:", f"lfno export {folder} --to fmu"),
    )
    sections = [
        Section("What to do next", steps=steps),
        *([first] if first else []),
        _prediction(model, compared, noise) if signals else _fields(model, contest, label),
        Section("Errors on the test data", tables=[_candidates(contest, noise), _names(contest, model)]),
        *([_response(model, compared)] if signals else []),
        _mode_section(modes, model),
        _range(model),
        Section("Data and choices", _story(model), folded=True),
    ]
    tiles = [*_tiles(contest, label, noise), *_range_tile(model), _mode_tile(modes, model)]
    return Page(f"{name}: a fitted model", _lead(model, contest, label), sections, tiles=tiles)


def _lead(model: Surrogate, contest: Contest, label: str) -> list[str]:
    """Return the first sentences of the page: what the model is, its error, and the verdict."""
    row, signals = contest.rows[label], model.signals
    inputs = ", ".join(signals.names("inputs")) or f"{model.channels[0]} inputs"
    outputs = ", ".join(signals.names("outputs")) or f"{model.channels[1]} outputs"
    words = explained(label, model)
    sentences = [
        f"The {label.removesuffix(' model')} model predicts {outputs} from {inputs}. {f'It is {words}. ' if words else ''}"
        f"On test data that the fit did not use, the error is {_percent(row['nrmse'])} of the standard deviation of the output.",
        contest.verdict,
    ]
    if model.equation:
        sentences.insert(1, f"The identified equation: {model.equation}.")
    return sentences


def _tiles(contest: Contest, label: str, noise: Sequence[float] | None) -> list[Tile]:
    """Return the errors of the model and of the best linear model, and the noise floor."""
    own = contest.rows[label]
    tiles = [Tile(_percent(own["nrmse"]), f"error of {label}", f"fit {own['fit']:.2f} %")]
    if LINEAR_MODEL in contest.rows:
        linear = contest.rows[LINEAR_MODEL]["nrmse"]
        tiles.append(Tile(_percent(linear), f"error of {LINEAR_MODEL}", f"{figure(linear / max(own['nrmse'], 1e-300))} × {label}"))
    if noise is None:
        return [*tiles, Tile("unknown", "noise floor", "only repeated periods show the noise")]
    # simulated data can repeat exactly: their noise is zero, and there is no ratio
    times = [error / level for error, level in zip(own["rmse"], noise, strict=True) if level > 0]
    ratio = f"the error is {max(times):.2g} times the noise; no model reaches less than 1" if times else "from repeated periods"
    return [*tiles, Tile(", ".join(f"{level:.3g}" for level in noise), "noise floor (RMS)", ratio)]


def _mode_tile(modes: list[Mode], model: Surrogate) -> Tile:
    """Return a tile with the strongest mode."""
    if not modes:
        return Tile("none", "modes", "for small inputs")
    frequency, damping, time, _ = mode_cells(modes[0], model.grid.axes[-1].unit, intervals=False)
    count = f"{len(modes)} modes in total" if len(modes) > 1 else "the only mode"
    if frequency == DECAY:
        return Tile(time, "main time constant", count)
    return Tile(frequency, "main mode", f"damping ratio {float(damping):.3g}; {count}")


def _range_tile(model: Surrogate) -> list[Tile]:
    """Return a tile with the peaks and the highest frequency of the training inputs. Many inputs and fields have no tile."""
    coverage = model.coverage
    if coverage is None or len(coverage.peak) > FEW_INPUTS or model.grid.ndim > 1:
        return []
    units = model.signals.units("inputs") or [""] * len(coverage.peak)
    peaks = ", ".join(f"{peak:.3g} {unit}".rstrip() for peak, unit in zip(coverage.peak, units, strict=False))
    highest = max(high for _, high in coverage.band[-1])
    limit = f"{highest:.3g} {frequency_unit(coverage.unit)}".rstrip()
    return [Tile(f"± {peaks}", "valid for inputs within", f"up to {limit}; beyond, it extrapolates")]


def _fields(model: Surrogate, contest: Contest, label: str) -> Section:
    """Return the section with the maps of the first test sample."""
    one = (model.grid, contest.truth[0, 0], contest.prediction[0, 0], label, contest.outputs[0])
    words = "The first test sample: truth, prediction, and prediction minus truth. The last map has its own colour scale."
    return Section("Prediction", pictures=[Picture(as_svg(partial(field_error_figure, *one)), words)])


def _prediction(model: Surrogate, compared: Compared, noise: Sequence[float] | None) -> Section:
    """Return the section with the figures of the prediction and of the spectra of the residuals."""
    words = (
        "Test data that the fit did not use. The broad grey line is the measurement. Below each panel are the residuals "
        f"(prediction minus measurement). The dotted line is the residual of the {LINEAR_MODEL}. {_clock_words(model, compared)}"
    )
    if compared.spread is not None:
        words += " The band is ± 2 standard deviations of the predictions of the ensemble."
    pictures = [Picture(as_svg(partial(prediction_figure, compared)), words)]
    spectrum = as_svg(partial(spectrum_figure, compared, noise))
    if spectrum is not None:
        words = (
            "Amplitude spectral density of the output and of the residuals. Where the residual is far below the output, the "
            f"model explains the output at that frequency.{_share_words(compared)}"
        )
        pictures.append(Picture(spectrum, words))
    return Section("Prediction and residuals", pictures=pictures)


def _clock_words(model: Surrogate, compared: Compared) -> str:
    """Return sentences on the times of the figure, on the warm-up, and on the numbers of the runs."""
    prepared, axis = model.fitted.prepared, compared.axis  # type: ignore[union-attr]
    if prepared.dataset.provenance.get(SAMPLE_START) == PERIODIC:
        return "Times count from the beginning of the averaged period."
    words = "Times are those of the file."
    if prepared.warmup:
        whose = "the test data" if prepared.test is not None else "each window"
        words += f" The first {prepared.warmup * axis.step:.3g} {axis.unit} of {whose}, the warm-up, are not shown and not scored."
    return words + (" Runs count from 0." if len(compared.runs) > 1 else "")


def _share_words(compared: Compared) -> str:
    """Return a sentence on the part of the test data that the spectra use; "" if they use all scored values."""
    used = compared.complete().truth
    known = compared.truth.size if compared.mask is None else int(compared.mask.sum())
    if used.size == known:
        return ""
    return f" It uses {100 * used.size / max(known, 1):.2g} % of the test data: stretches of {used.shape[-1]} steps without gaps."


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


def _names(contest: Contest, model: Surrogate) -> Table:
    """Return the table that explains the names of the models and of the baselines."""
    rows = [[name, words] for name in contest.rows if (words := explained(name, model))]
    return Table(["name", "meaning"], rows, prose=True)


def _response(model: Surrogate, compared: Compared) -> Section:
    """Return the section with the Bode plot, or with the reason why there is none."""
    data, title, whole = model.fitted.prepared.dataset, "Frequency response", compared.complete()  # type: ignore[union-attr]
    assert whole.inputs is not None
    pairs = {
        (k, n): pair_label(out, into)
        for k, out in enumerate(data.output_channels)
        for n, into in enumerate(data.input_channels)
    }
    answers = {"measured": whole.truth, LINEAR_MODEL: whole.linear, compared.label: whole.prediction}
    try:
        if not whole.truth.size:
            raise LfnoError("no part of the test data is without missing values")
        picture = bode_picture(whole.inputs, answers, compared.axis, pairs)
    except LfnoError as error:
        return Section(title, [f"There is no frequency response: {error}.{_share_words(compared)}"])
    return Section(title, pictures=[replace(picture, caption=picture.caption + _share_words(compared))])


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
    unit, alone = model.grid.axes[-1].unit, bool(model.networks) and len(model.members) == 1
    rows = [[str(n), *mode_cells(mode, unit, intervals=not alone)] for n, mode in enumerate(modes[:MOST_MODES], 1)]
    what = "Modes of the linear model" if model.linear else "Modes of the model for small inputs"
    note = (
        f"{what}, strongest first. Contribution: RMS of the response of this mode alone, divided by the RMS of the whole "
        "response. Responses of several modes can cancel each other, so the sum of their contributions can exceed 100 %."
    )
    if alone:
        note += " The modes of the real system differ from those of the network by an unknown amount: the network is not exact."
    elif model.networks:
        note += " ± is the scatter of the networks of the ensemble. The modes of the real system can lie outside."
    else:
        note += " ± is the half-width of the 95 % interval."
    if any(UNCERTAIN in cell for row in rows for cell in row):
        note += f" “{UNCERTAIN}”: the interval contains zero, so the data do not determine this value."
    if len(modes) > MOST_MODES:
        note += f" The table has {MOST_MODES} of {len(modes)} modes."
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
    hertz = frequency_unit(coverage.unit)
    columns = ["input", "largest value", "largest RMS", *(f"{100 * q:.0f} % of the energy below" for q in QUANTILES)]
    names = model.signals.inputs or [(f"input {k}", "") for k in range(model.channels[0])]
    rows = []
    for k, (name, unit) in enumerate(names):
        bands = [f"{coverage.band[q][k][0]:.3g} to {coverage.band[q][k][1]:.3g} {hertz}".rstrip() for q in range(len(QUANTILES))]
        sizes = [f"{value:.4g} {unit}".rstrip() for value in (coverage.peak[k], coverage.rms[k])]
        rows.append([with_unit(name, unit), *sizes, *bands])
    note = (
        f"The range of the training inputs, found from {coverage.count} pieces of {coverage.duration:g} {coverage.unit}. Outside "
        "this range the model extrapolates. A note on the prediction then says so."
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
