"""`lfno poles MODEL`: the modes of a model or of a measured record, as a table and as a figure of the s-plane.

On request, the command also draws a stabilisation diagram and a Bode plot.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.mode_table import mode_rows, plain_rows, print_layers, print_modes
from lfno.cli.reading import Reading, with_reading
from lfno.cli.shared import Json, Quiet
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from lfno.identification.mode import Mode
    from lfno.surrogate import Surrogate

WORTH_SAYING = 0.01  # relative error of a model; above this error, a note says that weak modes may be missing


def register(app: typer.Typer) -> None:
    """Add `lfno poles` to the command line."""
    app.command("poles")(with_reading(poles))


def poles(
    model: Annotated[
        Path, typer.Argument(help="Model file, folder of a run, name of a shipped model, or file of measured signals.")
    ],
    operating: Annotated[float, typer.Option(help="Linearise the model about this constant input.")] = 0.0,
    amplitude: Annotated[
        float | None, typer.Option(help="Show the modes of the response to a pulse of this height, not to small inputs.")
    ] = None,
    order: Annotated[
        int | None, typer.Option(help="With --amplitude: number of states. One oscillation has 2 states.", min=1)
    ] = None,
    layers: Annotated[int, typer.Option(help="Also list this many poles of the network's layers.", min=0)] = 0,
    stabilisation: Annotated[
        bool, typer.Option("--stabilisation", help="Draw a stabilisation diagram: modes over model order.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="File of inputs and outputs. Draw a Bode plot of the data and of the model.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the figures. By default the folder figures beside the model.")
    ] = None,
    *,
    reading: Reading,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show the frequency, damping ratio and time constant of every mode, with 95 % intervals.

    MODEL may be a file of measured signals. The modes are then those of the linear model of the signals.

    If only --output is given, the signals are read as a free decay without an input.

    Example: lfno poles runs/rig --data rig.csv

    Example: lfno poles decay.csv --output acceleration
    """
    from lfno.cli.record_modes import is_record, record_modes
    from lfno.plots.modes import s_plane_figure, save
    from lfno.plots.response import stabilisation_figure

    folder = out or (model if model.is_dir() else model.parent) / "figures"
    if is_record(model):
        only_models = {"--operating": operating, "--amplitude": amplitude, "--layers": layers, "--data": data}
        for option, given in only_models.items():
            if given:
                raise LfnoError(f"{option} is for a model, and {model.name} is a file of signals; leave out {option}")
        found, diagram, notes, title, unit = record_modes(model, reading, stabilisation)
        table, caveat, members, highest, truth = None, "", 1, None, None
        figures: list[str] = []
    else:
        from lfno.cli.bode import bode
        from lfno.evaluation.truth import true_poles
        from lfno.surrogate import load

        surrogate = load(model)
        found, notes, title = _modes(surrogate, operating, amplitude, order)
        diagram = surrogate.stabilisation(operating) if stabilisation else None
        table = surrogate.networks[0].poles() if layers and surrogate.networks else None
        caveat, members, highest = surrogate.split_caveat, len(surrogate.members), surrogate.band_frequencies()[-1]
        truth = None if amplitude else true_poles(surrogate.provenance, operating)
        figures, unit = [], surrogate.grid.axes[-1].unit
        if data is not None:
            drawn, told = bode(surrogate, data, reading, folder)
            figures.append(str(drawn))
            notes += told
    rows = mode_rows(found, truth)
    import numpy as np

    crosses = np.array([mode.pole for mode in found], dtype=complex)
    shown, shares = (None, None) if table is None else (table.pole, table.contribution)
    figures.append(str(save(folder / "s-plane.png", lambda: s_plane_figure(shown, shares, crosses, "modes", unit))))
    if diagram is not None:
        fastest = 1.5 * float(np.abs(crosses.imag).max(initial=0)) / (2 * np.pi)
        limit = max(highest or 0.0, fastest) or float(np.abs(diagram.pole).max()) / (2 * np.pi)
        picture = save(folder / "stabilisation.png", lambda: stabilisation_figure(diagram, crosses, limit, unit))
        figures.append(str(picture))
    listed = [] if table is None else plain_rows(table.top(layers).rows())
    if as_json:
        facts = {"modes": rows, "time_unit": unit, "layers": listed, "caveat": caveat, "notes": notes, "figures": figures}
        typer.echo(to_json(facts))
        return
    for note in [] if quiet else notes:
        typer.echo(f"note: {note}", err=True)
    if rows:
        print_modes(rows, title, unit)
    else:
        typer.echo(f"There are no {title}.")
    if listed:
        print_layers(listed, unit, members)
    if caveat:
        typer.echo(caveat)
    for figure in figures:
        typer.echo(f"figure  {figure}")


def _modes(
    surrogate: Surrogate, operating: float, amplitude: float | None, order: int | None
) -> tuple[list[Mode], list[str], str]:
    """Return the modes, notes on assumptions, and the title of the table.

    The modes are those of small inputs about `operating`, or those of a pulse if `amplitude` is given.
    """
    from lfno.identification.modal import ModalModel, without_modes

    if surrogate.linear is not None:
        if amplitude is not None or operating:
            raise LfnoError("a linear model has the same modes at every amplitude; leave out --amplitude and --operating")
        empty = without_modes(surrogate.linear.modes) if isinstance(surrogate.linear, ModalModel) else ""
        return surrogate.modes(), [empty] if empty else [], "modes of the linear model"
    if amplitude is not None:
        return _at_height(surrogate, operating, amplitude, order)
    if order is not None:
        raise LfnoError("--order is for the modes of a pulse; give --amplitude, too")
    found = surrogate.modes(operating)
    notes = []
    if surrogate.networks and surrogate.linear_path is None and surrogate.accuracy > WORTH_SAYING:
        notes.append(f"modes that explain less than the error of the model ({100 * surrogate.accuracy:.2g} %) are left out")
        notes.append("the intervals belong to the modes of the network; the modes of the real system can lie outside")
    about = f", about the input {operating:g}" if operating else ""
    return found, notes, f"modes of the model for small inputs{about}"


def _at_height(
    surrogate: Surrogate, operating: float, amplitude: float, order: int | None
) -> tuple[list[Mode], list[str], str]:
    """Return the modes of the response to a pulse, notes, and the title of the table."""
    from lfno.identification.mode import mode_list
    from lfno.identification.modes import LEAST
    from lfno.identification.pulse import small_signal_modes

    asked: dict[str, Any] = {"operating": operating, "order": order, "accuracy": surrogate.accuracy}
    found = small_signal_modes(surrogate.members[0].predict, surrogate.grid, amplitude, surrogate.channels[0], **asked)
    notes = [f"pulse of height {amplitude:.4g}" + (f" about {operating:g}" if operating else " from rest")]
    if found.error > max(0.1, surrogate.accuracy):
        notes.append(
            f"the modes miss {100 * found.error:.0f} % of the response to the pulse: the model is not linear at this height "
            "(try a smaller --amplitude, or --order 2 for the main oscillation), or its training data had no pulses"
        )
    return mode_list(found, LEAST), notes, f"modes of the model at a pulse of height {amplitude:g}"
