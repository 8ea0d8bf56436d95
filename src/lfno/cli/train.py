"""`lfno train DATASET`: train a model on a built-in data set of `lfno systems`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lfno.cli.shared import Device, Json, Quiet, Settings
from lfno.core.json_text import to_json

Model = Annotated[
    str,
    typer.Option(help="lfno (poles and Fourier modes), lno (poles), fno (Fourier modes) or marching (frame by frame)."),
]
Preset = Annotated[str, typer.Option(help="paper: the settings of the paper. default: the best settings that we found.")]
Epochs = Annotated[int | None, typer.Option(help="Number of passes over the training samples.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run. By default runs/NAME.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the interrupted run in the folder --out.")]
Seed = Annotated[int, typer.Option(help="Seed of the initial weights and of the order of samples.")]
Fold = Annotated[int, typer.Option(help="Number of the fold that is the test set, 0 to 4.")]
Ensemble = Annotated[
    int, typer.Option(help="Number of networks. The model predicts their mean and standard deviation.", min=1)
]


def register(app: typer.Typer) -> None:
    """Add `lfno train` to the command line."""
    app.command("train")(train)


def train(
    dataset: Annotated[str, typer.Argument(help="Name of a data set. `lfno systems` lists them.")],
    model: Model = "lfno",
    preset: Preset = "default",
    epochs: Epochs = None,
    settings: Settings = None,
    out: Out = None,
    resume: Resume = False,
    seed: Seed = 0,
    fold: Fold = 0,
    ensemble: Ensemble = 1,
    steady: Annotated[bool, typer.Option("--steady", help="Train on the periodic steady state of each sample, too.")] = False,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a model on a built-in data set, and compare its error with the errors of simple models.

    The simple models are: the mean output, the initial state for all times, interpolation between training samples, and the
    linear baseline.

    Example: lfno train duffing-c05-rich --epochs 100 --out runs/duffing
    """
    from lfno.cli.outcome import end_if_stopped, facts, leave, new_folder, say, stoppable, table
    from lfno.data.make import dataset as make
    from lfno.paper.presets import find_preset
    from lfno.surrogate import fit
    from lfno.training.device import check_device
    from lfno.training.live import live
    from lfno.training.options import parse
    from lfno.training.parallel import leader

    folder = new_folder(out, f"{dataset}-{model}", resume)
    changes = {"seed": seed, **({} if epochs is None else {"epochs": epochs}), **parse(settings)}
    samples = make(dataset, steady=True) if steady else dataset
    with stoppable(folder), live(quiet or as_json) as watch:
        fitted = fit(
            samples, model, preset=find_preset(preset), fold=fold, ensemble=ensemble, folder=folder, resume=resume,
            watch=watch, device=check_device(device), **changes,
        )  # fmt: skip
    if not leader():  # torchrun starts several processes; only the leader writes files and messages
        return
    assert fitted.fitted is not None
    assert fitted.fitted.contest is not None
    metrics = leave(folder, fitted, facts(fitted))
    if as_json:
        say(to_json({"folder": str(folder), **metrics}))
        end_if_stopped(fitted, folder)
        return
    table(fitted.fitted.contest)
    say(f"model, log, metrics and figures are in {folder}")
    end_if_stopped(fitted, folder)
