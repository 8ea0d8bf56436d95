"""`Bench`: a system with its models. A bench computes the reference solution ("truth") and the predictions for an input.

A key names a model: the key of a shipped model (`lfno.app.catalogue.shipped`), or the identity of the run that made it.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.catalogue import labels, shipped
from lfno.app.json_values import packed
from lfno.app.values import Query
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable
from lfno.systems.registry import find
from lfno.systems.steady import SteadyState

KEPT = 16  # largest number of reference solutions in memory, for each system

Pair = tuple[np.ndarray, np.ndarray]  # inputs and outputs, each (1, channels, *grid)


def torch_alone() -> None:
    """Limit torch to one thread. For a single sample, the distribution of the work to threads takes longer than the work."""
    import torch

    torch.set_num_threads(1)


class Bench(ABC):
    """A system with its latest reference solutions and its models. A model is loaded at its first use."""

    grid: Grid  # grid of the reference solution that the page draws

    def __init__(self, name: str) -> None:
        self.name, self.entry = name, find(name)
        self.system = self.entry.system(**self.entry.parameters)
        self.models: dict[str, Any] = {}
        self.files: dict[str, str | Path] = dict(shipped(name))
        self.labels = labels(self.files)
        self.kept: OrderedDict[Any, Any] = OrderedDict()
        self.modes_of: dict[str, Any] = {}
        self.ranges: dict[str, Any] = {}
        self.lock = threading.RLock()  # guards `models` and `kept`, while a model is loaded or the equation is solved
        self.slow = threading.Lock()  # guards the computation of modes and poles, which takes seconds

    @abstractmethod
    def given(self, query: Query) -> Any:
        """Return the input that a query describes. The input must be hashable: it is the key of the stored solutions."""

    @abstractmethod
    def solved(self, given: Any, grid: Grid) -> Pair:
        """Solve the equation on a grid and return inputs and outputs, each (1, channels, *grid)."""

    def drawn(self, values: np.ndarray, grid: Grid) -> dict[str, Any]:
        """Return one signal (*grid) on the grid of the page, packed as JSON."""
        return packed(self.resampled(values, grid))

    def resampled(self, values: np.ndarray, grid: Grid) -> np.ndarray:
        """Return one signal (*grid) on the grid of the page. A field keeps its own grid."""
        return values

    @abstractmethod
    def truth(self, query: Query) -> dict[str, Any]:
        """Return the input, the true response, and the time of one solve in milliseconds."""

    @abstractmethod
    def steady(self, given: Any) -> SteadyState:
        """Return the true response to the input repeated for ever, on the grid of `truth`."""

    @abstractmethod
    def concerns(self, key: str, given: Any) -> list[str]:
        """Return the reasons not to trust a model for an input. Only used for models whose file has no training range."""

    def add(self, key: str, label: str, file: Path) -> None:
        """Add a model of the user. key: the identity of its run."""
        self.files[key], self.labels[key] = file, label

    def model(self, key: str) -> Any:
        """Return the model with this key. The model is loaded at its first use."""
        import lfno

        if key not in self.files:
            raise LfnoError(f"the model {key[:60]!r} of this system does not exist any more; reload the page")
        with self.lock:
            if key not in self.models:
                self.models[key] = lfno.load(self.files[key])
            return self.models[key]

    def pair(self, given: Any, grid: Grid) -> Pair:
        """Return inputs and outputs, each (1, channels, *grid). The last KEPT solutions stay in memory."""
        key = given, grid
        if key not in self.kept:
            self.kept[key] = self.solved(given, grid)
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return self.kept[key]

    def answer(self, query: Query, key: str) -> dict[str, Any]:
        """Return a model's prediction, its errors, its computing time, and the reasons not to trust the prediction."""
        from lfno.evaluation.metrics import relative_l2, relative_linf
        from lfno.surrogate.candidates import count_parameters

        torch_alone()
        given = self.given(query)
        with self.lock:
            fresh = key not in self.models
            model = self.model(key)
            inputs, truth = self.pair(given, model.grid)
            concerns = [] if model.coverage else self.concerns(key, given)
        if fresh:  # the first prediction of a model also prepares matrices, so we do not measure its time
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
        """Return the modes of a model for small inputs. The key "truth" stands for the linearised equation."""
        if key not in self.modes_of:
            with self.slow:
                if key not in self.modes_of:
                    self.modes_of[key] = self._modes(key)
        return self.modes_of[key]

    def _modes(self, key: str) -> dict[str, Any]:
        """Compute the modes for `modes`. If there are none, the entry "problem" says why."""
        try:
            if key != "truth":
                from lfno.evaluation.caveat import NOT_PHYSICAL

                torch_alone()
                model = self.model(key)
                modes = [mode.to_dict() for mode in model.modes()]
                doubtful = model.split_caveat.startswith(NOT_PHYSICAL)  # other caveats concern the split alone
                return jsonable({"modes": modes, "problem": "", "caveat": model.split_caveat if doubtful else ""})
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
        """Return the 400 poles of a network's layers that contribute most to the response to this input; None without poles."""
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
