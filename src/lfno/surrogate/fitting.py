"""The function `fit`, from data to a model: read, split, choose a size, train or identify, choose a candidate, and score it.

Python, the command line and the app all use this function.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data import prepare as preparing
from lfno.data.prepared import Prepared
from lfno.data.split import Split
from lfno.identification.field import is_line
from lfno.surrogate.candidates import Candidate, preferred
from lfno.surrogate.contest import Contest, contest
from lfno.surrogate.evidence import overfitting, trust
from lfno.surrogate.model import Surrogate
from lfno.surrogate.scores import Scores
from lfno.surrogate.search import Search, final_members
from lfno.surrogate.source import prepared_from
from lfno.surrogate.storage import MODEL
from lfno.surrogate.verdict import verdict
from lfno.training import parallel
from lfno.training.networks import Trained
from lfno.training.presets import PresetMaker, default_preset, kind_of
from lfno.training.run import Watch

AUTO, LINEAR, FEEDBACK, EQUATION, NETWORK = "auto", "linear", "feedback", "equation", "lfno"

#: models that are identified without training a network
FITTED_ONCE = (LINEAR, FEEDBACK, EQUATION)


@dataclass(frozen=True, repr=False)
class Fitted(Short):
    """How a model was fitted: its data, the choices and their reasons, the training, and the test against the baselines.

    choices: sentences about the choices that were made.
    training: the trained networks and their history; None for a model without networks.
    contest: errors and signals of the test; None in all processes of torchrun but the first.
    candidates: all fitted models, from the simplest kind to networks.
    """

    prepared: Prepared
    choices: list[str] = field(default_factory=list)
    training: Trained | None = None
    contest: Contest | None = None
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        """Return whether Ctrl-C ended the fit early."""
        return any(one.training is not None and one.training.stopped for one in self.candidates)


def fit(
    data: Any,
    model: str = AUTO,
    *,
    preset: PresetMaker = default_preset,
    dt: float | None = None,
    split: Split | None = None,
    fold: int = 0,
    causal: bool = False,
    ensemble: int = 1,
    minutes: float | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    device: str | None = None,
    **options: Any,
) -> Surrogate:
    """Fit a model to data, and compare the model on the test part with the linear baseline and simpler baselines.

    data: a file, or a list of files with one run each; a pair of arrays (inputs, outputs), each (samples, time) or (samples,
        channels, time), with their `dt`; a Record or Dataset; a mapping from names to arrays; or the name of a built-in data
        set.
    model: "linear", "feedback", "equation", "lfno", "lno", "fno", "marching" (a network that predicts a field frame by frame)
        or "auto". "auto" fits several models and keeps the simplest one with a low validation error. For the user's signals,
        the models are a linear model, modes with feedback and an LFNO. For the user's fields on a line, they are a linear
        model, a partial differential equation and an LFNO. For other data, "auto" fits an LFNO. An LFNO for the user's signals
        learns the residual of the linear model. An LFNO for fields on a line does so if the linear model is nearly right.
    preset: a function (model, grid) that returns the hyper-parameters of a network.
    dt: the time step of arrays.
    split: the samples for training, validation and test; by default chosen from the data.
    fold: number of the test set, from 0 to 4, if the samples are divided into five parts (cross-validation).
    causal: whether the model must run sample by sample. A network then has no R (free weights at the low Fourier modes of a
        window), because R acts on a whole window.
    ensemble: the number of networks with different seeds. The prediction is the mean of their predictions.
    minutes: time limit of the whole fit. By default, networks for the user's data on a CPU get about eight minutes, unless
        `epochs` is given.
    folder: receives checkpoints, a log and the model.
    resume: whether to continue a run that was stopped, from the last checkpoint in `folder`.
    watch: called as `watch(trainer, record)` at every validation; `lfno.training.networks.train_networks` describes it.
    device: "cpu" or "cuda"; a GPU by default, if there is one.
    options: options for reading a file (see `lfno.data.signals.read_signals`, for example `input="force"`), options for cutting
        a record (`window`, `warmup`, `test`, `from_rest`), and fields of the configuration of network or training (for example
        `width=24`, `epochs=100`).

    Returns a Surrogate. Its `scores` are the test errors, and `fitted` describes the fit. With the default preset, the size of
    a network for the user's data is chosen from the data. Ctrl-C ends the fit with the best model so far. Raises LfnoError if
    data or options are wrong.

    >>> import numpy as np
    >>> t = np.arange(128) * 0.1
    >>> forces = np.sin(np.linspace(1, 2, 10)[:, None] * t)
    >>> model = fit((forces, np.cumsum(forces, axis=1)), dt=0.1, model="linear")
    >>> model.scores.rows["linear"]["l2"] < 0.05
    True
    """
    if minutes is not None and not (isinstance(minutes, (int, float)) and math.isfinite(minutes) and minutes > 0):
        raise LfnoError(f"minutes={minutes!r} must be a positive number")
    reading = {name: options.pop(name) for name in (*preparing.READING, *preparing.CUTTING) if name in options}
    if causal and model not in FITTED_ONCE:
        options = without_window(NETWORK if model == AUTO else model) | options
    prepared, own = prepared_from(data, dt, split, fold, reading)
    logger = logging.getLogger("lfno")
    for note in prepared.notes if parallel.leader() else ():
        logger.info(f"note: {note}")
    if model in FITTED_ONCE:
        _refuse_training(model, ensemble, resume, options)
    signals = own and prepared.dataset.grid.ndim == 1
    search = Search(
        prepared, preset, options, own, None if minutes is None else 60 * minutes, ensemble, folder, resume, watch, device
    )
    field = is_line(prepared.dataset)
    path = (signals or field) and model in (AUTO, NETWORK)
    candidates = search.run(_kinds(model, signals, own and field), path)
    chosen, why = preferred(candidates if model == AUTO else candidates[-1:])
    if model == AUTO and len(candidates) > 1 and parallel.leader():
        logger.info(why)
    told = Fitted(prepared, search.choices, chosen.training, candidates=candidates)
    if not parallel.leader():
        return Surrogate(chosen.members, fitted=told)
    surrogate = _delivered(chosen, why, told, search.linear)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        surrogate.save(Path(folder) / MODEL)
    return surrogate


def without_window(model: str) -> dict[str, Any]:
    """Return the options of a network that runs sample by sample. Raises LfnoError for a model that cannot do so."""
    if kind_of(model) != "LFNO":
        raise LfnoError(f"an {kind_of(model)} sees a whole window at once and cannot be causal; choose lfno or linear")
    return {"steady": "exact", "layout": "blocks", "share_poles": True}


def _kinds(model: str, signals: bool, field: bool) -> list[str]:
    """Return the names of the models to fit, from the simplest kind to networks.

    signals: whether the data are the user's signals.
    field: whether the data are the user's fields on a line.
    """
    if model == AUTO:
        return [LINEAR, FEEDBACK, NETWORK] if signals else [LINEAR, EQUATION, NETWORK] if field else [NETWORK]
    return [model]


def _delivered(chosen: Candidate, why: str, fitted: Fitted, linear: Candidate | None) -> Surrogate:
    """Return the chosen candidate as a model, with its test errors, the range of its training inputs, and the
    errors for its prediction intervals.

    why: one sentence that gives the reason for the choice.
    linear: the linear model of the training part, for the table of test errors.
    """
    logging.getLogger("lfno").info("comparing with the baselines on the test data")
    prepared = fitted.prepared
    members = final_members(chosen, prepared)
    others = [*fitted.candidates, *([linear] if linear is not None else [])]
    rivals = {one.name: Surrogate(one.members) for one in others if one is not chosen}
    result = contest(Surrogate(members), prepared, chosen.name, rivals)
    warning = "" if chosen.training is None else overfitting(chosen.training)
    said = " ".join(filter(None, (verdict(result.rows, chosen, fitted.candidates), warning)))
    table = {one.name: one.to_dict() | {"chosen": one is chosen} for one in fitted.candidates}
    # the file contains no times, so that the same run writes the same bytes
    timeless = {name: {key: value for key, value in row.items() if key != "seconds"} for name, row in table.items()}
    scores = Scores(result.rows, said, result.outputs, timeless, result.noise_floor)
    provenance = {**members[0].provenance, "scores": scores.to_dict(), **trust(members, prepared)}
    choices = [*fitted.choices, *([why] if len(fitted.candidates) > 1 else [])]
    result = result.judged(said, table)
    return Surrogate(members, provenance, Fitted(prepared, choices, chosen.training, result, fitted.candidates))


def _refuse_training(model: str, ensemble: int, resume: bool, options: dict[str, Any]) -> None:
    """Raise LfnoError for options that only the training of a network has."""
    given = [*(["ensemble"] if ensemble != 1 else []), *(["resume"] if resume else []), *options]
    if given:
        raise LfnoError(f"model {model} is identified without training a network; leave out {', '.join(given)}")
