"""A system on the bench: its truth solved on request, and the models that answer beside it."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.catalogue import PAPER_FREQUENCY, shipped, slider, training_set
from lfno.app.inputs import DURATION, Input
from lfno.app.plain import packed, plain
from lfno.app.single import Single
from lfno.app.values import Query, number
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems.families import Curve
from lfno.systems.registry import find
from lfno.systems.signals import open_mesh

SHOWN = Grid.line(1024, dt=DURATION / 1024)  # the times at which oscillators are drawn
KEPT = 16  # solutions kept for each system
DRAWS = 64  # inputs of a data set that the range of a shipped model is taken from

Pair = tuple[np.ndarray, np.ndarray]  # inputs and outputs, (1, channels, *grid)


def torch_alone() -> None:
    """Let torch use one thread for the work of this thread: for one sample, sharing the work costs more than the work."""
    import torch

    torch.set_num_threads(1)


class Bench(ABC):
    """One system, kept warm: its solutions so far and its models, which are loaded when they are first asked."""

    def __init__(self, name: str) -> None:
        self.name, self.entry = name, find(name)
        self.system = self.entry.system(**self.entry.parameters)
        self.models: dict[str, Any] = {}
        self.files: dict[str, str | Path] = dict(shipped(name))
        self.labels = {label: label for label in self.files}
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

    @abstractmethod
    def drawn(self, values: np.ndarray, grid: Grid) -> dict[str, Any]:
        """One signal (*grid), packed as the page draws it."""

    @abstractmethod
    def truth(self, query: Query) -> dict[str, Any]:
        """Input and true response, with the time that one solve took."""

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

        torch_alone()
        given = self.given(query)
        with self.lock:
            model = self.model(key)
            inputs, truth = self.pair(given, model.grid)
            concerns = [] if model.coverage else self.concerns(key, given)
        start = time.perf_counter()
        answer = model.ask(np.ascontiguousarray(inputs), grid=model.grid)
        took = time.perf_counter() - start
        notes = [*answer.notes, *concerns]
        return plain(
            {
                "key": key,
                "label": self.labels[key],
                "prediction": self.drawn(answer.values[0, 0], model.grid),
                "l2": float(relative_l2(answer.values, truth)[0]),
                "linf": float(relative_linf(answer.values, truth)[0]),
                "ms": 1e3 * took,
                "parameters": sum(weight.numel() for net in model.networks[:1] for weight in net.parameters()),
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
                return plain({"modes": [mode.to_dict() for mode in self.model(key).modes()], "problem": ""})
            poles = self.system.linearised_poles()[:6]
        except LfnoError as error:
            return {"modes": [], "problem": str(error)}
        size = np.maximum(np.abs(poles), 1e-300)
        rows = [
            {"pole": [p.real, p.imag], "frequency": abs(p.imag) / (2 * np.pi), "damping_ratio": -p.real / s}
            for p, s in zip(poles, size, strict=True)
        ]
        return plain({"modes": rows, "problem": ""})

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
        return plain({**rounded, "layer": [int(layer) + 1 for layer in top.layer]})


class Oscillator(Bench):
    """An ordinary differential equation: any input of the playground, solved in milliseconds."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.single = Single(self.system)  # type: ignore[arg-type]

    def given(self, query: Query) -> Input:
        return Input.of(query.get("input") or {})

    def solved(self, given: Input, grid: Grid) -> Pair:
        inputs = np.asarray(given(grid.axes[0].points), dtype=np.float64)
        return inputs[None, None], self.single.solve(given, grid)[None, None]

    def drawn(self, values: np.ndarray, grid: Grid) -> dict[str, Any]:
        return packed(values if grid == SHOWN else np.interp(SHOWN.axes[0].points, grid.axes[0].points, values))

    def truth(self, query: Query) -> dict[str, Any]:
        given = self.given(query)
        start = time.perf_counter()
        truth = self.single.solve(given, SHOWN)
        took = time.perf_counter() - start
        return plain(
            {
                "axes": SHOWN.to_dict()["axes"],
                "input": packed(given(SHOWN.axes[0].points)),
                "truth": packed(truth),
                "formula": given.formula,
                "ms": 1e3 * took,
            }
        )

    def concerns(self, label: str, given: Input) -> list[str]:
        entry = training_set(str(self.files[label]))
        if entry is None:
            return []
        if isinstance(entry.family, Curve):
            if given.kind != "decaying sine" or abs(given.frequency / PAPER_FREQUENCY - 1) > 1e-3:
                return ["out of the range of training: it has only seen decaying sines of 0.796 Hz"]
            family = entry.family
            if not family.low <= given.amplitude <= family.high:
                low, high = f"{family.low:g}", f"{family.high:g}"
                return [f"out of the range of training: the amplitude is not between {low} and {high}"]
            return []
        if label not in self.ranges:
            from lfno.evaluation.coverage import Coverage

            draws = entry.family.signal(entry.family.draw(DRAWS, np.random.default_rng(0)))
            self.ranges[label] = Coverage.of(draws(*open_mesh(entry.grid))[:, None], entry.grid)
        values = given(SHOWN.axes[0].points)[None, None]
        return [f"out of the range of training: {one.message}" for one in self.ranges[label].excesses(values, SHOWN)]


class Field(Bench):
    """A field over space and time: the inputs of its data set, by the number that tells them apart."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.slider = slider(self.entry)

    def given(self, query: Query) -> float:
        limits = self.slider
        return round(number(query, "value", limits["least"], limits["most"], label=limits["name"]), 9)

    def solved(self, given: float, grid: Grid) -> Pair:
        family = self.entry.family
        if isinstance(family, Curve):
            signal = family.signal({family.name: np.array([given])})
        else:
            signal = family.signal(family.draw(1, np.random.default_rng(int(given))))
        inputs, outputs = self.system.record(signal, grid)
        return np.broadcast_to(inputs, (*inputs.shape[:2], *grid.shape)), outputs

    def drawn(self, values: np.ndarray, grid: Grid) -> dict[str, Any]:
        return packed(values)

    def truth(self, query: Query) -> dict[str, Any]:
        given, grid = self.given(query), self.entry.grid
        with self.lock:
            self.kept.pop((given, grid), None)  # solved anew, so that the time is that of a solve
            start = time.perf_counter()
            inputs, truth = self.pair(given, grid)
            took = time.perf_counter() - start
        return plain(
            {
                "axes": grid.to_dict()["axes"],
                "input": packed(inputs[0, -1]),
                "input_range": self._input_range(),
                "truth": packed(truth[0, 0]),
                "formula": "",
                "ms": 1e3 * took,
            }
        )

    def concerns(self, label: str, given: float) -> list[str]:
        low, high = self.slider["low"], self.slider["high"]
        if low <= given <= high:
            return []
        return [f"out of the range of training: {self.slider['name']} is not between {low:g} and {high:g}"]

    def _input_range(self) -> tuple[float, float] | None:
        """Of the inputs at both ends of the slider: on this scale a smaller amplitude is seen to be smaller."""
        family = self.entry.family
        if not isinstance(family, Curve):
            return None
        ends = family.signal({family.name: np.array([family.low, family.high])})
        values = ends(*open_mesh(self.system.signal_grid(self.entry.grid)))
        return float(values.min()), float(values.max())
