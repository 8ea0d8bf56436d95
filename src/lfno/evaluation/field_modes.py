"""Small-signal modes of a network for fields on a line. Each spatial mode is identified as a linear system in time."""

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

DRIVEN = 4  # spatial modes: the forces drive this many, beginning with the lowest
FORCES = 16  # random forces that the network responds to


def on_a_line(network: Operator) -> bool:
    """Return whether a network is for fields on a line with two ends (one axis of space, not periodic).

    It must also have one input and one output.
    """
    grid, config = network.grid, network.config
    return grid.ndim == 2 and grid.time == 1 and not grid.axes[0].periodic and config.in_channels == config.out_channels == 1


def field_modes(networks: Sequence[Operator], accuracy: float | None = None, least: float = 0.0) -> list[Mode]:
    """Return the modes of the mean response of networks about their state of rest, strongest first.

    networks: the members of an ensemble, or one network.
    accuracy: the relative error of the networks, by default the error in their files. A spatial mode whose response is smaller
        than this share of the whole response has no modes.
    least: modes whose contribution (see `Mode`) is below this share are left out.

    The networks respond to small forces f and −f. The forces are random signals in the band of the training inputs, on the
    first spatial modes. Half of the difference of the two responses is linear in f. Each spatial mode of this response is
    identified alone, so that modes of different shapes are never mixed.
    Raises LfnoError for networks that move without a force.
    """
    first = networks[0]
    space, time = first.grid.axes
    exact = [deepcopy(network).double().eval() for network in networks]
    error = own_error(networks, accuracy)

    def predict(inputs: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean([network.predict(inputs) for network in exact], axis=0))

    if not rests(predict, first, error):
        raise LfnoError(
            "small-signal modes of a field need a state of rest; this model moves without any force, and does not come to rest "
            f"within its window of {time.length:g} {time.unit}".rstrip()
        )
    basis = OF_BOUNDARY.get(space.boundary)
    signals = random_forces(FORCES, DRIVEN, time.size, time.step, probing_band(first)) / np.arange(1, DRIVEN + 1)[:, None]
    profiles = line_matrices(basis or "sine", DRIVEN, space)[1]
    forces = np.einsum("nkt,xk->nxt", signals, profiles)[:, None]
    size = SMALL * float(first.input_scale.max())
    answers = (predict(size * forces) - predict(-size * forces)) / (2 * size)
    return identify_field(forces, answers, first.grid, basis, accuracy=error).list_modes(least)
