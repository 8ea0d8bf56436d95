"""Fit one candidate after the other to the data, within a time budget."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.prepared import Prepared
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.identification.feedback import fit_feedback
from lfno.identification.modal import ModalModel, identify_signals
from lfno.surrogate.candidates import (
    EXACT,
    Candidate,
    LinearModel,
    equation_candidate,
    linear_candidate,
    network_candidate,
    validation_errors,
)
from lfno.surrogate.responses import responses
from lfno.training import parallel
from lfno.training.device import best_device, usable_device
from lfno.training.networks import check_request, train_networks
from lfno.training.presets import PresetMaker, default_preset
from lfno.training.run import Watch
from lfno.training.sizing import choose_size

#: default time limit of networks on a CPU, in seconds; a fit of 50,000 samples then takes less than ten minutes in all
USUAL = 480.0
#: with a time budget, the model with feedback or the equation gets this part of the time that the linear model leaves
FEEDBACK_SHARE = 0.3
#: if the validation error of an equation is below this value, no network is trained
LAW = 1e-3
#: networks for fields correct the linear model if the validation error of the linear model is below this value
NEARLY_LINEAR = 0.1
#: lower limit on the memory of a system, in samples, for the initial decay rates of a network. The memory is the time after
#: which past inputs have no more influence on the outputs
SHORTEST_MEMORY = 16


@dataclass
class Search:
    """The data and options of a fit. `run` fits the candidates.

    prepared: the data.
    preset, options: hyper-parameters of networks.
    own: whether the data are the user's own; the size of a network is then chosen from the data.
    seconds: the time budget in seconds; None for the default.
    ensemble, folder, resume, watch, device: arguments of `fitting.fit`.
    choices: after `run`, sentences about the choices that were made.
    linear: after `run`, the linear model of the training part, if one was fitted.
    """

    prepared: Prepared
    preset: PresetMaker
    options: dict[str, Any]
    own: bool
    seconds: float | None = None
    ensemble: int = 1
    folder: str | Path | None = None
    resume: bool = False
    watch: Watch | None = None
    device: str | None = None
    choices: list[str] = field(default_factory=list)
    linear: Candidate | None = None
    _begun: float = field(default_factory=time.monotonic)

    def run(self, kinds: list[str], linear_path: bool) -> list[Candidate]:
        """Return the fitted models, in the order of `kinds`.

        kinds: names of models, such as "linear", "feedback" and "lfno".
        linear_path: whether networks learn the residual of the linear model.

        A model that cannot be fitted to these data is left out with a note. If it is a network or the only model, the search
        raises LfnoError. If there are several kinds, the search ends after a linear model with an error below EXACT, or after
        an equation with an error below LAW.
        """
        found: list[Candidate] = []
        for kind in kinds:  # report a wrong option before the first fit
            if kind not in ("linear", "feedback", "equation"):
                preset = self.preset(kind, self.prepared.dataset.grid).change(**self.options)
                check_request(self.prepared.dataset, preset, self.ensemble, self.folder, self.resume)
                usable_device(self.device)
        if kinds == ["linear"]:
            self.linear = self._linear()
        elif linear_path or "feedback" in kinds:
            self.linear = self._try(self._linear)
        linear = self.linear
        if linear is None or (self.prepared.dataset.grid.ndim > 1 and linear.error >= NEARLY_LINEAR):
            linear_path = False
        if kinds[0] == "linear" and len(kinds) > 1 and linear is not None and linear.error < EXACT:
            self._say(f"the linear model has a validation error of {linear.error:.2g}; no other model is fitted", "note")
            return [linear]
        for kind in kinds:
            start = None if linear is None else linear.members[0]
            if kind == "linear" and linear is not None:
                found.append(linear)
            elif kind == "feedback":
                one = self._try(partial(self._feedback, start)) if len(kinds) > 1 else self._feedback(start)
                found += [] if one is None else [one]
            elif kind == "equation":
                one = self._try(self._equation) if len(kinds) > 1 else self._equation()
                found += [] if one is None else [one]
                if one is not None and one.error < LAW and len(kinds) > 1:
                    self._say(f"the equation has a validation error of {one.error:.2g}; no network is trained", "note")
                    break
            elif kind != "linear":
                found.append(self._network(kind, start if linear_path else None))
        return found

    def _try(self, fit: Callable[[], Candidate]) -> Candidate | None:
        """Return the fitted candidate; None, with a note, if the fit raises LfnoError."""
        try:
            return fit()
        except LfnoError as error:
            self._say(f"one model was left out: {error}", "note")
            return None

    def _linear(self) -> Candidate:
        """Return the linear model of the training part."""
        candidate = linear_candidate(self.prepared)
        for note in candidate.notes:
            self._say(note, "note")
        return candidate

    def _feedback(self, linear: ModalModel | None) -> Candidate:
        """Return modes with feedback, fitted with the linear model as initialisation."""
        prepared, begun = self.prepared, time.monotonic()
        if prepared.dataset.grid.ndim != 1:
            raise LfnoError("modes with feedback need signals over time; for fields on a line, choose model equation")
        left = self._share()
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step that becomes unstable is rejected
            model = fit_feedback(
                prepared.stretches("train"), prepared.stretches("validation"), prepared.dataset.grid, start=linear,
                seconds=left, report=partial(self._say, kind="feedback"),
            )  # fmt: skip
        signals = prepared.dataset.provenance.get("signals", {})
        told = {**model.provenance, "data": {"name": prepared.dataset.name, "signals": signals}}
        model = replace(model, provenance=told)
        errors = validation_errors([model], prepared)
        return Candidate("feedback", [model], errors, model.parameters, time.monotonic() - begun)

    def _equation(self) -> Candidate:
        """Identify the partial differential equation of a field on a line."""
        return equation_candidate(self.prepared, self._share(), partial(self._say, kind="equation"))

    def _share(self) -> float | None:
        """Return the time limit in seconds of the model with feedback or of the equation; None without a budget."""
        if self.seconds is None:
            return None
        return max(FEEDBACK_SHARE * (self.seconds - (time.monotonic() - self._begun)), 1.0)

    def _network(self, kind: str, linear: LinearModel | None) -> Candidate:
        """Return trained networks of one kind. With `linear`, the networks learn the residual of this linear model."""
        dataset, split, begun = self.prepared.dataset, self.prepared.split, time.monotonic()
        chosen = self.preset(kind, dataset.grid)
        haste = 1.0
        if dataset.provenance.get(SAMPLE_START) == PERIODIC and kind == "lfno":
            # R, the free weights at the low Fourier modes, fits one period only; exact layers respond to any input
            chosen = chosen.change(steady="exact", layout="blocks", share_poles=True)
            # initial poles suit windows of twice the memory of the system; a longer period needs faster poles (`haste`)
            haste = max(1.0, dataset.grid.shape[-1] / (2 * max(self.prepared.memory, SHORTEST_MEMORY)))
        # `choose_size` does not apply to a marching network, which trains on pieces of the windows
        if self.own and self.preset is default_preset and kind.lower() != "marching":
            choice = choose_size(dataset, split, kind, self.prepared.warmup)
            chosen = chosen.change(**choice.fields)
            for sentence in choice.sentences(self.options):
                self._say(sentence)
        training = train_networks(
            dataset, split, chosen.change(**self.options), ensemble=self.ensemble, folder=self.folder, resume=self.resume,
            watch=self.watch, device=self.device, known=None if linear is None else self._known(linear),
            seconds=self._left(), haste=haste,
        )  # fmt: skip
        return network_candidate(training, linear, self.prepared, time.monotonic() - begun)

    def _known(self, linear: LinearModel) -> np.ndarray:
        """Return the responses of the linear model to all samples, in the precision of the inputs."""
        dataset = self.prepared.dataset
        found = responses(linear, self.prepared, np.arange(len(dataset)))
        return found.astype(np.result_type(dataset.inputs.dtype, np.float32))

    def _left(self) -> float | None:
        """Return the number of seconds that are left for networks; None for no limit.

        If the user gave neither a budget nor a number of epochs, networks for the user's own data on a CPU get USUAL seconds.
        """
        if self.seconds is not None:
            return max(self.seconds - (time.monotonic() - self._begun), 1.0)
        usual = self.own and "epochs" not in self.options and (self.device or best_device()) == "cpu"
        return USUAL if usual else None

    def _say(self, sentence: str, kind: str = "chosen") -> None:
        """Keep a sentence for metrics.json, and log it with the prefix `kind`: "chosen", "note", "feedback" or "equation"."""
        self.choices.append(sentence)
        if parallel.leader():
            logging.getLogger("lfno").info(f"{kind}: {sentence}")


def final_members(chosen: Candidate, prepared: Prepared) -> list[Any]:
    """Return the members of the final model. A linear model is fitted again to training and validation data together."""
    first = chosen.members[0]
    if isinstance(first, ModalModel) and len(first.modes.poles):
        return [identify_signals(prepared, start=first)]
    return chosen.members
