"""Dynamical systems: one per file, with its equation, its parameters, a fast solver and an independent reference."""

from lfno.systems.base import Channel, Parameter, System
from lfno.systems.duffing import Duffing
from lfno.systems.lorenz import Lorenz
from lfno.systems.ode import ForcedODE
from lfno.systems.pendulum import Pendulum
from lfno.systems.registry import REGISTRY, Entry, find, register
from lfno.systems.signals import Signal, as_signal, open_mesh

__all__ = [
    "REGISTRY",
    "Channel",
    "Duffing",
    "Entry",
    "ForcedODE",
    "Lorenz",
    "Parameter",
    "Pendulum",
    "Signal",
    "System",
    "as_signal",
    "find",
    "open_mesh",
    "register",
]
