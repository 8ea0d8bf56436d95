"""The bench of a field over time and one or two space axes, with the inputs of the paper or random inputs."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from lfno.app.bench import Bench, Pair
from lfno.app.catalogue import RICH, SEEDS, has_random_inputs, slider, training_set
from lfno.app.json_values import packed
from lfno.app.values import Query, number, whole, word
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable
from lfno.systems.families import Curve
from lfno.systems.registry import find
from lfno.systems.signals import Signal, open_mesh
from lfno.systems.steady import SteadyState

PAPER = "paper"  # family of inputs: one shape with one parameter, as in the paper
RANDOM = "random"  # family of inputs: random inputs, numbered by their seeds
#: system -> formula of the paper's inputs. A test compares the formula with the input, for every input that has one parameter
FORMULAS = {
    "beam": "f(x, t) = −99 A e^(−x) sin 10t",
    "heat": "f(x, t) = (1 − π²) A e^(−t) sin πx",
    "reaction-diffusion": "f(x, t) = (1 − π²) w + w², w = A e^(−t) sin πx",
    "brusselator": "f(x, t) = (1 − π²) A e^(−t) sin πx",
    "burgers": "u₀(x) = U x",
    "navier-stokes": "w₀(x, y) = V sin(x) cos(y)",
    "navier-stokes-nu1e-3": "frames w(x, y) at t = 1 … 10 s, from a random start",
}
RANDOM_FORMULA = "f(x, t) = p(x) s(t): p of four random modes, s a random signal"
#: system -> description of the random inputs of a field that starts and is not driven
RANDOM_STARTS = {
    "burgers": "u₀(x): six waves with random amplitudes",
    "navier-stokes": "w₀(x, y): random waves, at most three along each axis",
}


class Given(NamedTuple):
    """An input of the family PAPER or RANDOM. `value` is the parameter of a paper input, or the seed of a random input."""

    family: str
    value: float


class Field(Bench):
    """The bench of a field. Random inputs are possible if a shipped model was trained on random inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.grid = self.entry.grid
        self.slider = slider(self.entry)
        self.families = {PAPER: self.entry.family}
        if has_random_inputs(name):
            self.families[RANDOM] = find(name + RICH).family

    def given(self, query: Query) -> Given:
        family = word({"family": PAPER, **query}, "family", tuple(self.families))
        if family == RANDOM:
            return Given(family, whole(query, "value", SEEDS - 1))
        limits = self.slider
        return Given(family, round(number(query, "value", limits["least"], limits["most"], label=limits["name"]), 9))

    def signal(self, given: Given) -> Signal:
        """Return the input as a function of space and time, in a batch of one."""
        family = self.families[given.family]
        if isinstance(family, Curve):
            return family.signal({family.name: np.array([given.value])})
        return family.signal(family.draw(1, np.random.default_rng(int(given.value))))

    def solved(self, given: Given, grid: Grid) -> Pair:
        inputs, outputs = self.system.record(self.signal(given), grid)
        return np.broadcast_to(inputs, (*inputs.shape[:2], *grid.shape)), outputs

    def truth(self, query: Query) -> dict[str, Any]:
        given, grid = self.given(query), self.grid
        with self.lock:
            self.kept.pop((given, grid), None)  # solve again, to measure the time
            start = time.perf_counter()
            inputs, truth = self.pair(given, grid)
            took = time.perf_counter() - start
        return jsonable(
            {
                "axes": grid.to_dict()["axes"],
                "input": packed(inputs[0, -1]),
                "input_range": self._input_range() if given.family == PAPER else None,
                "truth": packed(truth[0, 0]),
                "formula": FORMULAS[self.name] if given.family == PAPER else RANDOM_STARTS.get(self.name, RANDOM_FORMULA),
                "ms": 1e3 * took,
            }
        )

    def steady(self, given: Given) -> SteadyState:
        # models know the input at the samples only, so the samples are repeated, as in the labels of data sets
        return self.system.steady_state(self.signal(given)(*open_mesh(self.system.signal_grid(self.grid))), self.grid)

    def concerns(self, key: str, given: Given) -> list[str]:
        entry = training_set(str(self.files[key])) or self.entry
        if entry.name != self.entry.name and given.family == PAPER:
            return ["out of the range of training: the model was trained on random inputs, not on inputs of this shape"]
        if entry.name == self.entry.name and given.family == RANDOM:
            return ["out of the range of training: the model was trained on inputs of one shape, not on random inputs"]
        low, high = self.slider["low"], self.slider["high"]
        if given.family == RANDOM or low <= given.value <= high:
            return []
        name, unit = self.slider["name"], self.slider["unit"]
        return [f"out of the range of training: {name} is not between {low:g} and {high:g} {unit}".rstrip()]

    def _input_range(self) -> tuple[float, float] | None:
        """Return the fixed colour range of the input: the extreme values of the inputs at both ends of the slider.

        With a fixed range, an input with a small amplitude has pale colours. Return None for inputs without a parameter.
        """
        family = self.entry.family
        if not isinstance(family, Curve):
            return None
        ends = family.signal({family.name: np.array([family.low, family.high])})
        values = ends(*open_mesh(self.system.signal_grid(self.grid)))
        return float(values.min()), float(values.max())
