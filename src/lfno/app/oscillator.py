"""The bench of an oscillator: any input of `lfno.app.inputs`, solved in milliseconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from lfno.app.bench import Bench, Pair
from lfno.app.catalogue import PAPER_FREQUENCY, training_set
from lfno.app.inputs import DURATION, Input
from lfno.app.json_values import packed
from lfno.app.single import Single
from lfno.app.values import Query
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable
from lfno.systems.families import Curve
from lfno.systems.signals import open_mesh
from lfno.systems.steady import SteadyState

SHOWN = Grid.line(1024, dt=DURATION / 1024)  # the time grid of the page for oscillators
DRAWS = 64  # number of random inputs from which the training range of a shipped model is estimated


class Oscillator(Bench):
    """The bench of an ordinary differential equation, for any input of `lfno.app.inputs`."""

    grid = SHOWN

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.single = Single(self.system)  # type: ignore[arg-type]

    def given(self, query: Query) -> Input:
        return Input.of(query.get("input") or {})

    def solved(self, given: Input, grid: Grid) -> Pair:
        inputs = np.asarray(given(grid.axes[0].points), dtype=np.float64)
        return inputs[None, None], self.single.solve(given, grid)[None, None]

    def resampled(self, values: np.ndarray, grid: Grid) -> np.ndarray:
        return values if grid == SHOWN else np.interp(SHOWN.axes[0].points, grid.axes[0].points, values)

    def truth(self, query: Query) -> dict[str, Any]:
        given = self.given(query)
        start = time.perf_counter()
        truth = self.single.solve(given, SHOWN)
        took = time.perf_counter() - start
        return jsonable(
            {
                "axes": SHOWN.to_dict()["axes"],
                "input": packed(given(SHOWN.axes[0].points)),
                "truth": packed(truth),
                "formula": given.formula,
                "ms": 1e3 * took,
            }
        )

    def steady(self, given: Input) -> SteadyState:
        return self.single.steady(given, SHOWN)

    def concerns(self, key: str, given: Input) -> list[str]:
        entry = training_set(str(self.files[key]))
        if entry is None:
            return []
        if isinstance(entry.family, Curve):
            if given.kind != "decaying sine" or abs(given.frequency / PAPER_FREQUENCY - 1) > 1e-3:
                return ["out of the range of training: the training inputs were decaying sines of 0.796 Hz"]
            family = entry.family
            if not family.low <= given.amplitude <= family.high:
                low, high = f"{family.low:g}", f"{family.high:g}"
                return [f"out of the range of training: the amplitude is not between {low} and {high}"]
            return []
        if key not in self.ranges:
            from lfno.evaluation.coverage import Coverage

            draws = entry.family.signal(entry.family.draw(DRAWS, np.random.default_rng(0)))
            self.ranges[key] = Coverage.of(draws(*open_mesh(entry.grid))[:, None], entry.grid)
        values = given(SHOWN.axes[0].points)[None, None]
        return [f"out of the range of training: {one.message}" for one in self.ranges[key].excesses(values, SHOWN)]
