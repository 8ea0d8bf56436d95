"""Fit the candidates for the user's own signals one after the other, within a time budget."""

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
FEEDBACK_SHARE = 0.3  # share of the remaining time for the model with feedback or the equation, after the linear model
#: an equation with a validation error below this is the law of the field: no network is trained
LAW = 1e-3
#: fields get a linear path if the validation error of the linear model is below this; otherwise they are not close to
#: linear
NEARLY_LINEAR = 0.1
SHORTEST_MEMORY = 16  # samples; poles of a network start with decays no faster than this


@dataclass
class Search:
    """The data and options of a fit. `run` fits the candidates.

    linear: the linear model of the training part, if one was fitted.
    own: whether the data are the user's own; the size of a network is then chosen from the data.
    seconds: the time budget, None for the default.
    choices: after `run`, sentences about the choices that were made.
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
        """Fit the models named in `kinds`, in this order.

        linear_path: whether networks learn the residual of the linear model.

        A model that cannot be fitted to these data is left out with a note if there are others.
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
            self._say(f"the linear model explains the validation data to {linear.error:.2g}; no richer one is fitted", "note")
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
                    self._say(f"the equation explains the validation data to {one.error:.2g}; no network is trained", "note")
                    break
            elif kind != "linear":
                found.append(self._network(kind, start if linear_path else None))
        return found

    def _try(self, fit: Callable[[], Candidate]) -> Candidate | None:
        try:
            return fit()
        except LfnoError as error:
            self._say(f"one model was left out: {error}", "note")
            return None

    def _linear(self) -> Candidate:
        candidate = linear_candidate(self.prepared)
        for note in candidate.notes:
            self._say(note, "note")
        return candidate

    def _feedback(self, linear: ModalModel | None) -> Candidate:
        """Fit modes with feedback, starting from the linear model."""
        prepared, begun = self.prepared, time.monotonic()
        if prepared.dataset.grid.ndim != 1:
            raise LfnoError("modes with feedback need signals over time, not fields; fields on a line have model equation")
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
        """Return the time limit in seconds of a model between the linear one and the networks; None without a budget."""
        if self.seconds is None:
            return None
        return max(FEEDBACK_SHARE * (self.seconds - (time.monotonic() - self._begun)), 1.0)

    def _network(self, kind: str, linear: LinearModel | None) -> Candidate:
        """Train networks of one kind, on the residual of the linear model if there is one."""
        dataset, split, begun = self.prepared.dataset, self.prepared.split, time.monotonic()
        chosen = self.preset(kind, dataset.grid)
        haste = 1.0
        if dataset.provenance.get(SAMPLE_START) == PERIODIC and kind == "lfno":
            # free weights R belong to one period; exact layers answer any input, from rest and in steady state
            chosen = chosen.change(steady="exact", layout="blocks", share_poles=True)
            # a period is much longer than the memory of the system, which a usual window is twice as long as
            haste = max(1.0, dataset.grid.shape[-1] / (2 * max(self.prepared.memory, SHORTEST_MEMORY)))
        if self.own and self.preset is default_preset and kind.lower() != "marching":  # its samples are pieces of the windows
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
        """The responses of the linear model to all samples, in the precision of the inputs."""
        dataset = self.prepared.dataset
        found = responses(linear, self.prepared, np.arange(len(dataset)))
        return found.astype(np.result_type(dataset.inputs.dtype, np.float32))

    def _left(self) -> float | None:
        """Return the seconds left for networks: the rest of the budget, or the default if the user gave neither budget nor
        epochs.
        """
        if self.seconds is not None:
            return max(self.seconds - (time.monotonic() - self._begun), 1.0)
        usual = self.own and "epochs" not in self.options and (self.device or best_device()) == "cpu"
        return USUAL if usual else None

    def _say(self, sentence: str, kind: str = "chosen") -> None:
        """Keep a sentence for metrics.json and log it. kind: a choice, a note, or a trial of feedback or of an equation."""
        self.choices.append(sentence)
        if parallel.leader():
            logging.getLogger("lfno").info(f"{kind}: {sentence}")


def final_members(chosen: Candidate, prepared: Prepared) -> list[Any]:
    """Return the members of the final model. A linear model is refined on training and validation data together."""
    first = chosen.members[0]
    if isinstance(first, ModalModel) and len(first.modes.poles):
        return [identify_signals(prepared, start=first)]
    return chosen.members
