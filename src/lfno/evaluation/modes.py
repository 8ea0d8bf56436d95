"""Small-signal modes of a network: modes of its responses to forces that are so small that the network behaves linearly."""

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

SMALL = 1e-3  # share of the scale of the inputs: size of the forces; in double precision, their responses have ten digits
CYCLES = 30  # cycles per window: highest frequency of the forces if the model file does not state the band of the inputs
AT_REST = 0.02  # share of the scale of the outputs: at rest, the response to zero input is smaller
WAVES = 4  # half waves along each axis of space, for forces on a field


def network_modes(
    networks: Operator | Sequence[Operator],
    *,
    linear: ModalModel | None = None,
    operating: float = 0.0,
    accuracy: float | None = None,
    max_poles: int = 8,
) -> Modes:
    """Return the modes of a network linearised about its response to a constant input, strongest first.

    networks: a network, or the members of an ensemble. The modes of an ensemble are the modes of its mean response. Their
        covariance includes the scatter of the modes of the members.
    linear: a linear model whose prediction the networks correct; None if the networks predict alone.
    operating: the constant input.
    accuracy: the relative error of the network, by default the error in its file. The identified modes explain the responses up
        to this error, and their covariance includes it as noise.
    max_poles: the largest number of poles.

    The network responds, in double precision, to small random forces in the band of its training inputs. `identify` then finds
    the modes of these responses. For a field, the forces are a few half waves along each axis of space.
    Raises LfnoError for a model without a time axis.
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
    """Return the modes of the mean response of the members."""
    first = members[0]
    if first.grid.time is None:
        raise LfnoError(f"modes need a time axis; the model has the axes {', '.join(first.grid.names)}")
    axis = first.grid.axes[-1]
    exact = [deepcopy(member).double().eval() for member in members]
    shapes = force_shapes(first)
    band, error = probing_band(first), own_error(members, accuracy)
    basis: np.ndarray | None = None

    def predict(inputs: np.ndarray) -> np.ndarray:
        """Return the mean prediction of the members, plus the prediction of the linear model."""
        mean = np.mean([member.predict(inputs) for member in exact], axis=0)
        return mean if linear is None else mean + linear.predict(inputs)

    def respond(forces: np.ndarray) -> np.ndarray:
        """Return the responses (batch, outputs, time) to forces (batch, shapes, time)."""
        nonlocal basis
        inputs = np.moveaxis(np.tensordot(forces, shapes, axes=(1, 0)), 1, -1)  # (batch, channels, *space, time)
        fields = predict(inputs)
        flat = fields.reshape(len(fields), -1, fields.shape[-1])
        if first.grid.ndim == 1:
            return flat
        if basis is None:  # reduce the responses to a few principal shapes
            basis = _principal(flat[: len(flat) // 2] - flat[len(flat) // 2 :])
        return basis.T @ flat

    # if the system is not at rest at first, the forces begin in the middle of the window
    moves = not rests(predict, first, error)
    return linearised_modes(
        respond, Grid.line(axis.size, axis.step), band, SMALL * float(first.input_scale.max()), len(shapes),
        operating=operating, settle=0.5 if moves or operating else 0.0, accuracy=error, max_poles=max_poles,
    )  # fmt: skip


def force_shapes(model: Operator) -> np.ndarray:
    """Return shapes of unit forces, (forces, channels, *space).

    There is one force for each input channel. For fields, there is one for each channel and each product of half waves.
    """
    space = model.grid.axes[:-1]
    waves = np.ones((1, *(1 for _ in space)))
    for d, axis in enumerate(space):
        # half waves vanish at both ends of an axis; periodic axes have whole waves
        place = (np.arange(axis.size) + 0.5) / axis.size if axis.periodic else np.arange(axis.size) / (axis.size - 1)
        lines = np.sin((2 if axis.periodic else 1) * np.pi * np.arange(1, WAVES + 1)[:, None] * place)
        shape = [axis.size if e == d else 1 for e in range(len(space))]
        product = waves[:, None] * lines.reshape(1, WAVES, *shape)
        waves = product.reshape(-1, *product.shape[2:])
    channels = np.eye(model.config.in_channels)
    return np.stack([np.multiply.outer(channel, wave) for channel in channels for wave in waves])


def _principal(answers: np.ndarray, most: int = 6) -> np.ndarray:
    """Return the principal orthonormal shapes of responses (batch, points, time) as an array (points, shapes).

    Shapes whose singular value is below 0.1 % of the largest are left out. There are at most `most` shapes.
    """
    left, values, _ = np.linalg.svd(np.moveaxis(answers, 1, 0).reshape(answers.shape[1], -1), full_matrices=False)
    return left[:, : min(most, int((values > 1e-3 * values[0]).sum()))]


def probing_band(model: Operator) -> tuple[float, float]:
    """Return (lowest, highest) frequency of the forces in Hz: the band of the training inputs, up to 0.4 × sampling rate.

    If the band is not known, it goes from one cycle to CYCLES cycles per window.
    """
    axis = model.grid.axes[-1]
    low, high = trained_band(model.provenance) or (1 / axis.length, CYCLES / axis.length)
    return low, max(min(high, 0.4 / axis.step), 1 / axis.length)


def own_error(members: Sequence[Operator], accuracy: float | None) -> float:
    """Return `accuracy`; if it is None, the largest relative L2 error in the files of the members."""
    return max(_accuracy(member) for member in members) if accuracy is None else accuracy


def rests(predict: Callable[[np.ndarray], np.ndarray], model: Operator, error: float) -> bool:
    """Return whether the response to zero input stays near zero.

    error: relative error of the model; a smaller response may be such an error.
    """
    quiet = predict(np.zeros((1, model.config.in_channels, *model.grid.shape)))
    return bool(np.abs(quiet).max() <= max(error, AT_REST) * float(model.output_scale.max()))


def _accuracy(model: Operator) -> float:
    """Return the test error in the file of a model, or else its validation loss if this loss is a relative L2 error.

    The result is 0 if the file has neither.
    """
    told: dict[str, Any] = model.provenance
    if "test_l2" in told:
        return float(told["test_l2"])
    alone = told.get("training", {}).get("loss") == "l2" and "steady" not in told.get("labels", [])
    return float(max(told.get("validation_loss") or [0.0])) if alone else 0.0
