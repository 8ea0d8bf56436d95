"""Check stretches (uninterrupted pieces of records) before a fit. Every defect has its own error message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.stretches import Stretch

#: smallest number of samples at which all outputs were measured
FEWEST = 200
#: smallest part of the mean square of the validation outputs that the best model must explain
LEAST = 0.1
#: largest difference of two identical channels, relative to their standard deviation
SAME = 1e-9


def checked(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches as a list. Raise LfnoError for wrong shapes, missing values or too few samples."""
    if not stretches:
        raise LfnoError("there are no stretches of measurement to fit")
    shapes = {(stretch.inputs.shape[:-1], stretch.outputs.shape[:-1]) for stretch in stretches}
    if len(shapes) > 1 or any(len(shape) != 1 for pair in shapes for shape in pair):
        raise LfnoError(f"all stretches need the same channels and one axis of time, not the shapes {sorted(shapes)}")
    seen = 0
    for stretch in stretches:
        mask = np.ones(stretch.outputs.shape, bool) if stretch.mask is None else stretch.mask
        if not (np.isfinite(stretch.inputs).all() and np.isfinite(stretch.outputs[mask]).all()):
            raise LfnoError(
                f"{stretch.name or 'a stretch'} contains NaN or infinite values: mask or repair these samples first"
            )
        seen += int(mask.all(0).sum())
    if seen < FEWEST:
        raise LfnoError(f"{seen} measured samples are too few for a model with feedback; {FEWEST} are needed")
    return list(stretches)


def check_signals(stretches: Sequence[Stretch]) -> None:
    """Raise LfnoError for constant or identical channels."""
    for role in ("inputs", "outputs"):
        values = np.concatenate([getattr(stretch, role) for stretch in stretches], axis=1).astype(float)
        spread = values.std(axis=1)
        for channel, size in enumerate(spread):
            if not size > 1e-12 * np.abs(values[channel]).max():
                word = "it excites nothing" if role == "inputs" else "there is nothing to explain"
                raise LfnoError(f"channel {channel + 1} of the {role} is constant: {word}; leave it out")
        for first in range(len(values)):
            for second in range(first):
                if np.abs(values[first] - values[second]).max() <= SAME * spread[first]:
                    raise LfnoError(f"channels {second + 1} and {first + 1} of the {role} are identical: leave one of them out")


def check_explained(errors: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
    """Raise LfnoError if the best model explains almost nothing of the outputs.

    errors: mean square of the residual of each validation window, (windows,).
    targets: outputs, (time, windows, outputs).
    weights: 1 where an output was measured, else 0, (time, windows, outputs).
    """
    squares = ((weights * targets) ** 2).sum((0, 2)) / np.maximum(weights.sum((0, 2)), 1)
    if not errors.mean() < (1 - LEAST) * squares.mean():
        raise LfnoError(
            "the inputs explain less than 10 % of the outputs: they excite no mode, or do not belong to these outputs; "
            "check the channels and the band of the excitation"
        )
