"""The twelve systems of the page: truth solved on request, and what the models with shipped weights say."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import torch

from lfno.app.plain import packed, plain
from lfno.core.errors import LfnoError
from lfno.evaluation.caveat import split_caveat
from lfno.evaluation.metrics import relative_l2, relative_linf
from lfno.evaluation.ringing import listening, ringing
from lfno.models.operator import Operator
from lfno.models.pole_operator import PoleOperator, PoleTable
from lfno.models.storage import SHIPPED, load
from lfno.systems.families import Curve
from lfno.systems.registry import Entry, find
from lfno.systems.signals import Signal, open_mesh
from lfno.systems.titles import ALL, FLOWS, LINES, ODES

GROUPS = {"Oscillators": ODES, "Fields in one dimension": LINES, "Flows": FLOWS}
#: model -> what its file name adds to that of the data set
SUFFIXES = {"LFNO": "", "FNO": "-fno", "LNO": "-lno"}
OWN = "yours"  # the model trained in this page
POSITIONS = 200  # of the slider, about
SEEDS = 20  # positions of the slider where samples are drawn at random
KEPT = 256  # solutions kept for each system


def catalogue() -> list[dict[str, Any]]:
    """What the page lists: for every system its equation, its slider and the models there are."""
    rows = []
    for group, names in GROUPS.items():
        for name, title in names.items():
            entry = find(name)
            rows.append(
                {
                    "name": name,
                    "title": title,
                    "group": group,
                    "equation": entry.system.equation,
                    "conditions": entry.system.conditions,
                    "values": entry.system(**entry.parameters).values,
                    "solver": entry.system.solver,
                    "kind": entry.system.kind,
                    "grid": entry.grid.to_dict()["axes"],
                    "input": [[channel.name, channel.unit] for channel in entry.system.inputs],
                    "output": [[channel.name, channel.unit] for channel in entry.system.outputs],
                    "slider": slider(entry),
                    "models": [model for model in SUFFIXES if shipped(name, model)],
                    "note": _note(name),
                }
            )
    return plain(rows)


def slider(entry: Entry) -> dict[str, Any]:
    """Range and step of what tells the samples of a data set apart; a random set is a list of numbered draws."""
    family = entry.family
    if not isinstance(family, Curve):
        return {"name": "sample", "low": 0, "high": SEEDS - 1, "step": 1, "value": 0, "least": 0, "most": SEEDS - 1}
    span = family.high - family.low
    step = _round(span / POSITIONS)
    value = step * round((family.low + 0.6 * span) / step)
    least, most = family.low - span, family.high + span
    return {"name": family.name, "low": family.low, "high": family.high, "step": step, "value": round(value, 6),
            "least": round(least, 6), "most": round(most, 6)}  # fmt: skip


def _round(value: float) -> float:
    """1, 2 or 5 times a power of ten, the nearest."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / value)))


def shipped(name: str, model: str) -> bool:
    return (SHIPPED / f"{name}{SUFFIXES[model]}.safetensors").is_file()


def _note(name: str) -> str:
    missing = [model for model in SUFFIXES if not shipped(name, model)]
    if len(missing) == len(SUFFIXES):
        alone = "No weights are shipped for this set: the page shows the truth alone."
        return f"{alone} Train a model in a terminal: lfno train {name}"
    if missing:
        return f"No weights of {' and '.join(missing)} are shipped for this set."
    return ""


class Bench:
    """One system, kept warm: its solver, its solutions so far and its models."""

    def __init__(self, name: str) -> None:
        if name not in ALL:
            raise LfnoError(f"there is no system {name!r} on this page; it has {', '.join(ALL)}")
        self.entry = find(name)
        self.system = self.entry.system(**self.entry.parameters)
        self.slider = slider(self.entry)
        self.models: dict[str, Operator] = {
            model: load(f"{name}{suffix}") for model, suffix in SUFFIXES.items() if shipped(name, model)
        }
        self.solutions: OrderedDict[float, tuple[np.ndarray, np.ndarray]] = OrderedDict()
        self.lock = threading.Lock()
        self.input_range = self._input_range()

    def _input_range(self) -> tuple[float, float] | None:
        """Of the inputs at both ends of the slider: on this scale a smaller amplitude is seen to be smaller."""
        family = self.entry.family
        if not isinstance(family, Curve):
            return None
        ends = family.signal({family.name: np.array([family.low, family.high])})
        values = ends(*open_mesh(self.system.signal_grid(self.entry.grid)))
        return float(values.min()), float(values.max())

    def explore(self, value: float) -> dict[str, Any]:
        """Truth and models at one position of the slider."""
        torch.set_num_threads(1)  # of this thread: for one sample, sharing the work costs more than the work
        with self.lock:
            start = time.perf_counter()
            inputs, truth = self.solve(value)
            solved = time.perf_counter()
            answers = {name: self._answer(name, model, inputs, truth) for name, model in self.models.items()}
        trained = self.slider["low"] <= value <= self.slider["high"]
        return plain(
            {
                "value": value,
                "trained": trained,
                "axes": self.entry.grid.to_dict()["axes"],
                "input": packed(inputs[0, -1]),
                "input_range": self.input_range,
                "truth": packed(truth[0, 0]),
                "models": answers,
                "solve_ms": 1e3 * (solved - start),
                "models_ms": 1e3 * (time.perf_counter() - solved),
            }
        )

    def solve(self, value: float) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and outputs (1, channels, *grid); for an ODE all positions of the slider are solved at once.

        One sample of an ODE takes as long as two hundred: the integrator steps through time in Python either way.
        """
        limits = self.slider
        if not (math.isfinite(value) and limits["least"] <= value <= limits["most"]):
            raise LfnoError(
                f"{limits['name']} = {value:g} is too far from what the models have seen; "
                f"choose a value between {limits['least']:g} and {limits['most']:g}"
            )
        key = round(value, 9)
        if key not in self.solutions:
            for place, pair in self._solved(key):
                self.solutions[place] = pair
            while len(self.solutions) > KEPT + POSITIONS:
                self.solutions.popitem(last=False)
        self.solutions.move_to_end(key)
        return self.solutions[key]

    def _solved(self, value: float) -> list[tuple[float, tuple[np.ndarray, np.ndarray]]]:
        family, grid = self.entry.family, self.entry.grid
        values = [value]
        if isinstance(family, Curve):
            if grid.ndim == 1 and not self.solutions:
                count = round((self.slider["high"] - self.slider["low"]) / self.slider["step"]) + 1
                places = self.slider["low"] + self.slider["step"] * np.arange(count)
                values = sorted({value, *(round(float(place), 9) for place in places)})
            signal: Signal = family.signal({family.name: np.array(values)})
        else:
            signal = family.signal(family.draw(1, np.random.default_rng(int(value))))
        inputs, outputs = self.system.record(signal, grid)
        full = np.broadcast_to(inputs, (*inputs.shape[:2], *grid.shape))
        return [(place, (full[k : k + 1], outputs[k : k + 1])) for k, place in enumerate(values)]

    def _answer(self, name: str, model: Operator, inputs: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
        x = np.ascontiguousarray(inputs)
        answer: dict[str, Any] = {"parameters": sum(weight.numel() for weight in model.parameters())}
        if isinstance(model, PoleOperator):
            with listening(model) as heard:
                # the two parts add up to the prediction: no further pass is needed for it
                transient, steady = model.decompose(x) if name != "LNO" else (None, model.predict(x))
            answer["poles"] = pole_columns(ringing(model, heard))
            answer["caveat"] = split_caveat(model)
            prediction = steady if transient is None else transient + steady
            if transient is not None:
                answer |= {"transient": packed(transient[0, 0]), "steady": packed(steady[0, 0])}
        else:
            prediction = model.predict(x)
        answer["prediction"] = packed(prediction[0, 0])
        answer["l2"] = float(relative_l2(prediction, truth)[0])
        answer["linf"] = float(relative_linf(prediction, truth)[0])
        answer["test_l2"] = model.provenance.get("test_l2")
        return answer


def pole_columns(table: PoleTable, most: int = 400) -> dict[str, list[Any]]:
    """The strongest poles in time, column by column."""
    top = table.top(most)
    columns = {
        "re": top.pole.real, "im": top.pole.imag, "frequency": top.frequency, "damping_ratio": top.damping_ratio,
        "time_constant": top.time_constant, "contribution": top.contribution,
    }  # fmt: skip
    rounded = {key: [float(f"{value:.5g}") for value in column] for key, column in columns.items()}
    return {**rounded, "layer": [int(layer) + 1 for layer in top.layer], "axis": [str(axis) for axis in top.axis]}
