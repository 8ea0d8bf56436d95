"""Dynamical systems: one per file, with its equation, its parameters, a fast solver and an independent reference."""

from lfno.systems.base import Channel, Parameter, System
from lfno.systems.beam import Beam
from lfno.systems.brusselator import Brusselator
from lfno.systems.burgers import Burgers
from lfno.systems.duffing import Duffing
from lfno.systems.heat import Heat
from lfno.systems.lorenz import Lorenz
from lfno.systems.navier_stokes import NavierStokes
from lfno.systems.navier_stokes_random import NavierStokesRandom
from lfno.systems.ode import ForcedODE
from lfno.systems.pendulum import Pendulum
from lfno.systems.reaction_diffusion import ReactionDiffusion
from lfno.systems.registry import REGISTRY, Entry, find, register
from lfno.systems.signals import Signal, as_signal, open_mesh

__all__ = [
    "REGISTRY",
    "Beam",
    "Brusselator",
    "Burgers",
    "Channel",
    "Duffing",
    "Entry",
    "ForcedODE",
    "Heat",
    "Lorenz",
    "NavierStokes",
    "NavierStokesRandom",
    "Parameter",
    "Pendulum",
    "ReactionDiffusion",
    "Signal",
    "System",
    "as_signal",
    "find",
    "open_mesh",
    "register",
]
