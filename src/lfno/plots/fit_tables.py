"""The tables of the page about a fitted model: errors, names of the models, modes, and range of the training inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lfno.core.grid import frequency_unit, with_unit
from lfno.evaluation.coverage import QUANTILES, Coverage
from lfno.identification.mode import Mode
from lfno.plots.fit_tiles import percent
from lfno.plots.mode_rows import HEADINGS, UNCERTAIN, mode_cells
from lfno.plots.model_words import explained
from lfno.plots.page import Section, Table

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate
    from lfno.surrogate.contest import Contest

MOST_OUTPUTS = 4  # outputs; with more of them, the table of errors has no column for each output
MOST_MODES = 8  # largest number of rows of the table of modes


def errors_table(contest: Contest, noise: Sequence[float] | None) -> Table:
    """Return the table of the errors of the model and of the baselines."""
    few = len(contest.outputs) <= MOST_OUTPUTS
    columns = ["", "error", "fit", *(f"RMSE {name}" for name in contest.outputs if few)]
    rows = []
    for name, row in contest.rows.items():
        rmse = [f"{value:.4g}" for value in row["rmse"]] if few else []
        rows.append([name, percent(row["nrmse"]), f"{row['fit']:.2f} %", *rmse])
    errors = [row["nrmse"] for row in contest.rows.values()]
    if noise is not None and few:
        rows.append(["noise floor", "", "", *(f"{level:.4g}" for level in noise)])
    note = "Error: RMSE divided by the standard deviation of the output. A fit of 100 % is exact. The mean has a fit of 0 %."
    if noise is None:
        note += " The noise floor is not known: a periodic input is needed to measure the noise."
    return Table(columns, rows, errors.index(min(errors)), note)


def names_table(contest: Contest, model: Surrogate) -> Table:
    """Return the table that explains the names of the models and of the baselines."""
    rows = [[name, words] for name in contest.rows if (words := explained(name, model))]
    return Table(["name", "meaning"], rows, prose=True)


def mode_section(modes: list[Mode], model: Surrogate) -> Section:
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
        note += " ± includes the scatter of the networks of the ensemble. The modes of the real system can lie outside."
    else:
        note += " ± is the half-width of the 95 % interval."
    if any(UNCERTAIN in cell for row in rows for cell in row):
        note += f" “{UNCERTAIN}”: the interval contains zero, so the data do not determine this value."
    if len(modes) > MOST_MODES:
        note += f" The table has {MOST_MODES} of {len(modes)} modes."
    return Section("Modes", tables=[Table(["", *HEADINGS], rows, note=note)])


def coverage_table(coverage: Coverage, model: Surrogate) -> Table:
    """Return the table of the largest values and of the frequencies of the training inputs."""
    hertz = frequency_unit(coverage.unit)
    columns = ["input", "largest value", "largest RMS", *(f"{100 * q:.0f} % of the energy below" for q in QUANTILES)]
    names = model.signals.inputs or [(f"input {k}", "") for k in range(model.channels[0])]
    rows = []
    for k, (name, unit) in enumerate(names):
        ranges = [coverage.band[q][k] for q in range(len(QUANTILES))]
        bands = [f"{low:.3g} to {high:.3g} {hertz}".rstrip() for low, high in ranges]
        sizes = [f"{value:.4g} {unit}".rstrip() for value in (coverage.peak[k], coverage.rms[k])]
        rows.append([with_unit(name, unit), *sizes, *bands])
    note = (
        f"The range of the training inputs, in {coverage.count} pieces of {coverage.duration:g} {coverage.unit}. Outside this "
        "range the model extrapolates. A note on the prediction then says so."
    )
    return Table(columns, rows, note=note)
