"""Small-signal modes of a whole network: what it answers to forces so small that it is linear."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modes import linearised_modes
from lfno.models.operator import Operator

#: height of the forces over the scale of the inputs; double precision answers differences of this size to ten digits
SMALL = 1e-3
#: where a file does not tell the band of the training inputs: from one cycle per window to this many
CYCLES = 30
#: half waves along each axis of space that a force on a field has
WAVES = 4


def network_modes(model: Operator, *, operating: float = 0.0, accuracy: float | None = None, max_poles: int = 8) -> Modes:
    """Modes of a network linearised about the state that the constant input `operating` leads to, strongest first.

    The network is asked in double precision for small random forces in the band of its training inputs; `identify` then
    finds the modes behind its answers. `accuracy` is the network's own relative error, by default what its file says:
    modes explain its answers to that error and no further. A field is driven by a few half waves along each axis
    of space, and its modes are those of the whole field. `mode_list` gives them with their intervals.
    """
    if model.grid.time is None:
        raise LfnoError(f"modes need a time axis; the model has the axes {', '.join(model.grid.names)}")
    axis = model.grid.axes[-1]
    exact = deepcopy(model).double().eval()
    shapes = force_shapes(model)
    told = model.provenance.get("band")
    band = (told[0], told[1]) if told else (1 / axis.length, min(CYCLES / axis.length, 0.4 / axis.step))
    error = _accuracy(model) if accuracy is None else accuracy
    basis: np.ndarray | None = None

    def respond(forces: np.ndarray) -> np.ndarray:
        nonlocal basis
        inputs = np.tensordot(forces, shapes, axes=(1, 0))  # (batch, time, channels, *space)
        fields = np.concatenate([exact.predict(part) for part in np.array_split(np.moveaxis(inputs, 1, -1), len(forces))])
        flat = fields.reshape(len(fields), -1, fields.shape[-1])
        if model.grid.ndim == 1:
            return flat
        if basis is None:  # the few shapes that the answers are made of
            basis = _principal(flat[: len(flat) // 2] - flat[len(flat) // 2 :])
        return basis.T @ flat

    # a system whose response to nothing stays at rest is probed at once, any other after half a window
    quiet = exact.predict(np.zeros((1, model.config.in_channels, *model.grid.shape)))
    moves = np.abs(quiet).max() > max(error, 0.02) * float(model.output_scale.max())
    return linearised_modes(
        respond, Grid.line(axis.size, axis.step), band, SMALL * float(model.input_scale.max()), len(shapes),
        operating=operating, settle=0.5 if moves or operating else 0.0, accuracy=error, max_poles=max_poles,
    )  # fmt: skip


def force_shapes(model: Operator) -> np.ndarray:
    """(forces, channels, *space): one unit force for each input channel, times half waves in space where there is space."""
    space = model.grid.axes[:-1]
    waves = np.ones((1,) * len(space) + (1,))
    for d, axis in enumerate(space):
        place = (np.arange(axis.size) + (0.5 if axis.periodic else 0.0)) / (axis.size if axis.periodic else axis.size - 1)
        lines = np.sin(np.pi * np.arange(1, WAVES + 1)[:, None] * place * (2 if axis.periodic else 1))
        waves = (waves[:, None] * lines.reshape(1, WAVES, *(axis.size if e == d else 1 for e in range(len(space))), 1)).reshape(
            -1, *(space[e].size if e <= d else 1 for e in range(len(space))), 1
        )
    channels = np.eye(model.config.in_channels)
    return np.stack([np.multiply.outer(channel, wave[..., 0]) for channel in channels for wave in waves])


def _principal(answers: np.ndarray, most: int = 6) -> np.ndarray:
    """Orthonormal shapes (points, shapes) that hold all but a thousandth of the answers (batch, points, time)."""
    left, values, _ = np.linalg.svd(np.moveaxis(answers, 1, 0).reshape(answers.shape[1], -1), full_matrices=False)
    return left[:, : min(most, int((values > 1e-3 * values[0]).sum()))]


def _accuracy(model: Operator) -> float:
    """The relative L2 error that a model's file tells; 0 where it does not."""
    told: dict[str, Any] = model.provenance
    if "test_l2" in told:
        return float(told["test_l2"])
    alone = told.get("training", {}).get("loss") == "l2" and "steady" not in told.get("labels", [])
    return float(max(told.get("validation_loss") or [0.0])) if alone else 0.0
