"""From data to a model: read, split, size, train or identify, and score. Every door leads through here."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import prepare as preparing
from lfno.data import split as splits
from lfno.data.dataset import Dataset
from lfno.data.make import dataset as builtin
from lfno.data.prepare import Prepared
from lfno.data.split import Split
from lfno.evaluation.conformal import Calibration
from lfno.evaluation.coverage import Coverage
from lfno.identification.modal import identify_signals
from lfno.surrogate.contest import MODAL, Contest, contest
from lfno.surrogate.model import Surrogate
from lfno.surrogate.scores import Scores
from lfno.surrogate.storage import MODEL
from lfno.training import parallel
from lfno.training.choose import choose
from lfno.training.networks import Trained, train_networks
from lfno.training.presets import PresetMaker, default_preset, kind_of
from lfno.training.run import Watch

LINEAR = "linear"
MOST_RANGED = 2000  # training samples that the range of validity is taken from


@dataclass(frozen=True)
class Fitted:
    """How a model was fitted: its data, what was chosen and why, its training, and the test against the baselines.

    training: the trained networks and their history; None for a linear model.
    contest: errors and signals of the test; None in a process under torchrun that does not lead.
    """

    prepared: Prepared
    choices: list[str] = field(default_factory=list)
    training: Trained | None = None
    contest: Contest | None = None


def fit(
    data: Any,
    model: str = "lfno",
    *,
    preset: PresetMaker = default_preset,
    dt: float | None = None,
    split: Split | None = None,
    fold: int = 0,
    causal: bool = False,
    ensemble: int = 1,
    folder: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    device: str | None = None,
    **options: Any,
) -> Surrogate:
    """Fit a model to data and score it on the test part, beside the best linear model and simpler baselines.

    data: a file; a pair of arrays (inputs, outputs), each (samples, time) or (samples, channels, time), with their `dt`; a
        Record or Dataset; a mapping from names to arrays; or the name of a built-in data set.
    model: "lfno", "fno", "lno", or "linear" for poles and residues identified without training.
    split, fold: which samples train, validate and test; chosen from the data by default.
    causal: ask for a model that runs sample by sample: a network gets no weights R, which see a whole window at once.
    ensemble: the number of networks with different seeds; their mean is the prediction.
    folder: where checkpoints, a log and the model are kept; `resume=True` continues a run that was stopped.
    options: how to read a file (see `lfno.data.signals.load`, as `input="force"`), how to cut a record (`window`, `warmup`,
        `test`, `from_rest`), and fields of the network's or the training's configuration (`width=24`, `epochs=100`).
    Returns a Surrogate; `scores` holds its test errors and `fitted` how it came about. Raises LfnoError for data or options
    that do not fit. A network for one's own data gets its size from the data; built-in data sets use the preset.

    >>> t = np.arange(128) * 0.1
    >>> forces = np.sin(np.linspace(1, 2, 10)[:, None] * t)
    >>> model = fit((forces, np.cumsum(forces, axis=1)), dt=0.1, model="linear")
    >>> model.scores.rows["modal model"]["l2"] < 0.05
    True
    """
    reading = {name: options.pop(name) for name in (*preparing.READING, *preparing.CUTTING) if name in options}
    if causal and model != LINEAR:
        options = without_window(model) | options
    prepared, own = prepared_from(data, dt, split, fold, reading)
    logger = logging.getLogger("lfno")
    for note in prepared.notes if parallel.leader() else ():
        logger.info(f"note: {note}")
    training, choices = None, []
    if model == LINEAR:
        _refuse_training(ensemble, resume, options)
        members: list[Any] = [identify_signals(prepared)]
    else:
        chosen = preset(model, prepared.dataset.grid)
        if own and preset is default_preset:
            choice = choose(prepared.dataset, prepared.split, model, prepared.warmup)
            chosen, choices = chosen.change(**choice.fields), choice.sentences(options)
        for reason in choices:
            logger.info(f"chosen: {reason}")
        training = train_networks(
            prepared.dataset, prepared.split, chosen.change(**options),
            ensemble=ensemble, folder=folder, resume=resume, watch=watch, device=device,
        )  # fmt: skip
        members = list(training.models)
    if not parallel.leader():
        return Surrogate(members, fitted=Fitted(prepared, choices, training))
    logger.info("comparing with the baselines on the test data")
    result = contest(Surrogate(members), prepared, MODAL if model == LINEAR else model.upper())
    told = {"scores": Scores.from_dict(result.to_dict()).to_dict(), **trust(members, prepared)}
    surrogate = Surrogate(members, {**members[0].provenance, **told}, Fitted(prepared, choices, training, result))
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        surrogate.save(Path(folder) / MODEL)
    return surrogate


def without_window(model: str) -> dict[str, Any]:
    """Return the fields of a network that runs sample by sample; raise LfnoError for a model that cannot do so."""
    if kind_of(model) != "LFNO":
        raise LfnoError(f"an {kind_of(model)} sees a whole window at once and cannot be causal; choose lfno or linear")
    return {"steady": "exact", "layout": "blocks", "share_poles": True}


def trust(members: list[Any], prepared: Prepared) -> dict[str, Any]:
    """Return what a model file needs to judge a question: the range of the training inputs, and validation errors."""
    dataset, split, warm = prepared.dataset, prepared.split, prepared.warmup
    held = dataset[split.validation]
    prediction = np.mean([member.predict(np.array(held.inputs), held.grid) for member in members], axis=0)
    mask = None if held.mask is None else held.mask[..., warm:]
    calibration = Calibration.of(prediction[..., warm:], held.outputs[..., warm:], mask)
    chosen = split.train[:: max(1, len(split.train) // MOST_RANGED)]
    coverage = Coverage.of(dataset.inputs[chosen], dataset.grid)
    return {"coverage": coverage.to_dict(), "calibration": calibration.to_dict()}


def prepared_from(
    data: Any, dt: float | None, split: Split | None, fold: int, reading: dict[str, Any]
) -> tuple[Prepared, bool]:
    """Bring any kind of data to samples with a split; the second value says whether they are the user's own."""
    if isinstance(data, str) and not preparing.is_own(data):
        if reading:
            raise LfnoError(f"{next(iter(reading))} is for files and records; {data!r} is the name of a built-in data set")
        made = builtin(data)
        return Prepared(made, split or splits.standard(len(made), fold), []), False
    if isinstance(data, Prepared):
        return data, True
    if isinstance(data, Dataset) and "system" in data.provenance:
        return Prepared(data, split or splits.standard(len(data), fold), []), False
    if isinstance(data, tuple):
        data, dt = as_dataset(data, dt), None
    prepared = preparing.prepare(data, fold=fold, **reading | ({} if dt is None else {"dt": dt}))
    if split is not None:
        prepared = Prepared(prepared.dataset, split, prepared.notes, prepared.warmup)
    return prepared, True


def as_dataset(arrays: tuple[Any, ...], dt: float | None) -> Dataset:
    """Return arrays (inputs, outputs), each (samples, time) or (samples, channels, time), as a data set of step `dt`."""
    if dt is None:
        raise LfnoError("arrays need their sampling interval: fit((inputs, outputs), dt=0.01)")
    if len(arrays) != 2:
        raise LfnoError(f"{len(arrays)} arrays were given; a pair (inputs, outputs) is needed")
    pair = zip(("the inputs", "the outputs"), arrays, strict=True)
    inputs, outputs = (real_array(values, name, finite=True).astype(np.float64) for name, values in pair)
    inputs, outputs = (values[:, None] if values.ndim == 2 else values for values in (inputs, outputs))
    if inputs.ndim != 3 or outputs.ndim != 3:
        raise LfnoError(
            f"the arrays have shapes {inputs.shape} and {outputs.shape}; (samples, time) or (samples, channels, time) "
            "is needed, or a Dataset for fields"
        )
    return Dataset(inputs, outputs, Grid.line(inputs.shape[-1], dt))


def _refuse_training(ensemble: int, resume: bool, options: dict[str, Any]) -> None:
    """Raise LfnoError for options that only the training of a network has."""
    given = [*(["ensemble"] if ensemble != 1 else []), *(["resume"] if resume else []), *options]
    if given:
        raise LfnoError(f"a linear model is identified without training a network; leave out {', '.join(given)}")
