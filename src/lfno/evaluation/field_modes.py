"""Small-signal modes of a network of fields on a line: one linear system in time for each spatial mode."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from lfno.core.errors import LfnoError
from lfno.evaluation.modes import SMALL, own_error, probing_band, rests
from lfno.identification.field import identify_field, line_matrices
from lfno.identification.mode import Mode
from lfno.identification.probe import random_forces
from lfno.models.operator import Operator
from lfno.spectral.bases import OF_BOUNDARY

#: spatial modes that are driven
DRIVEN = 4
#: forces that are tried
FORCES = 16


def on_a_line(network: Operator) -> bool:
    """Whether a network answers fields on a line with two ends, with one input and one output."""
    grid, config = network.grid, network.config
    return grid.ndim == 2 and grid.time == 1 and not grid.axes[0].periodic and config.in_channels == config.out_channels == 1


def field_modes(networks: Sequence[Operator], accuracy: float | None = None, least: float = 0.0) -> list[Mode]:
    """Modes of the mean answer of networks about their state of rest, strongest first, of contribution `least` or more.

    The networks are asked for small forces ± f with random signals in the band of training on the first spatial modes; half
    of the difference of the answers is linear in f. Every spatial mode of the answers is identified on its own, so that the
    modes of two shapes are never mixed. `accuracy` is the relative error of the networks, by default what their files say:
    a motion that explains less is not called a mode. Raises LfnoError for networks that move without a force.
    """
    first = networks[0]
    space, time = first.grid.axes
    exact = [deepcopy(network).double().eval() for network in networks]
    error = own_error(networks, accuracy)

    def predict(inputs: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean([network.predict(inputs) for network in exact], axis=0))

    if not rests(predict, first, error):
        raise LfnoError(
            "small-signal modes of a field need a state of rest; this model moves without any force, and its window of "
            f"{time.length:g} {time.unit} does not show where it would come to rest".replace("  ", " ")
        )
    basis = OF_BOUNDARY.get(space.boundary)
    signals = random_forces(FORCES, DRIVEN, time.size, time.step, probing_band(first)) / np.arange(1, DRIVEN + 1)[:, None]
    profiles = line_matrices(basis or "sine", DRIVEN, space)[1]
    forces = np.einsum("nkt,xk->nxt", signals, profiles)[:, None]
    size = SMALL * float(first.input_scale.max())
    answers = (predict(size * forces) - predict(-size * forces)) / (2 * size)
    return identify_field(forces, answers, first.grid, basis, accuracy=error).list_modes(least)
