"""The HTML page about a fitted model: verdict, error, prediction, residuals, frequency response, modes, range of validity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.identification.mode import Mode
from lfno.plots.bode import bode_picture, pair_label
from lfno.plots.compared import Compared, signals_of_test
from lfno.plots.fit_figures import LINEAR_MODEL, field_error_figure, prediction_figure, spectrum_figure
from lfno.plots.fit_tables import coverage_table, errors_table, mode_section, names_table
from lfno.plots.fit_tiles import error_tiles, lead, mode_tile, range_tile
from lfno.plots.page import Page, Picture, Section
from lfno.plots.parts import overview
from lfno.plots.style import as_svg

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

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
    splits = True
    if model.grid.ndim > 1:
        figures = [_fields(model, contest, label)]
    else:
        compared = signals_of_test(model, contest, label)
        first, splits = overview(model, compared, modes)
        figures = [first, _prediction(model, compared, noise), _response(model, compared)]
    split = ("Split a response into its transient and its steady part:", f"lfno decompose {folder} FILE")
    steps = (
        ("Predict the response to new inputs:", f"lfno predict {folder} FILE -o OUT"),
        *([split] if splits else []),
        ("Use the model without lfno:", f"lfno export {folder} --to fmu"),
    )
    sections = [
        Section("What to do next", steps=steps),
        *figures[:2],
        Section("Errors on the test data", tables=[errors_table(contest, noise), names_table(contest, model)]),
        *figures[2:],
        mode_section(modes, model),
        _range(model),
        Section("Data and choices", _story(model), folded=True),
    ]
    tiles = [*error_tiles(model, contest, label, noise), *range_tile(model), mode_tile(modes, model)]
    return Page(f"{name}: a fitted model", lead(model, contest, label), sections, tiles=tiles)


def _fields(model: Surrogate, contest: Contest, label: str) -> Section:
    """Return the section with the maps of the first test sample."""
    one = (model.grid, contest.truth[0, 0], contest.prediction[0, 0], label, contest.outputs[0])
    words = "The first test sample: truth, prediction, and prediction minus truth. The last map has its own colour scale."
    return Section("Prediction", pictures=[Picture(as_svg(partial(field_error_figure, *one)), words)])


def _prediction(model: Surrogate, compared: Compared, noise: Sequence[float] | None) -> Section:
    """Return the section with the figures of the prediction and of the spectra of the residuals."""
    words = (
        "Test data that the fit did not use. The broad grey line is the measurement. Below each panel are the residuals "
        f"(prediction minus measurement). The dotted line is the residual of the {LINEAR_MODEL}."
    )
    words += _clock_words(model, compared)
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
        return " Times count from the beginning of the averaged period."
    words = " Times are those of the file."
    if prepared.warmup:
        whose = "the test data" if prepared.test is not None else "each window"
        length = f"{prepared.warmup * axis.step:.3g} {axis.unit}"
        words += f" The first {length} of {whose}, the warm-up, are not shown and not scored."
    return words + (" Runs count from 0." if len(compared.runs) > 1 else "")


def _share_words(compared: Compared) -> str:
    """Return a sentence on the part of the test data that the spectra use; "" if they use all scored values."""
    used = compared.complete().truth
    known = compared.truth.size if compared.mask is None else int(compared.mask.sum())
    if used.size == known:
        return ""
    share, steps = 100 * used.size / max(known, 1), used.shape[-1]
    return f" It uses {share:.2g} % of the scored test data: stretches of {steps} time steps in which every value is scored."


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


def _range(model: Surrogate) -> Section:
    """Return the section on the inputs for which the model was trained, and on the prediction interval."""
    sentences = []
    coverage = model.coverage
    calibration = model.calibration
    if calibration is not None:
        try:
            widths = calibration.half_width(LEVEL)
            units = model.signals.units("outputs") or [""] * len(widths)
            pairs = [(width, unit) for width, unit in zip(widths, units, strict=False) if np.isfinite(width)]
            said = ", ".join(f"± {width:.3g} {unit}".rstrip() for width, unit in pairs)
            sentences.append(
                f"For inputs inside the range of the table, {100 * LEVEL:.0f} % of new responses stay within {said} of the "
                "prediction."
            )
            if missing := model.without_interval:
                sentences.append(f"{missing[0].upper()}{missing[1:]}.")
        except LfnoError as error:
            sentences.append(f"There is no prediction interval: {error}.")
    tables = [] if coverage is None else [coverage_table(coverage, model)]
    return Section("Range of validity", sentences, tables=tables)


def _story(model: Surrogate) -> list[str]:
    """Return sentences on the model, on the samples, and on the choices of the fit."""
    fitted = model.fitted
    assert fitted is not None
    sizes = zip(("training", "validation", "test"), fitted.prepared.split.sizes, strict=True)
    samples = ", ".join(f"{count} for {part}" for part, count in sizes)
    told = [*fitted.prepared.notes, *fitted.choices]
    return [f"Model: {model!r}.", f"Samples: {samples}.", *(text[:1].upper() + text[1:].rstrip(".") + "." for text in told)]
