"""A system on the bench: its truth solved on request, and the models that answer beside it."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.catalogue import labels, shipped
from lfno.app.json_values import jsonable, packed
from lfno.app.values import Query
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems.registry import find
from lfno.systems.steady import SteadyState

KEPT = 16  # solutions kept for each system

Pair = tuple[np.ndarray, np.ndarray]  # inputs and outputs, (1, channels, *grid)


def torch_alone() -> None:
    """Let torch use one thread for the work of this thread: for one sample, sharing the work costs more than the work."""
    import torch

    torch.set_num_threads(1)


class Bench(ABC):
    """One system, kept warm: its solutions so far and its models, which are loaded when they are first asked."""

    grid: Grid  # of the truth that is drawn

    def __init__(self, name: str) -> None:
        self.name, self.entry = name, find(name)
        self.system = self.entry.system(**self.entry.parameters)
        self.models: dict[str, Any] = {}
        self.files: dict[str, str | Path] = dict(shipped(name))
        self.labels = labels(self.files)
        self.kept: OrderedDict[Any, Any] = OrderedDict()
        self.modes_of: dict[str, Any] = {}
        self.ranges: dict[str, Any] = {}
        self.lock = threading.RLock()  # held for milliseconds: models and solutions that are kept
        self.slow = threading.Lock()  # held for seconds: modes and poles, for which nobody else waits

    @abstractmethod
    def given(self, query: Query) -> Any:
        """The input that a question describes, which tells solutions apart."""

    @abstractmethod
    def solved(self, given: Any, grid: Grid) -> Pair:
        """Inputs and outputs on a grid."""

    def drawn(self, values: np.ndarray, grid: Grid) -> dict[str, Any]:
        """One signal (*grid), packed as the page draws it."""
        return packed(self.resampled(values, grid))

    def resampled(self, values: np.ndarray, grid: Grid) -> np.ndarray:
        """One signal (*grid) on the grid of the truth that is drawn; a field is drawn on its own grid."""
        return values

    @abstractmethod
    def truth(self, query: Query) -> dict[str, Any]:
        """Input and true response, with the time that one solve took."""

    @abstractmethod
    def steady(self, given: Any) -> SteadyState:
        """The true response to the input repeated for ever, on the grid of `truth`."""

    @abstractmethod
    def concerns(self, label: str, given: Any) -> list[str]:
        """Why a shipped model, whose file does not tell its range, should not be trusted for an input."""

    def add(self, key: str, label: str, file: Path) -> None:
        """Let a model of the user answer too."""
        self.files[key], self.labels[key] = file, label

    def model(self, key: str) -> Any:
        """The model of that name, loaded on first use."""
        import lfno

        if key not in self.files:
            raise LfnoError(f"there is no model {key[:60]!r} of this system any more; reload the page")
        with self.lock:
            if key not in self.models:
                self.models[key] = lfno.load(self.files[key])
            return self.models[key]

    def pair(self, given: Any, grid: Grid) -> Pair:
        """Inputs and outputs, solved once for each input and grid."""
        key = given, grid
        if key not in self.kept:
            self.kept[key] = self.solved(given, grid)
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return self.kept[key]

    def answer(self, query: Query, key: str) -> dict[str, Any]:
        """What one model answers, its errors, the time it took, and why one should not trust it."""
        from lfno.evaluation.metrics import relative_l2, relative_linf
        from lfno.surrogate.candidates import count_parameters

        torch_alone()
        given = self.given(query)
        with self.lock:
            fresh = key not in self.models
            model = self.model(key)
            inputs, truth = self.pair(given, model.grid)
            concerns = [] if model.coverage else self.concerns(key, given)
        if fresh:  # the first answer of a model prepares matrices that the next ones use: its time tells nothing
            model.ask(np.ascontiguousarray(inputs), grid=model.grid)
        start = time.perf_counter()
        answer = model.ask(np.ascontiguousarray(inputs), grid=model.grid)
        took = time.perf_counter() - start
        notes = [*answer.notes, *concerns]
        return jsonable(
            {
                "key": key,
                "label": self.labels[key],
                "prediction": self.drawn(answer.values[0, 0], model.grid),
                "l2": float(relative_l2(answer.values, truth)[0]),
                "linf": float(relative_linf(answer.values, truth)[0]),
                "ms": 1e3 * took,
                "parameters": count_parameters(model.members[0]),
                "notes": notes,
            }
        )

    def modes(self, key: str) -> dict[str, Any]:
        """Small-signal modes: of the linearised equation for the key "truth", else of a model."""
        if key not in self.modes_of:
            with self.slow:
                if key not in self.modes_of:
                    self.modes_of[key] = self._modes(key)
        return self.modes_of[key]

    def _modes(self, key: str) -> dict[str, Any]:
        try:
            if key != "truth":
                torch_alone()
                model = self.model(key)
                modes = [mode.to_dict() for mode in model.modes()]
                return jsonable({"modes": modes, "problem": "", "caveat": model.split_caveat})
            poles = self.system.linearised_poles()[:6]
        except LfnoError as error:
            return {"modes": [], "problem": str(error), "caveat": ""}
        size = np.maximum(np.abs(poles), 1e-300)
        rows = [
            {"pole": [p.real, p.imag], "frequency": abs(p.imag) / (2 * np.pi), "damping_ratio": -p.real / s}
            for p, s in zip(poles, size, strict=True)
        ]
        return jsonable({"modes": rows, "problem": "", "caveat": ""})

    def poles(self, query: Query, key: str) -> dict[str, Any] | None:
        """Poles of a network's layers, and how much each of them rings for this input; None for a model without poles."""
        from lfno.evaluation.ringing import listening, ringing
        from lfno.models.pole_operator import PoleOperator

        given = self.given(query)
        with self.lock:
            surrogate = self.model(key)
            network = surrogate.networks[0] if surrogate.networks else None
            if not isinstance(network, PoleOperator):
                return None
            inputs, _ = self.pair(given, surrogate.grid)
        with self.slow, listening(network) as heard:
            network.predict(np.ascontiguousarray(inputs))
        top = ringing(network, heard).top(400)
        columns = {
            "re": top.pole.real, "im": top.pole.imag, "frequency": top.frequency, "damping_ratio": top.damping_ratio,
            "time_constant": top.time_constant, "contribution": top.contribution,
        }  # fmt: skip
        rounded = {name: [float(f"{value:.5g}") for value in column] for name, column in columns.items()}
        return jsonable({**rounded, "layer": [int(layer) + 1 for layer in top.layer]})
