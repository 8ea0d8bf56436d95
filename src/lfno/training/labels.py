"""Training samples with their labels, and the loss of a model on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from torch import Tensor

from lfno.data.dataset import Dataset
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.training.config import TrainingConfig
from lfno.training.losses import LOSSES

#: respond(x, transient) → prediction: the forward pass from rest (True) or in the periodic steady state (False)
Respond = Callable[[Tensor, bool], Tensor]


@dataclass(frozen=True)
class Samples:
    """Inputs and labels, each (sample, channel, *grid) in physical units. At least one of the two labels is given.

    x: the inputs.
    y: the response from rest.
    steady: the periodic steady state, which is the response to the same input repeated for ever.
    steady_weight: the weight of each steady label in the loss, (sample,); 0 for samples without a steady label.
    mask: 1 where the labels were measured, 0 elsewhere, in the shape of the labels. None if all labels were measured.
    weight: the factor of the loss of each sample, (sample,); None for 1. See `remainder`.
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

        The weight of a steady label is min(1, ‖steady‖ / ‖y‖). The error of a steady state that is small compared with the
        response is therefore relative to the response. A sample without a steady state has the weight 0.
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
        """Return the samples with `label − known` as their label. The label is y, or the steady state if there is no y.

        known: the prediction of a model that is fitted already, in the shape of the label.
        start: the first time step that the norms include.

        The weight of a sample is ‖label − known‖ / ‖label‖ over its measured points. The loss is then relative to the whole
        response, and a sample that the fitted model explains well has a small weight.
        """
        label = self.label
        left = label - known
        counted = np.ones(left.shape, bool) if self.mask is None else np.asarray(self.mask, bool)
        counted[..., : start if start < left.shape[-1] else 0] = False  # the trainer reports a wrong `start`
        scale = np.sqrt((label**2).mean((0, *range(2, left.ndim)), keepdims=True, where=counted))
        scale = np.where(scale > 0, scale, 1.0)
        own, whole = (
            np.linalg.norm(np.where(counted, values / scale, 0.0).reshape(len(left), -1), axis=1) for values in (left, label)
        )
        weight = own / np.maximum(whole, 1e-6 * max(float(whole.max()), 1e-30))
        return replace(self, weight=weight, **{"steady" if self.y is None else "y": left})

    @property
    def label(self) -> np.ndarray:
        """The response from rest, or the steady state of samples without one."""
        label = self.steady if self.y is None else self.y
        assert label is not None
        return label

    def __len__(self) -> int:
        return len(self.x)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the given arrays by name. A steady label without weights gets the weight 1."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.steady is not None and self.steady_weight is None:
            given["steady_weight"] = np.ones(len(self.steady))
        return {name: values for name, values in given.items() if values is not None}


def sample_losses(respond: Respond, samples: dict[str, Tensor], unit: Tensor, config: TrainingConfig) -> Tensor:
    """Return the loss of each sample, (batch,), summed over its labels.

    respond: the forward pass.
    samples: the arrays of `Samples` as tensors.
    unit: the scale of each output channel. Predictions and labels are divided by it.
    config: names the loss, and the number of `unscored` steps.

    The first `unscored` time steps of the response do not count. In the steady state they do, because it has no start. Points
    that were not measured (`mask`) do not count.
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
