"""`lfno fit FILE`: fit a model to your own signals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lfno.cli.reading import Reading, with_reading
from lfno.cli.shared import Device, Json, Quiet, Settings
from lfno.cli.train import Ensemble, Epochs, Out, Resume, Seed
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json


def register(app: typer.Typer) -> None:
    """Add `lfno fit` to the command line."""
    app.command("fit")(with_reading(fit))


def fit(
    files: Annotated[
        list[Path], typer.Argument(help="One file, or several files with one run each. `lfno inspect FILE` shows a file.")
    ],
    *,
    reading: Reading,
    linear: Annotated[bool, typer.Option("--linear", help="Short for --model linear.")] = False,
    test: Annotated[
        str | None, typer.Option(help="Test data: a file, or a range START:STOP of the record (time) or of the trajectories.")
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Length in samples of the windows that a long record is cut into.", min=16)
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option(help="Samples at the start of each window that are not scored. The model settles there.", min=0),
    ] = None,
    from_rest: Annotated[bool, typer.Option("--from-rest", help="The system is at rest when the record begins.")] = False,
    periodic: Annotated[
        str, typer.Option(help="Period of the input, in the time unit of the file. auto: search for it. no: there is none.")
    ] = "auto",
    model: Annotated[
        str, typer.Option(help="linear, feedback, equation (for fields), lfno, lno, fno or marching. auto compares several.")
    ] = "auto",
    causal: Annotated[
        bool, typer.Option("--causal", help="Train a network that runs sample by sample, for export to C or FMU.")
    ] = False,
    minutes: Annotated[float | None, typer.Option(help="Time limit of the whole fit, in minutes.", min=0.01)] = None,
    epochs: Epochs = None,
    settings: Settings = None,
    ensemble: Ensemble = 1,
    out: Out = None,
    resume: Resume = False,
    seed: Seed = 0,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a model to measured inputs and outputs, and say whether the model beats the linear baseline.

    Without --model, lfno fits several models, and keeps the simplest one whose validation error is close to the lowest error.

    Signals over time: a linear model, modes with feedback (linear modes with a static nonlinearity) and a network.
    Fields on a line: a linear model, a partial differential equation and a network. Other fields: a network.

    Example: lfno fit rig.csv --input force --output displacement --out runs/rig
    """
    from lfno.cli.mode_table import mode_rows, print_modes
    from lfno.cli.outcome import end_if_stopped, facts, leave, new_folder, say, stoppable, table
    from lfno.data.prepare import prepare
    from lfno.surrogate import fit as fit_model
    from lfno.training.device import check_device
    from lfno.training.live import live
    from lfno.training.options import parse

    trained = {"--model": model not in ("auto", "linear"), "--epochs": epochs is not None, "--set": bool(settings)}
    trained |= {"--ensemble": ensemble > 1, "--resume": resume}
    linear = linear or model == "linear"
    if linear and any(trained.values()):
        extra = " and ".join(name for name, given in trained.items() if given)
        raise LfnoError(f"--linear fits poles and residues without training a network; leave out {extra}")
    # read the file first: most mistakes of users are found here, and then no folder is made
    source = files if len(files) > 1 else files[0]
    prepared = prepare(source, window=window, warmup=warmup, test=test, from_rest=from_rest, periodic=periodic, **reading)
    folder = new_folder(out, files[0].stem, resume)
    changes = {"seed": seed, **({} if epochs is None else {"epochs": epochs}), **parse(settings)}
    changes = {} if linear or model in ("feedback", "equation") else changes
    with stoppable(folder), live(quiet or as_json) as watch:
        fitted = fit_model(
            prepared, "linear" if linear else model, causal=causal, ensemble=ensemble, minutes=minutes, folder=folder,
            resume=resume, watch=watch, device=check_device(device), **changes,
        )  # fmt: skip
    assert fitted.fitted is not None
    assert fitted.fitted.contest is not None
    more = facts(fitted)
    if fitted.linear is not None:
        more |= {"modes": mode_rows(fitted.modes()), "time_unit": fitted.grid.axes[-1].unit, "hold": fitted.linear.modes.hold}
    if fitted.equation:
        more |= {"equation": fitted.equation}
    metrics = leave(folder, fitted, more)
    if as_json:
        say(to_json({"folder": str(folder), **metrics}))
        end_if_stopped(fitted, folder)
        return
    if fitted.linear is not None:
        print_modes(metrics["modes"], "modes of the linear model", fitted.grid.axes[-1].unit)
    if fitted.equation:
        say(f"the equation: {fitted.equation}")
    table(fitted.fitted.contest)
    say(f"{folder} holds the model, its metrics and report.html, a page about the model; "
        f"predict with `lfno predict {folder} FILE -o OUT`")  # fmt: skip
    end_if_stopped(fitted, folder)
