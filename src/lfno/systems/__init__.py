"""Dynamical systems: one per file, with its equation, its parameters, a fast solver and an independent reference.

Modules:
    base: the base class `System`: parameters, channels, solving
    ode: the base class of ordinary differential equations
    interval: base classes of partial differential equations on an interval
    duffing: the Duffing oscillator
    lorenz: the Lorenz system
    pendulum: the forced, damped pendulum
    heat: the heat equation
    beam: the Euler–Bernoulli beam
    burgers: Burgers' equation
    reaction_diffusion: a reaction–diffusion equation
    brusselator: the Brusselator
    navier_stokes: Navier–Stokes flow from an initial vorticity
    navier_stokes_random: the Navier–Stokes benchmark of the FNO paper
    signals: inputs of a system as functions of the coordinates
    families: families of inputs: draw random inputs and evaluate them
    excitations: random signals in time
    fields: random functions of space
    bumps: random periodic bumps
    registry: the data sets by name
    titles: titles of the data sets for tables and pages
    steady: the periodic steady state of a system
    tones: the steady response to sines of many frequencies and amplitudes
    linearised: eigenvalues of the linearised equation
"""

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
