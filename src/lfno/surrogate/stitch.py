"""Predict a long record window by window, for models that were trained on windows and have no state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.windows import cut

#: number of windows that are predicted at once
BATCH = 64
#: largest number of samples in a window; a record that needs longer windows has a far too small time step for the model
LONGEST = 2**20

Respond = Callable[[np.ndarray, Grid], np.ndarray]
Progress = Callable[[int, int], object]  # called with (done, total)


def predict_record(
    respond: Respond, inputs: np.ndarray, grid: Grid, trained: Grid, warmup: int, progress: Progress = lambda *_: None
) -> np.ndarray:
    """Return the outputs (channels, *space, time) of a whole record at its own sampling rate.

    respond: predicts windows (batch, channels, *space, window) on a grid.
    inputs: the inputs of the record, (channels, *space, time).
    grid: the grid of the record.
    trained: the grid of the training windows. Every window has the same duration as a training window.
    warmup: the overlap of a window with the previous window, in samples of the training data.

    The prediction of the first window starts from rest. The first outputs are correct only if the system was at rest, too.
    """
    axis, own = grid.axes[-1], trained.axes[-1]
    ratio = own.step / axis.step
    length, warm = round(own.size * ratio), math.ceil(warmup * ratio)
    size = inputs.shape[-1]
    if not 8 <= length <= LONGEST or length - warm < 1:
        raise LfnoError(
            f"with a time step of {axis.step:g} {axis.unit}, a window of {own.length:g} {axis.unit} has {length} samples; "
            f"the model needs data with a {'smaller' if length < LONGEST else 'larger'} time step"
        )
    if size < length:  # pad a short record with the last value and cut the prediction at the end
        inputs = np.concatenate([inputs, np.repeat(inputs[..., -1:], length - size, -1)], -1)
    windows = cut(0, inputs.shape[-1], length, warm, from_rest=True)
    line = replace(axis, size=length, origin=0.0)
    window_grid = Grid((*grid.axes[:-1], line))
    result: np.ndarray | None = None
    batch = max(BATCH * own.size // max(own.size, length), 1)  # finer sampling makes longer windows
    progress(0, len(windows))
    for first in range(0, len(windows), batch):
        chosen = slice(first, first + batch)
        answer = respond(windows.gather(inputs, chosen), window_grid)
        if result is None:
            result = np.full((*answer.shape[1:-1], inputs.shape[-1]), np.nan, answer.dtype)
        for values, start, skip in zip(answer, windows.starts[chosen], windows.scored[chosen], strict=True):
            result[..., start + skip : start + length] = values[..., skip:]
        progress(min(first + batch, len(windows)), len(windows))
    assert result is not None
    return result[..., :size]
