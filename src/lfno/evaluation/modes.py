"""Small-signal modes of a whole network: what it answers to forces so small that it is linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.evaluation.truth import trained_band
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.identification.modes import linearised_modes
from lfno.models.operator import Operator

#: height of the forces over the scale of the inputs; double precision answers differences of this size to ten digits
SMALL = 1e-3
#: where a file does not tell the band of the training inputs: from one cycle per window to this many
CYCLES = 30
#: an answer to no input below this part of the scale of the outputs is called rest
AT_REST = 0.02
#: half waves along each axis of space that a force on a field has
WAVES = 4


def network_modes(
    networks: Operator | Sequence[Operator],
    *,
    linear: ModalModel | None = None,
    operating: float = 0.0,
    accuracy: float | None = None,
    max_poles: int = 8,
) -> Modes:
    """Modes of a network linearised about the state that the constant input `operating` leads to, strongest first.

    The network is asked in double precision for small random forces in the band of its training inputs; `identify` then
    finds the modes behind its answers. `accuracy` is the network's own relative error, by default what its file says:
    modes explain its answers to that error and no further, and their covariance counts it as noise. An ensemble gives
    the modes of its mean answer, and the scatter of its members is added to the covariance. A field is driven by a few
    half waves along each axis of space, and its modes are those of the whole field. `linear` is a linear model whose
    answer the networks add to.
    """
    members = [networks] if isinstance(networks, Operator) else list(networks)
    together = _modes(members, linear, operating, accuracy, max_poles)
    if len(members) == 1 or not len(together.poles):
        return together
    alone = [_modes([member], linear, operating, accuracy, max_poles) for member in members]
    extra = np.zeros_like(together.covariance)
    for n, pole in enumerate(together.poles):
        near = np.array([one.poles[np.abs(one.poles - pole).argmin()] for one in alone if len(one.poles)])
        extra[n] = np.cov(np.stack([near.real, near.imag])) if len(near) > 1 else 0.0
    return replace(together, covariance=together.covariance + extra)


def _modes(
    members: list[Operator], linear: ModalModel | None, operating: float, accuracy: float | None, max_poles: int
) -> Modes:
    """The modes of the mean answer of the members."""
    first = members[0]
    if first.grid.time is None:
        raise LfnoError(f"modes need a time axis; the model has the axes {', '.join(first.grid.names)}")
    axis = first.grid.axes[-1]
    exact = [deepcopy(member).double().eval() for member in members]
    shapes = force_shapes(first)
    band, error = probing_band(first), own_error(members, accuracy)
    basis: np.ndarray | None = None

    def predict(inputs: np.ndarray) -> np.ndarray:
        mean = np.mean([member.predict(inputs) for member in exact], axis=0)
        return mean if linear is None else mean + linear.predict(inputs)

    def respond(forces: np.ndarray) -> np.ndarray:
        nonlocal basis
        inputs = np.moveaxis(np.tensordot(forces, shapes, axes=(1, 0)), 1, -1)  # (batch, channels, *space, time)
        fields = predict(inputs)
        flat = fields.reshape(len(fields), -1, fields.shape[-1])
        if first.grid.ndim == 1:
            return flat
        if basis is None:  # the few shapes that the answers are made of
            basis = _principal(flat[: len(flat) // 2] - flat[len(flat) // 2 :])
        return basis.T @ flat

    # a system whose answer to nothing stays at rest is probed at once, any other after half a window
    moves = not rests(predict, first, error)
    return linearised_modes(
        respond, Grid.line(axis.size, axis.step), band, SMALL * float(first.input_scale.max()), len(shapes),
        operating=operating, settle=0.5 if moves or operating else 0.0, accuracy=error, max_poles=max_poles,
    )  # fmt: skip


def force_shapes(model: Operator) -> np.ndarray:
    """(forces, channels, *space): one unit force for each input channel, times half waves in space where there is space."""
    space = model.grid.axes[:-1]
    waves = np.ones((1, *(1 for _ in space)))
    for d, axis in enumerate(space):
        # between two ends: half waves that are zero there; around a period: whole waves
        place = (np.arange(axis.size) + 0.5) / axis.size if axis.periodic else np.arange(axis.size) / (axis.size - 1)
        lines = np.sin((2 if axis.periodic else 1) * np.pi * np.arange(1, WAVES + 1)[:, None] * place)
        shape = [axis.size if e == d else 1 for e in range(len(space))]
        product = waves[:, None] * lines.reshape(1, WAVES, *shape)
        waves = product.reshape(-1, *product.shape[2:])
    channels = np.eye(model.config.in_channels)
    return np.stack([np.multiply.outer(channel, wave) for channel in channels for wave in waves])


def _principal(answers: np.ndarray, most: int = 6) -> np.ndarray:
    """Orthonormal shapes (points, shapes) that hold all but a thousandth of the answers (batch, points, time)."""
    left, values, _ = np.linalg.svd(np.moveaxis(answers, 1, 0).reshape(answers.shape[1], -1), full_matrices=False)
    return left[:, : min(most, int((values > 1e-3 * values[0]).sum()))]


def probing_band(model: Operator) -> tuple[float, float]:
    """The band in Hz in which a model is asked: that of its training inputs, as far as its samples show it."""
    axis = model.grid.axes[-1]
    low, high = trained_band(model.provenance) or (1 / axis.length, CYCLES / axis.length)
    return low, max(min(high, 0.4 / axis.step), 1 / axis.length)


def own_error(members: Sequence[Operator], accuracy: float | None) -> float:
    """The relative L2 error of the worst member, or the one that is given."""
    return max(_accuracy(member) for member in members) if accuracy is None else accuracy


def rests(predict: Callable[[np.ndarray], np.ndarray], model: Operator, error: float) -> bool:
    """Whether the answer to no input stays near zero."""
    quiet = predict(np.zeros((1, model.config.in_channels, *model.grid.shape)))
    return bool(np.abs(quiet).max() <= max(error, AT_REST) * float(model.output_scale.max()))


def _accuracy(model: Operator) -> float:
    """The relative L2 error that a model's file tells; 0 where it does not."""
    told: dict[str, Any] = model.provenance
    if "test_l2" in told:
        return float(told["test_l2"])
    alone = told.get("training", {}).get("loss") == "l2" and "steady" not in told.get("labels", [])
    return float(max(told.get("validation_loss") or [0.0])) if alone else 0.0
