"""`lfno fit FILE`: from your own signals to a model that can be asked and deployed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfno.cli.reading import Reading, with_reading
from lfno.cli.train import Device, Ensemble, Epochs, Json, Model, Out, Quiet, Resume, Seed, Settings, check_device, facts
from lfno.core.errors import LfnoError

if TYPE_CHECKING:
    from lfno.data.prepare import Prepared
    from lfno.identification.modal import ModalModel
    from lfno.surrogate.contest import Contest


def register(app: typer.Typer) -> None:
    app.command("fit")(with_reading(fit))


def fit(
    file: Annotated[Path, typer.Argument(help="NPZ, MATLAB, CSV/TSV, Parquet, HDF5 or NetCDF; see `lfno inspect FILE`.")],
    *,
    reading: Reading,
    linear: Annotated[bool, typer.Option("--linear", help="Modal identification: one exact layer of poles.")] = False,
    test: Annotated[str | None, typer.Option(help="Another file, or a range START:STOP (time, or sample numbers).")] = None,
    window: Annotated[int | None, typer.Option(help="Samples of a window of a long record.", min=16)] = None,
    warmup: Annotated[int | None, typer.Option(help="Samples of a window that are fed but not scored.", min=0)] = None,
    from_rest: Annotated[bool, typer.Option("--from-rest", help="The record begins with the system at rest.")] = False,
    model: Model = "lfno",
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
    """Fit a model to a file of inputs and responses, and say whether it beats the best linear model."""
    from lfno.cli.mode_table import print_modes
    from lfno.cli.outcome import new_folder, say, table
    from lfno.data.prepare import prepare
    from lfno.training.options import parse

    trained = {"--model": model != "lfno", "--epochs": epochs is not None, "--set": bool(settings)}
    trained |= {"--ensemble": ensemble > 1, "--resume": resume}
    if linear and any(trained.values()):
        extra = " and ".join(name for name, given in trained.items() if given)
        raise LfnoError(f"--linear fits poles and residues without training a network; leave out {extra}")
    prepared = prepare(file, window=window, warmup=warmup, test=test, from_rest=from_rest, **reading)
    folder = new_folder(out, file.stem, resume)
    quiet = quiet or as_json
    if not quiet:
        for note in prepared.notes:
            typer.echo(f"note: {note}", err=True)
    if linear:
        metrics, result = _fit_linear(prepared, folder)
    else:
        changes = {"seed": seed, **({} if epochs is None else {"epochs": epochs}), **parse(settings)}
        chosen = {"model": model, "ensemble": ensemble, "resume": resume, "device": check_device(device)}
        metrics, result = _fit_network(prepared, folder, chosen, changes, quiet)
    if as_json:
        say(json.dumps({"folder": str(folder), **metrics}, default=float))
    else:
        if linear:
            print_modes(metrics["modes"], "modes of the linear model")
        table(result)
        say(f"model, metrics and figures are in {folder}; ask it with `lfno predict {folder} FILE -o OUT`")


def _fit_network(
    prepared: Prepared, folder: Path, chosen: dict[str, Any], changes: dict[str, Any], quiet: bool
) -> tuple[dict[str, Any], Contest]:
    from lfno.cli.live import live
    from lfno.cli.outcome import stoppable
    from lfno.surrogate.surrogate import Surrogate
    from lfno.training.choose import choose
    from lfno.training.fit import fit as train

    choice = choose(prepared.dataset, prepared.split, chosen["model"], prepared.warmup)
    if not quiet:
        for reason in choice.sentences(changes):
            typer.echo(f"chosen: {reason}", err=True)
    with stoppable(folder), live(quiet) as watch:
        run = train(prepared.dataset, split=prepared.split, folder=folder, watch=watch, **chosen, **changes)
    label = chosen["model"].upper()
    if not quiet:
        typer.echo("comparing with the best linear model on the test data", err=True)
    more = facts(run) | {"choices": choice.sentences(changes), "notes": prepared.notes}
    return _judge(Surrogate(run.models), prepared, folder, label, more)


def _fit_linear(prepared: Prepared, folder: Path) -> tuple[dict[str, Any], Contest]:
    from lfno.cli.mode_table import mode_rows
    from lfno.identification.modal import identify_signals
    from lfno.surrogate.contest import MODAL
    from lfno.surrogate.surrogate import Surrogate

    found: ModalModel = identify_signals(prepared)
    folder.mkdir(parents=True, exist_ok=True)
    found.save(folder / "model.safetensors")
    more = {"model": "linear", "modes": mode_rows(found.modes), "hold": found.modes.hold, "notes": prepared.notes}
    return _judge(Surrogate([], found), prepared, folder, MODAL, more)


def _judge(
    surrogate: Any, prepared: Prepared, folder: Path, label: str, more: dict[str, Any]
) -> tuple[dict[str, Any], Contest]:
    from lfno.cli.outcome import leave
    from lfno.surrogate.contest import contest_record, contest_samples

    if prepared.record is None:
        result = contest_samples(surrogate, prepared.dataset, prepared.split, label)
        grid = prepared.dataset.grid
    else:
        assert prepared.test is not None
        result, _ = contest_record(surrogate, prepared, label)
        grid = prepared.test.part(prepared.warmup, len(prepared.test)).grid
    return leave(folder, result, grid, label, more), result
