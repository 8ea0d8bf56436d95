"""`lfno response MODEL`: the steady response to sine inputs over frequency and amplitude, compared with the equation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.shared import Json, ModelPath, Quiet
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from lfno.evaluation.backbone import Backbone
    from lfno.evaluation.response import Response
    from lfno.plots.response import Units
    from lfno.surrogate import Surrogate

MOST_TRUE = 200  # largest number of points at which the equation is solved; each point takes about 0.1 s


def register(app: typer.Typer) -> None:
    """Add `lfno response` to the command line."""
    app.command("response")(response)


def response(
    model: ModelPath,
    low: Annotated[
        float | None, typer.Option(help="Lowest frequency, in Hz for times in s. By default as in training.")
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="Highest frequency, in Hz for times in s. By default as in training.")
    ] = None,
    points: Annotated[int, typer.Option(help="Number of frequencies.", min=2)] = 100,
    amplitudes: Annotated[
        str | None, typer.Option(help="Amplitudes of the input, as 0.1,0.5,1. By default from the training inputs.")
    ] = None,
    harmonics: Annotated[int, typer.Option(help="Number of harmonics of the response.", min=1)] = 5,
    channel: Annotated[int, typer.Option(help="Number of the input with the sine, counted from 0.", min=0)] = 0,
    equation: Annotated[
        bool, typer.Option(help="For a built-in system and input 0, solve the equation too and compare the responses.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of figures and arrays. By default the folder figures beside the model."),
    ] = None,
    *,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show the steady response to sine inputs of many frequencies and amplitudes.

    The results are amplitude, phase, harmonics, and the backbone: the frequency of the phase resonance over the amplitude.

    At the phase resonance, the displacement lags the input by a quarter of a cycle.

    Example: lfno response runs/rig --low 0.1 --high 2 --amplitudes 0.1,0.5,1
    """
    import numpy as np

    from lfno.plots.modes import save
    from lfno.plots.response import backbone_figure, response_figure
    from lfno.surrogate import load

    surrogate = load(model)
    frequencies = _frequencies(surrogate, low, high, points)
    forces = None if amplitudes is None else _numbers(amplitudes)
    found = surrogate.response(frequencies, forces, channel=channel, harmonics=harmonics, warn=False)
    notes: list[str] = []
    unsettled = int(np.isnan(found.amplitude).any(-1).sum())
    if unsettled:
        total = found.amplitude[..., 0].size
        notes.append(f"at {unsettled} of {total} points the model has no steady response with the period of the input")
    truth = _truth(surrogate, found, notes) if equation and channel == 0 else None
    curve, true_curve = _curve(surrogate, found, channel, notes), _true_curve(truth)
    folder = out or (model if model.is_dir() else model.parent) / "figures"
    force = dict(enumerate(surrogate.signals.units("inputs"))).get(channel, "")
    units = (force, (surrogate.signals.units("outputs") or [""])[0], surrogate.grid.axes[-1].unit)
    figures = [save(folder / "response.png", partial(response_figure, found, truth, units, curve=curve))]
    if curve is not None:
        figures.append(save(folder / "backbone.png", partial(backbone_figure, curve, true_curve, units)))
    arrays = folder / "response.npz"
    np.savez(arrays, **_arrays(found, truth, curve))
    facts: dict[str, Any] = {"peaks": _peaks(found, truth), "notes": notes, "caveat": surrogate.split_caveat}
    facts["arrays"] = str(arrays)
    facts |= {"figures": [str(figure) for figure in figures], "difference": _difference(found, truth)}
    if as_json:
        typer.echo(to_json(facts))
        return
    for note in [] if quiet else notes:
        typer.echo(f"note: {note}", err=True)
    _print(facts["peaks"], units)
    if facts["difference"] is not None:
        told = 100 * facts["difference"]
        typer.echo(f"RMS difference from the equation: {told:.2g} % of its amplitude, at points with a unique steady response")
    if surrogate.split_caveat:
        typer.echo(surrogate.split_caveat)
    for figure in figures:
        typer.echo(f"figure  {figure}")
    typer.echo(f"arrays  {arrays}")


def _frequencies(surrogate: Surrogate, low: float | None, high: float | None, points: int) -> Any:
    """Return frequencies from `low` to `high`, by default over the band of the training inputs."""
    import numpy as np

    own = surrogate.band_frequencies(2)
    first, last = own[0] if low is None else low, own[-1] if high is None else high
    if not 0 < first < last < np.inf:
        raise LfnoError(f"there are no frequencies from {first:g} to {last:g}: --low must be positive and below --high")
    grid = np.geomspace(first, last, points)
    if surrogate.linear is None:
        return grid
    # the resonance of a lightly damped mode is narrower than the steps of the grid
    return np.union1d(grid, [mode.frequency for mode in surrogate.modes() if first < mode.frequency < last])


def _numbers(text: str) -> list[float]:
    """Return the numbers of a text with commas between them."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise LfnoError(f"--amplitudes {text!r} is not a list of numbers; write, for example, --amplitudes 0.1,0.5,1") from None


def _truth(surrogate: Surrogate, found: Response, notes: list[str]) -> Response | None:
    """Return the steady response of the equation at the frequencies and amplitudes of `found`, and add notes on it.

    Returns None if the training data are not of a built-in system over time, or if the system has no steady response.
    """
    import numpy as np

    from lfno.evaluation.response import system_response
    from lfno.evaluation.truth import true_system

    system = true_system(surrogate.provenance)
    if system is None or system.grid.ndim > 1:
        return None
    if system.unsettled:
        notes.append(f"the equation has no steady response: {system.unsettled}")
        return None
    frequencies = found.frequencies
    if found.amplitudes.size * frequencies.size > MOST_TRUE:
        frequencies = frequencies[:: int(np.ceil(found.amplitudes.size * frequencies.size / MOST_TRUE))]
        notes.append(f"the equation is solved at {len(frequencies)} of {len(found.frequencies)} frequencies")
    truth = system_response(system, frequencies, found.amplitudes, harmonics=found.harmonics.shape[-1] - 1)
    assert truth.unique is not None
    several = int((~truth.unique).sum())
    if several:
        notes.append(
            f"at {several} of {truth.unique.size} points the steady response of the equation is not unique or not periodic"
        )
    return truth


def _curve(surrogate: Surrogate, found: Response, channel: int, notes: list[str]) -> Backbone | None:
    """Return the backbone of the model, or None with a note that says why there is none."""
    from lfno.evaluation.backbone import backbone, resolve

    ask = partial(surrogate.response, channel=channel, harmonics=1, warn=False)
    first = replace(found, harmonics=found.harmonics[..., :2])
    try:
        return backbone(resolve(ask, first))
    except LfnoError as error:
        notes.append(f"there is no backbone: {error}")
        return None


def _true_curve(truth: Response | None) -> Backbone | None:
    """Return the backbone of the equation; None if the equation is unknown or has no backbone."""
    from lfno.evaluation.backbone import backbone

    try:
        return None if truth is None else backbone(truth)
    except LfnoError:
        return None


def _arrays(found: Response, truth: Response | None, curve: Backbone | None) -> dict[str, Any]:
    """Return the arrays for the file response.npz by name."""
    arrays: dict[str, Any] = {"frequencies": found.frequencies, "amplitudes": found.amplitudes, "harmonics": found.harmonics}
    if truth is not None:
        arrays |= {"true_frequencies": truth.frequencies, "true_harmonics": truth.harmonics, "unique": truth.unique}
    if curve is not None:
        arrays |= {f"backbone_{name}": values for name, values in vars(curve).items()}
    return arrays


def _difference(found: Response, truth: Response | None) -> float | None:
    """Return the RMS difference of the fundamentals, divided by the RMS of the equation's fundamental.

    Only points count where the equation has a unique steady response and the model has a steady response. Returns None if
    there is no such point.
    """
    import numpy as np

    if truth is None or truth.unique is None or not truth.unique.any():
        return None
    places = np.isin(found.frequencies, truth.frequencies)
    own = found.harmonics[..., 1][:, places]
    both = truth.unique & np.isfinite(own).all(-1)
    if not both.any():
        return None
    apart = (own - truth.harmonics[..., 1])[both]
    return float(np.linalg.norm(apart) / np.linalg.norm(truth.harmonics[..., 1][both]))


def _peaks(found: Response, truth: Response | None) -> list[dict[str, float]]:
    """Return the frequency and the amplitude of the largest response of the first output, for each amplitude of the input.

    An input amplitude without any steady response has no row.
    """
    import numpy as np

    rows = []
    for row, force in enumerate(found.amplitudes):
        if not np.isfinite(found.amplitude[row, :, 0]).any():
            continue
        place = int(np.nanargmax(found.amplitude[row, :, 0]))
        facts = {"force": float(force), "frequency": float(found.frequencies[place])}
        facts |= {"amplitude": float(found.amplitude[row, place, 0]), "distortion": float(found.distortion[row, place, 0])}
        if truth is not None and np.isfinite(truth.amplitude[row]).any():
            best = int(np.nanargmax(truth.amplitude[row, :, 0]))
            facts["true_frequency"] = float(truth.frequencies[best])
            facts["true_amplitude"] = float(truth.amplitude[row, best, 0])
        rows.append(facts)
    return rows


def _print(rows: list[dict[str, float]], units: Units) -> None:
    """Print the table of the largest responses. The headings have the units of input, output and time."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from lfno.core.grid import frequency_unit, with_unit
    from lfno.plots.response import TINY

    force, size, hertz = units[0], units[1], frequency_unit(units[2])
    table = Table(title="largest steady response for each input amplitude")
    headings = {"force": with_unit("input amplitude", force), "frequency": with_unit("frequency", hertz)}
    headings |= {"amplitude": with_unit("response", size), "distortion": "harmonics [%]"}
    if any("true_frequency" in row for row in rows):
        headings |= {
            "true_frequency": with_unit("equation: frequency", hertz),
            "true_amplitude": with_unit("equation: response", size),
        }
    for heading in headings.values():
        table.add_column(escape(heading), justify="right")
    for row in rows:
        told = {**row, "distortion": 100 * row["distortion"] if row["distortion"] > TINY else 0.0}
        table.add_row(*(f"{told[name]:.4g}" if name in told else "–" for name in headings))
    Console().print(table)
