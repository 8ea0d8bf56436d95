"""Quantities that are measured after a fit: the range of the training inputs, errors for intervals, and overfitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.data.prepared import Prepared
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.evaluation.conformal import Calibration
from lfno.evaluation.coverage import Coverage
from lfno.evaluation.seen_inputs import SeenInputs
from lfno.surrogate.responses import responses
from lfno.training.networks import Trained

#: the range of validity is computed from at least this many training samples, or from all if there are fewer. Of many samples,
#: every second, every third, … is used
MOST_RANGED = 2000
#: smallest number of time steps in a piece of a period
SHORTEST_PIECE = 64
#: a network overfits only if its validation loss is above this multiple of its training loss
APART = 3.0
#: a network overfits only if its validation loss is above this value
FAIR = 0.05


def trust(members: list[Any], prepared: Prepared) -> dict[str, Any]:
    """Return the range of the training inputs, hashes of these inputs, and the errors from which intervals are computed.

    The result is a dictionary for the model file. Intervals are calibrated on the test samples. Validation samples chose the
    epoch and the model, so the errors on validation samples are slightly too small. Validation samples are used only if there
    are no test samples. There are no hashes for fields.
    """
    dataset, split, warm = prepared.dataset, prepared.split, prepared.warmup
    rows = split.test if len(split.test) else split.validation
    held = dataset[rows]
    prediction = np.mean([responses(member, prepared, rows) for member in members], axis=0)
    mask = None if held.mask is None else held.mask[..., warm:]
    truth, prediction = held.outputs[..., warm:], prediction[..., warm:]
    chosen = split.train[:: max(1, len(split.train) // MOST_RANGED)]
    known, grid = dataset.inputs[chosen], dataset.grid
    if dataset.provenance.get(SAMPLE_START) == PERIODIC:  # a few long periods are cut into more, nearly independent pieces
        length = max(2 * prepared.memory, SHORTEST_PIECE)
        known, truth, prediction = (in_pieces(values, length) for values in (known, truth, prediction))
        mask = None if mask is None else in_pieces(mask, length)
        grid = grid.change(grid.axes[-1].name, size=known.shape[-1])
    calibration, coverage = Calibration.of(prediction, truth, mask), Coverage.of(known, grid)
    seen = SeenInputs.of(dataset.inputs[chosen]) if dataset.grid.ndim == 1 else SeenInputs()
    return {"coverage": coverage.to_dict(), "calibration": calibration.to_dict(), "seen": seen.to_dict()}


def in_pieces(values: np.ndarray, length: int) -> np.ndarray:
    """Cut values (samples, channels, time) into pieces (samples × pieces, channels, length). A short last piece is dropped."""
    length = min(length, values.shape[-1])
    count = values.shape[-1] // length
    return np.concatenate(np.split(values[..., : count * length], count, axis=-1))


def overfitting(training: Trained) -> str:
    """Return one sentence if the networks fit their training samples far better than the validation samples; else ""."""
    history = training.trainer.history
    if not history.epoch:
        return ""
    best = [int(epoch) for epoch in training.trainer.best_epoch.tolist()]
    rows = [history.epoch.index(epoch) for epoch in best if epoch in history.epoch]
    pairs = [(history.train[row][k], history.validation[row][k]) for k, row in enumerate(rows)]
    if not pairs:
        return ""
    learned, validated = (float(np.mean([pair[k] for pair in pairs])) for k in (0, 1))
    if not (validated > APART * learned and validated > FAIR):
        return ""
    return (
        f"The network overfits: its loss is {learned:.2g} on the training samples and {validated:.2g} on the validation "
        "samples; record more data, or fit a smaller network (width=8) or the linear model."
    )
