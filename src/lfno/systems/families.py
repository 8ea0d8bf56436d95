"""Families of inputs: draw the forcings or initial states of a data set at random, and evaluate them.

A drawn function is described by its parameters, for example an amplitude and a frequency.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from lfno.systems.signals import Chosen, Signal

#: parameters of drawn functions: name -> array whose first axis is the sample
Draws = dict[str, np.ndarray]


class Family(ABC):
    """A set of functions of the coordinates, drawn at random or evenly spaced."""

    @abstractmethod
    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        """Return the parameters of `count` random samples. Generators with equal states give equal samples."""

    @abstractmethod
    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        """Return the values (sample, *shape) of drawn functions.

        coordinates: one array for each axis; all arrays together broadcast to `shape` (see `lfno.systems.signals.open_mesh`).
        """

    def signal(self, draws: Draws) -> FamilySignal:
        """Return the drawn functions as a signal for a solver."""
        return FamilySignal(self, draws)


class FamilySignal(Signal):
    """Functions drawn from a family, as a signal for a solver."""

    def __init__(self, family: Family, draws: Draws) -> None:
        self.family, self.draws = family, draws
        self.count = len(next(iter(draws.values())))

    def __call__(self, *coordinates: np.ndarray) -> np.ndarray:
        return self.family.evaluate(self.draws, *coordinates)

    def __getitem__(self, chosen: Chosen) -> FamilySignal:
        return FamilySignal(self.family, {name: values[chosen] for name, values in self.draws.items()})


def column(values: np.ndarray, ndim: int) -> np.ndarray:
    """Return values (count,) in the shape (count, 1, …, 1), to multiply them with fields of `ndim` axes."""
    return values.reshape(-1, *(1,) * ndim)


def part(draws: Draws, name: str) -> Draws:
    """Return the parameters of one member of a family that consists of other families: the entries `name.key`, as `key`."""
    return {key.removeprefix(f"{name}."): v for key, v in draws.items() if key.startswith(f"{name}.")}


class Curve(Family):
    """Functions `function(A, *coordinates)` with one parameter A, as in the paper.

    name: the name of the parameter.
    function: the function of the parameter and the coordinates.
    low, high: the range of the parameter.
    random: True for parameters drawn uniformly from [low, high), False for evenly spaced parameters over [low, high].
    unit: the unit of the parameter. None for the unit of the input, if the function is A times a shape without unit.

    >>> ramps = Curve("A", lambda A, t: A * t, 0, 2)
    >>> ramps.evaluate(ramps.draw(3, np.random.default_rng(0)), np.array([0.0, 1.0])).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]
    """

    def __init__(
        self, name: str, function: Callable[..., np.ndarray], low: float, high: float, random: bool = False,
        unit: str | None = None,
    ) -> None:  # fmt: skip
        self.name, self.function, self.low, self.high, self.random, self.unit = name, function, low, high, random, unit

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        if self.random:
            return {self.name: generator.uniform(self.low, self.high, count)}
        return {self.name: np.linspace(self.low, self.high, count)}

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(c) for c in coordinates))
        values = self.function(column(draws[self.name], len(shape)), *coordinates)
        return np.broadcast_to(values, (len(draws[self.name]), *shape))


class Mixture(Family):
    """Several families with equal numbers of samples, in random order. The parameter `kind` is the index of the family."""

    def __init__(self, **members: Family) -> None:
        self.members = members

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        draws = {"kind": generator.permutation(np.arange(count) % len(self.members))}
        for name, member in self.members.items():
            draws |= {f"{name}.{key}": values for key, values in member.draw(count, generator).items()}
        return draws

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(c) for c in coordinates))
        values = np.empty((len(draws["kind"]), *shape))
        for index, (name, member) in enumerate(self.members.items()):
            mine = draws["kind"] == index
            if mine.any():
                own = {key: drawn[mine] for key, drawn in part(draws, name).items()}
                values[mine] = member.evaluate(own, *coordinates)
        return values


class Separable(Family):
    """Forcings p(*space) g(t). The family `space` gives p, and the family `time` gives g."""

    def __init__(self, space: Family, time: Family) -> None:
        self.space, self.time = space, time

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        space, time = self.space.draw(count, generator), self.time.draw(count, generator)
        return {f"space.{k}": v for k, v in space.items()} | {f"time.{k}": v for k, v in time.items()}

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        profile = self.space.evaluate(part(draws, "space"), *(c[..., 0] for c in coordinates[:-1]))
        signal = self.time.evaluate(part(draws, "time"), coordinates[-1].reshape(-1))
        return profile[..., None] * signal.reshape(len(signal), *(1,) * len(coordinates[:-1]), -1)
