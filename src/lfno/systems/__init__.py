"""Dynamical systems: one per file, with its equation, its parameters, a fast solver and an independent reference."""

from lfno.systems.base import Channel, Parameter, System
from lfno.systems.signals import Signal, as_signal, open_mesh

__all__ = ["Channel", "Parameter", "Signal", "System", "as_signal", "open_mesh"]
