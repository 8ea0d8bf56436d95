"""`lfno poles MODEL`: the modes behind a model, as a table, in the s-plane and as a Bode plot."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.mode_table import mode_rows, plain_rows, print_layers, print_modes
from lfno.cli.predict import Json, ModelPath, Quiet
from lfno.cli.reading import Reading, with_reading
from lfno.core.errors import LfnoError

if TYPE_CHECKING:
    from lfno.identification.identify import Modes
    from lfno.surrogate import Surrogate

MANY = 16
WORTH_SAYING = 0.01  # an error of the model that may hide modes an engineer looks for
FLOOR = 1e-3  # below this share of the input's peak power what is seen is leakage


def register(app: typer.Typer) -> None:
    app.command("poles")(with_reading(poles))


def poles(
    model: ModelPath,
    amplitude: Annotated[float | None, typer.Option(help="Height of the pulse that shows the modes, in input units.")] = None,
    operating: Annotated[float, typer.Option(help="Level of the input about which the modes are asked for.")] = 0.0,
    order: Annotated[int | None, typer.Option(help="States of the realisation (2 for one oscillation).", min=1)] = None,
    top: Annotated[int, typer.Option(help="Poles of the layers to list.", min=0)] = 12,
    data: Annotated[Path | None, typer.Option(help="File of inputs and outputs for a Bode plot.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the figures; beside the model.")] = None,
    *,
    reading: Reading,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Frequency, damping, time constant and contribution of every mode, with its spread over an ensemble."""
    from lfno.plots.modes import s_plane_figure, save
    from lfno.surrogate import load

    surrogate = load(model)
    folder = out or (model if model.is_dir() else model.parent) / "figures"
    found, notes = modes_of(surrogate, amplitude, operating, order)
    rows = mode_rows(found[0], found) if found else []
    table = _layers(surrogate)
    figures = []
    if data is not None:
        bode, told = _bode(surrogate, data, reading, folder)
        figures.append(str(bode))
        notes += told
    if found or table is not None:
        import numpy as np

        crosses = found[0].poles if found else np.zeros(0, complex)
        layers, shares = (None, None) if table is None else (table.pole, table.contribution)
        path = folder / "s-plane.png"
        figures.append(str(save(path, lambda: s_plane_figure(layers, shares, crosses, "modes of the model"))))
    listed = [] if table is None else plain_rows(table.top(top).rows())
    caveat = surrogate.split_caveat
    report = {"modes": rows, "layers": listed, "caveat": caveat, "notes": notes, "figures": figures}
    if as_json:
        typer.echo(json.dumps(report))
        return
    for note in [] if quiet else notes:
        typer.echo(f"note: {note}", err=True)
    if rows:
        print_modes(rows, "modes of the linear model" if surrogate.linear else "modes the model shows to a small pulse")
    if listed:
        print_layers(listed, len(surrogate.members))
    if caveat:
        typer.echo(caveat)
    for figure in figures:
        typer.echo(f"figure  {figure}")


def modes_of(
    surrogate: Surrogate, amplitude: float | None, operating: float, order: int | None
) -> tuple[list[Modes], list[str]]:
    """The modes of a linear model, or of every member's response to a pulse; and what was assumed."""
    from lfno.identification.realisation import small_signal_modes

    if surrogate.linear is not None:
        if amplitude is not None or operating:
            raise LfnoError("a linear model has the same modes at every amplitude; leave out --amplitude and --operating")
        return [surrogate.linear.modes], []
    if surrogate.grid.ndim > 1:
        return [], ["the modes of fields are not asked for by a pulse; the poles of the layers are listed"]
    member = surrogate.networks[0]
    height = 0.5 * float(member.input_scale.max()) if amplitude is None else amplitude
    ask = {"amplitude": height, "channels": surrogate.channels[0], "operating": operating, "order": order}
    ask["accuracy"] = surrogate.accuracy
    found = [small_signal_modes(one.predict, one.grid, **ask) for one in surrogate.networks]  # type: ignore[arg-type]
    notes = [f"pulse of height {height:.4g}" + (f" about {operating:g}" if operating else " from rest")]
    if order is None and surrogate.accuracy > WORTH_SAYING:
        notes.append(f"what explains less than the model's own error, {100 * surrogate.accuracy:.2g} %, is not called a mode")
    if found[0].error > max(0.1, surrogate.accuracy):
        notes.append(
            f"these modes explain the response to the pulse but for {100 * found[0].error:.0f} %: the model is not linear at "
            "this height (try a smaller --amplitude, or --order 2 for its main oscillation), or was never shown a pulse"
        )
    return found, notes


def _layers(surrogate: Surrogate) -> Any:
    return surrogate.networks[0].poles() if surrogate.networks else None


def _bode(surrogate: Surrogate, file: Path, reading: Reading, folder: Path) -> tuple[Path, list[str]]:
    """Frequency responses of data, best linear model and model under the same excitation; notes on the data."""
    import numpy as np

    from lfno.data.signals.record import Record
    from lfno.data.variation import check_variation
    from lfno.identification.frequency import measure_response
    from lfno.identification.linear import fit_record, fit_trajectories
    from lfno.plots.modes import MOST_CHANNELS, bode_figure, save

    data, known = surrogate.read(file, **reading)
    if not known or data.grid.ndim > 1:
        raise LfnoError(f"{file.name}: a Bode plot needs signals over time with their measured outputs in the file")
    more = check_variation(data)
    one = isinstance(data, Record)
    mean = surrogate.ask(data).values
    inputs, outputs, answers = (values[None] if one else values for values in (data.inputs, data.outputs, mean))
    warm = surrogate.signals.warmup if one else 0
    step = data.grid.steps[0]
    fit = fit_record if one else fit_trajectories
    linear = fit(data.inputs, data.outputs, data.grid, data.mask)
    # an average over many whole trajectories sees finer than one over their parts
    segment = inputs.shape[-1] if len(inputs) >= MANY else None
    measured = measure_response(inputs[..., warm:], outputs[..., warm:], step, segment, floor=FLOOR)
    network = measure_response(inputs[..., warm:], answers[..., warm:], step, segment, floor=FLOOR)
    responses = {
        "data": measured.response,
        "best linear model": linear.frequency_response(measured.frequencies),
        "this model": network.response,
    }
    pairs = {(k, n): f"{out.name} / {into.name}" for k, out in enumerate(data.output_channels)
             for n, into in enumerate(data.input_channels) if np.isfinite(measured.response[k, n]).any()}  # fmt: skip
    draw = partial(bode_figure, measured.frequencies, responses, measured.coherence, pairs)
    more += [f"the Bode plot shows {MOST_CHANNELS} of {len(pairs)} pairs"] if len(pairs) > MOST_CHANNELS else []
    return save(folder / "bode.png", draw), [*data.provenance.get("notes", []), *more]
