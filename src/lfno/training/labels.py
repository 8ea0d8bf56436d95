"""Training samples with their labels, and the loss of a model on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from torch import Tensor

from lfno.core.short import Short
from lfno.data.dataset import Dataset
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.training.config import TrainingConfig
from lfno.training.losses import LOSSES

#: a function respond(x, transient) → prediction. It computes the response from rest (True) or the steady state (False)
Respond = Callable[[Tensor, bool], Tensor]


@dataclass(frozen=True, repr=False)
class Samples(Short):
    """Inputs and labels of training. There are two labels, `y` and `steady`; at least one of them is given.

    x: the inputs, (sample, channel, *grid) in physical units.
    y: the response from rest, (sample, channel, *grid).
    steady: the periodic steady state, (sample, channel, *grid): the response to the same input repeated for ever.
    steady_weight: (sample,) the weight of the steady label in the loss; 0 for samples without a steady label.
    mask: shape of the labels, 1 where the labels were measured, else 0. None if all labels were measured.
    weight: (sample,) the factor of the loss of each sample; None for 1. See `remainder`.
    """

    x: np.ndarray
    y: np.ndarray | None = None
    steady: np.ndarray | None = None
    steady_weight: np.ndarray | None = None
    mask: np.ndarray | None = None
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, data: Dataset) -> Samples:
        """Return all samples of a data set, with their steady labels if the data set has them.

        The weight of a steady label is min(1, ‖steady‖ / ‖y‖). Without this weight, the relative error of a very small steady
        state would dominate the loss. A sample without a steady state has the weight 0.
        """
        if data.provenance.get(SAMPLE_START) == PERIODIC:
            return cls(data.inputs, steady=data.outputs)
        if data.steady is None:
            return cls(data.inputs, data.outputs)
        settled = data.settled
        label = np.where(settled.reshape(-1, *(1,) * (data.steady.ndim - 1)), data.steady, 0.0).astype(data.steady.dtype)
        own, response = (np.linalg.norm(values.reshape(len(data), -1), axis=1) for values in (label, data.outputs))
        weight = settled * np.minimum(1.0, own / np.maximum(response, np.finfo(np.float32).tiny))
        return cls(data.inputs, data.outputs, label, weight)

    def remainder(self, known: np.ndarray, start: int = 0) -> Samples:
        """Return the samples with the residual `label − known` as the label. The label is y, or `steady` if y is not given.

        known: the prediction of a fitted model, in the shape of the label.
        start: the first time step that the norms below include.

        A relative loss divides the error by ‖label − known‖. The weight ‖label − known‖ / ‖label‖ of each sample makes the loss
        relative to the label again. A sample that the fitted model explains well therefore has a small weight. The norms are
        over the measured points, with each channel divided by its root mean square.
        """
        label = self.label
        left = label - known
        counted = np.ones(left.shape, bool) if self.mask is None else np.asarray(self.mask, bool)
        counted[..., : start if start < left.shape[-1] else 0] = False  # the trainer reports a `start` that is too large
        scale = np.sqrt((label**2).mean((0, *range(2, left.ndim)), keepdims=True, where=counted))
        scale = np.where(scale > 0, scale, 1.0)
        own, whole = (
            np.linalg.norm(np.where(counted, values / scale, 0.0).reshape(len(left), -1), axis=1) for values in (left, label)
        )
        weight = own / np.maximum(whole, 1e-6 * max(float(whole.max()), 1e-30))
        return replace(self, weight=weight, **{"steady" if self.y is None else "y": left})

    @property
    def label(self) -> np.ndarray:
        """The label y, or the label `steady` if y is not given."""
        label = self.steady if self.y is None else self.y
        assert label is not None
        return label

    def __len__(self) -> int:
        return len(self.x)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that are given: name -> array. A steady label without weights gets the weight 1."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.steady is not None and self.steady_weight is None:
            given["steady_weight"] = np.ones(len(self.steady))
        return {name: values for name, values in given.items() if values is not None}


def sample_losses(respond: Respond, samples: dict[str, Tensor], unit: Tensor, config: TrainingConfig) -> Tensor:
    """Return the loss of each sample, (batch,): the sum of the losses of its labels, with the weights of `Samples`.

    respond: the forward pass.
    samples: the arrays of `Samples` as tensors, by name.
    unit: the scale of each output channel. Predictions and labels are divided by this scale.
    config: the loss (`loss`) and the length of the warm-up (`unscored`).

    The first `unscored` time steps of the response from rest are ignored. All time steps of the steady state are used, because
    a steady state has no beginning. Points that were not measured (`mask`) are ignored.
    """
    loss, start, parts = LOSSES[config.loss], config.unscored, []
    mask = samples.get("mask")
    if "y" in samples:
        prediction, truth = respond(samples["x"], True) / unit, samples["y"] / unit
        scored = None if mask is None else mask[..., start:]
        parts.append(loss(prediction[..., start:], truth[..., start:], scored))
    if "steady" in samples:
        prediction = respond(samples["x"], False) / unit
        parts.append(samples["steady_weight"] * loss(prediction, samples["steady"] / unit, mask))
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return total * samples["weight"] if "weight" in samples else total
