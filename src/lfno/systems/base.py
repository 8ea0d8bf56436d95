"""What every dynamical system has in common; a system itself states its equation, its numbers and how to solve it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid, with_unit
from lfno.systems.families import Family
from lfno.systems.signals import Signal, as_signal, open_mesh
from lfno.systems.steady import SteadyState, by_repetition


@dataclass(frozen=True)
class Parameter:
    """A number of the equation with its unit and valid range `low ≤ value ≤ high`, or a word out of `choices`."""

    name: str
    default: float | str
    meaning: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf  # a strict lower bound, for what may be small but not zero
    choices: tuple[str, ...] = ()

    def check(self, value: Any, system: str) -> float | str:
        if self.choices:
            if value not in self.choices:
                raise LfnoError(f"{system}: {self.name} = {value!r} is not one of {', '.join(self.choices)}")
            return str(value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise LfnoError(f"{system}: {self.name} = {value!r} is not a number ({self.meaning})") from None
        if not (math.isfinite(number) and self.low <= number <= self.high and number > self.above):
            raise LfnoError(f"{system}: {self.name} = {number:g} is outside {self.range} ({self.meaning})")
        return number

    @property
    def range(self) -> str:
        if self.choices:
            return " | ".join(self.choices)
        left = f"({self.above:g}" if self.above >= self.low and self.above > -math.inf else f"[{self.low:g}"
        left = "(-∞" if left == "[-inf" else left
        return f"{left}, {'∞)' if self.high == math.inf else f'{self.high:g}]'}"


@dataclass(frozen=True)
class Channel:
    """A physical quantity: its name and unit."""

    name: str
    unit: str = ""

    @property
    def label(self) -> str:
        return with_unit(self.name, self.unit)


class System(ABC):
    """A dynamical system driven by a forcing `f(*space, t)` or started from an initial state `u0(*space)`.

    A subclass states the class attributes below and two methods, `integrate` (fast, all samples at once) and
    `reference` (slow, independent of the first, used by tests and `lfno data check`). Both get a `Signal`, a batch of
    functions that may be asked for any point, and answer `(sample, output channel, *grid.shape)` in float64.
    A system with a periodic steady state also states `start_state` and `march`. Parameters become attributes of the
    instance.

    >>> from lfno.systems import Duffing
    >>> Duffing(c=0.5).solve(np.sin, Grid.line(128, dt=0.01)).shape
    (1, 1, 128)
    """

    title: ClassVar[str]
    equation: ClassVar[str]  # in Unicode, one line
    conditions: ClassVar[str]  # boundary and initial conditions, one line
    kind: ClassVar[Literal["forced", "initial"]]
    parameters: ClassVar[tuple[Parameter, ...]]
    inputs: ClassVar[tuple[Channel, ...]]
    outputs: ClassVar[tuple[Channel, ...]]
    grid: ClassVar[Grid]  # the paper's grid
    rich_grid: ClassVar[Grid | None] = None  # where the sets of the other families live, if not there
    solver: ClassVar[str]  # what `integrate` does, in a few words: goes into the provenance
    accuracy: ClassVar[float]  # relative error that `integrate` stays under on its data sets
    accuracies: ClassVar[dict[str, float]] = {}  # data sets that are harder, with what holds there
    #: name of a data set -> the parameter values it has; `families` says with which inputs
    sets: ClassVar[dict[str, dict[str, Any]]] = {}
    #: "paper" is the data set of that name itself; every other key is a suffix: "rich" -> `<name>-rich`
    families: ClassVar[dict[str, Family]] = {}
    count: ClassVar[int] = 380
    out_count: ClassVar[int] = 190  # of a set that only tests
    chunk: ClassVar[int] = 380  # samples solved together; small for what is long, so that it can resume

    def __init__(self, **values: Any) -> None:
        known = {parameter.name: parameter for parameter in self.parameters}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise LfnoError(f"{self.title} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
        self.values = {
            name: parameter.check(values.get(name, parameter.default), self.title) for name, parameter in known.items()
        }
        for name, value in self.values.items():
            setattr(self, name, value)

    @property
    def damped(self) -> bool:
        """Does the system lose energy, so that the effect of its initial state dies away?"""
        return True

    @abstractmethod
    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray: ...

    @abstractmethod
    def reference(self, signal: Signal, grid: Grid) -> np.ndarray: ...

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        """The state at the first time of the grid, `(sample, *state)`."""
        raise LfnoError(f"{self.title} cannot be continued from a state: it states no `start_state` and `march`")

    def march(self, signal: Signal, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outputs `(sample, channel, *grid)` from a state `(sample, *state)` on, and the state at the last time.

        Samples that blow up are NaN.
        """
        raise LfnoError(f"{self.title} cannot be continued from a state: it states no `start_state` and `march`")

    @property
    def unsettled(self) -> str:
        """Why the system has no periodic steady state; empty where it may have one."""
        if self.kind == "initial":
            return "it is not forced: its input is an initial state"
        return "" if self.damped else "nothing damps it: its free oscillations never die away"

    def steady_state(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid | None = None) -> SteadyState:
        """The response once the input has been repeated for ever, with period size × step of the time axis.

        `given` is a forcing as in `solve`. The answer says for each sample whether a limit was reached; samples without
        one are NaN. A system without any (no damping, no forcing) says why in `reason`.

        >>> from lfno.systems import Duffing
        >>> state = Duffing(c=0.5).steady_state(lambda t: 0.1 * np.sin(2 * np.pi * t / 10), Grid.line(100, dt=0.1))
        >>> state.values.shape, state.reached.tolist()
        ((1, 1, 100), [True])
        """
        grid = grid or self.grid
        self.check_grid(grid)
        signal = as_signal(given, self.signal_grid(grid))
        if self.unsettled:
            return SteadyState.none(self, signal.count, grid, self.unsettled)
        return self.settle(signal, grid)

    def settle(self, signal: Signal, grid: Grid) -> SteadyState:
        """How the steady state is found: by repetition, unless a system knows a shorter way."""
        return by_repetition(self, signal, grid)

    def signal_grid(self, grid: Grid) -> Grid:
        """The axes the input is a function of: all of them for a forcing, those of space for an initial state."""
        return grid if self.kind == "forced" else Grid(tuple(axis for axis in grid.axes if not axis.time))

    def solve(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Outputs `(sample, channel, *grid.shape)` for a forcing or initial state: a function or an array on the grid.

        An array is interpolated by cubic splines between its points.
        """
        grid = grid or self.grid
        self.check_grid(grid)
        outputs = self.integrate(as_signal(given, self.signal_grid(grid)), grid)
        finite = np.isfinite(outputs).reshape(len(outputs), -1).all(axis=1)
        if not finite.all():
            raise LfnoError(
                f"{self.title}: the solution of sample {int(np.argmin(finite))} is not finite with "
                f"{', '.join(f'{k} = {v}' for k, v in self.values.items())}: it blows up before the end of the grid; "
                "use a smaller input, a shorter time or other parameters"
            )
        return outputs

    def record(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and outputs of a data set; inputs that do not change in time have a time axis of size 1."""
        where = self.signal_grid(grid)
        signal = as_signal(given, where)
        inputs = np.asarray(signal(*open_mesh(where)))[:, None]
        return (inputs if self.kind == "forced" else inputs[..., None]), self.solve(signal, grid)

    def check_grid(self, grid: Grid) -> None:
        """Refuse a grid with other axes than the system's own; a subclass adds what its solver needs."""
        if grid.names != self.grid.names:
            raise LfnoError(
                f"{self.title} lives on a grid with axes ({', '.join(self.grid.names)}), "
                f"the one given has ({', '.join(grid.names)})"
            )
