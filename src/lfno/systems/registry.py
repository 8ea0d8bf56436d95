"""The data sets by name: a dictionary from the name to the system, its parameters, its inputs and its grid."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.systems.base import System
from lfno.systems.beam import Beam
from lfno.systems.brusselator import Brusselator
from lfno.systems.burgers import Burgers
from lfno.systems.duffing import Duffing
from lfno.systems.families import Family
from lfno.systems.heat import Heat
from lfno.systems.lorenz import Lorenz
from lfno.systems.navier_stokes import NavierStokes
from lfno.systems.navier_stokes_random import NavierStokesRandom
from lfno.systems.pendulum import Pendulum
from lfno.systems.reaction_diffusion import ReactionDiffusion


@dataclass(frozen=True)
class Entry:
    """The definition of a data set, except for the seed of its random numbers.

    name: the name of the data set.
    system: the class of the system.
    family: the family of its inputs.
    grid: the grid of its outputs.
    count: the number of samples.
    parameters: the parameters of the system.
    """

    name: str
    system: type[System]
    family: Family
    grid: Grid
    count: int
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """The bound on the relative error of the outputs."""
        return self.system.accuracies.get(self.name, self.system.accuracy)


REGISTRY: dict[str, Entry] = {}


def register(system: type[System]) -> type[System]:
    """Add the data sets of a system to the registry, and return the system. Use it as a decorator for your own classes."""
    for name, parameters in system.sets.items():
        for key, family in system.families.items():
            full = name if key == "paper" else f"{name}-{key}"
            grid = system.grid if key == "paper" else system.rich_grid or system.grid
            count = system.out_count if key == "out" else system.count
            REGISTRY[full] = Entry(full, system, family, grid, count, dict(parameters))
    return system


def find(name: str) -> Entry:
    """Return the data set with this name. Raises LfnoError, which suggests similar names, if there is none.

    >>> find("heat").count
    380
    """
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`lfno systems` lists them"
        raise LfnoError(f"there is no data set {name!r}: {hint}")
    return REGISTRY[name]


SYSTEMS: tuple[type[System], ...] = (
    Duffing,
    Lorenz,
    Pendulum,
    Beam,
    Heat,
    ReactionDiffusion,
    Brusselator,
    Burgers,
    NavierStokes,
    NavierStokesRandom,
)
for _system in SYSTEMS:
    register(_system)
# data sets with the same signals on fewer points, for training within minutes on a laptop
for _name in ("duffing-c05", "duffing-c05-rich"):
    REGISTRY[f"{_name}-small"] = replace(REGISTRY[_name], name=f"{_name}-small", grid=Grid.line(512, dt=0.04))
