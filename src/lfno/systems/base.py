"""The base class of all dynamical systems: parameters, channels, solving, periodic steady states."""

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
    """A parameter of an equation: a number with a unit and a valid range, or a word from a list.

    name: the name of the parameter. The system has an attribute with this name.
    default: the value if none is given.
    meaning: what the parameter is, for error messages and lists.
    low, high: the smallest and the largest valid number.
    above: a number that the value must exceed. `above=0` excludes zero.
    choices: the valid words. Without choices, the parameter is a number.

    >>> Parameter("c", 0.5, "damping", "1/s", low=0).range
    '[0, ∞)'
    """

    name: str
    default: float | str
    meaning: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    choices: tuple[str, ...] = ()

    def check(self, value: Any, system: str) -> float | str:
        """Return `value` as a number or a word. Raises LfnoError, with the name of the `system`, if the value is not valid."""
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
        """The valid values as text."""
        if self.choices:
            return " | ".join(self.choices)
        left = f"({self.above:g}" if self.above >= self.low and self.above > -math.inf else f"[{self.low:g}"
        left = "(-∞" if left == "[-inf" else left
        return f"{left}, {'∞)' if self.high == math.inf else f'{self.high:g}]'}"


@dataclass(frozen=True)
class Channel:
    """A physical quantity with its name and unit."""

    name: str
    unit: str = ""

    @property
    def label(self) -> str:
        """The name with its unit, as a figure shows it: `x [m]`."""
        return with_unit(self.name, self.unit)


class System(ABC):
    """A dynamical system with a forcing f(*space, t) or an initial state u0(*space) as its input.

    A subclass defines the class attributes below and two solvers. `integrate` is fast and solves all samples at once.
    `reference` is slow and uses an independent method. Tests and `lfno data check` compare the results of both. A system with a
    periodic steady state also defines `start_state` and `march`, or overrides `settle`. Parameters are keyword arguments of the
    constructor and attributes of the instance.

    Raises LfnoError for a parameter that the system does not have, or for a value outside of its range.

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
    grid: ClassVar[Grid]  # grid of the paper's data set
    rich_grid: ClassVar[Grid | None] = None  # grid of the other data sets; None: the same grid
    solver: ClassVar[str]  # the method of `integrate` in a few words, for the provenance
    accuracy: ClassVar[float]  # bound of the relative error of `integrate` on the data sets
    accuracies: ClassVar[dict[str, float]] = {}  # name of a data set -> another bound
    #: NAME of a data set -> its parameter values
    sets: ClassVar[dict[str, dict[str, Any]]] = {}
    #: key -> family of inputs. The data set NAME has the family "paper", the data set NAME-key has the family of this key
    families: ClassVar[dict[str, Family]] = {}
    count: ClassVar[int] = 380  # number of samples of a data set that is not only for testing
    folds: ClassVar[int] = 5  # the standard split cuts a data set into this number of parts and tests on one part
    out_count: ClassVar[int] = 190  # number of samples of a data set that is only for testing
    chunk: ClassVar[int] = 380  # number of samples solved together; an interrupted data set resumes after the last chunk

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

    def __repr__(self) -> str:
        given = (f"{name}={value}" for name, value in self.values.items())
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def damped(self) -> bool:
        """Whether the system loses energy, so that the effect of its initial state decays."""
        return True

    @abstractmethod
    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Return the outputs (sample, channel, *grid.shape) for all samples of the signal, in float64."""

    @abstractmethod
    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Return the same outputs as `integrate`, computed by an independent method."""

    def start_state(self, count: int, grid: Grid) -> np.ndarray:
        """Return the initial state, (sample, *state), at the first time of the grid."""
        raise LfnoError(f"{self.title} cannot be solved from a given state: the class defines no `start_state` and `march`")

    def march(self, signal: Signal, grid: Grid, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve from a given state. Return the outputs (sample, channel, *grid) and the state at the last time.

        A sample whose solution is not finite becomes NaN, or the solver raises LfnoError.
        """
        raise LfnoError(f"{self.title} cannot be solved from a given state: the class defines no `start_state` and `march`")

    @property
    def unsettled(self) -> str:
        """The reason why the system has no periodic steady state; empty if it may have one."""
        if self.kind == "initial":
            return "its input is an initial state, not a force"
        return "" if self.damped else "nothing damps the system, so its free oscillations never die away"

    def steady_state(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid | None = None) -> SteadyState:
        """Return the response to the input repeated for ever. The period is size × step of the time axis.

        given: a forcing, as in `solve`.
        grid: the grid of the response, by default the grid of the system.

        The result says which samples reached a periodic steady state. Other samples are NaN. If the system has no periodic
        steady state (no damping, or no forcing), `reason` of the result says why.

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
        """Return the steady state, computed by repetition. A system with a faster method overrides this function."""
        return by_repetition(self, signal, grid)

    def linearised_poles(self, operating: float = 0.0) -> np.ndarray:
        """Return the eigenvalues with Im ≥ 0 of the equation linearised about an equilibrium, in 1/s, slowest decay first.

        operating: the constant input under which the system reaches the equilibrium, from its initial state.

        A partial differential equation has infinitely many eigenvalues; only the slowest are returned. Raises LfnoError if the
        system reaches no equilibrium, or if the class does not define this function.

        >>> from lfno.systems import Duffing
        >>> Duffing(c=0.5).linearised_poles().round(4)
        array([-0.25+0.9682j])
        """
        raise LfnoError(f"{self.title}: the modes of the linearised equation are not known")

    def signal_grid(self, grid: Grid) -> Grid:
        """Return the grid of the input: all axes for a forcing, the axes of space for an initial state."""
        return grid if self.kind == "forced" else Grid(tuple(axis for axis in grid.axes if not axis.time))

    def solve(self, given: Signal | Callable[..., Any] | np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the outputs (sample, channel, *grid.shape) for a forcing or an initial state.

        given: a function of the coordinates, or an array on the grid of the input (`signal_grid`). Cubic splines interpolate
            the array.
        grid: the grid of the outputs, by default the grid of the system.

        Raises LfnoError if the grid has other axes than the system, or if a solution is not finite.

        >>> from lfno.systems import Pendulum
        >>> Pendulum().solve(np.zeros(64), Grid.line(64, dt=0.1)).max()
        np.float64(0.0)
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
        """Return inputs and outputs of a data set, (sample, channel, *grid). An initial state has a time axis of size 1."""
        where = self.signal_grid(grid)
        signal = as_signal(given, where)
        inputs = np.asarray(signal(*open_mesh(where)))[:, None]
        return (inputs if self.kind == "forced" else inputs[..., None]), self.solve(signal, grid)

    def check_grid(self, grid: Grid) -> None:
        """Raise LfnoError if the grid has other axes than the system. A subclass adds the conditions of its solver."""
        if grid.names != self.grid.names:
            raise LfnoError(
                f"{self.title} needs a grid with the axes ({', '.join(self.grid.names)}); "
                f"the given grid has ({', '.join(grid.names)})"
            )
