"""The equation behind a model that was trained on a built-in data set: its registry entry, band of inputs and poles."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.systems.base import System
from lfno.systems.excitations import Chirp
from lfno.systems.families import Mixture, Separable
from lfno.systems.registry import REGISTRY, Entry


def trained_entry(provenance: dict[str, Any]) -> Entry | None:
    """Return the registry entry of the data set that a model was trained on; None for the user's own data.

    provenance: the provenance in the model file.

    >>> trained_entry({"data": {"name": "duffing-c05-rich"}}).parameters
    {'c': 0.5}
    """
    data = provenance.get("data")
    name = data.get("name") if isinstance(data, dict) else data
    return REGISTRY.get(name) if isinstance(name, str) else None


def trained_band(provenance: dict[str, Any]) -> tuple[float, float] | None:
    """Return (lowest, highest) frequency of the training inputs in Hz; None if the band is not known.

    The band is in the provenance, or it follows from the registry entry of the training data.

    >>> [round(edge, 3) for edge in trained_band({"data": {"name": "heat-rich"}})]
    [0.637, 12.732]
    """
    told = provenance.get("band")
    if told:
        return float(told[0]), float(told[1])
    entry = trained_entry(provenance)
    family = None if entry is None else entry.family
    family = family.time if isinstance(family, Separable) else family
    chirp = family.members.get("chirp") if isinstance(family, Mixture) else None
    return (chirp.band[0] / (2 * np.pi), chirp.band[1] / (2 * np.pi)) if isinstance(chirp, Chirp) else None


def true_system(provenance: dict[str, Any]) -> System | None:
    """Return the system whose data a model was trained on, with its parameters; None for the user's own data."""
    entry = trained_entry(provenance)
    return None if entry is None else entry.system(**entry.parameters)


def true_poles(provenance: dict[str, Any], operating: float = 0.0) -> np.ndarray | None:
    """Return the eigenvalues of the equation behind a model, linearised about its response to a constant input.

    provenance: the provenance in the model file.
    operating: the constant input.
    Returns None if they are not known.

    >>> true_poles({"data": {"name": "duffing-c05-rich"}}).round(3)
    array([-0.25+0.968j])
    """
    system = true_system(provenance)
    if system is None:
        return None
    try:
        return system.linearised_poles(operating)
    except LfnoError:
        return None
