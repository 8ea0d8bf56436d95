"""Pack signals for a plot on the page. A long signal is reduced to the lowest and highest values of short pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.json_values import packed
from lfno.core.grid import Grid

MOST_POINTS = 4096  # largest number of points of a curve on the page


def curves(
    grid: Grid, signals: dict[str, np.ndarray], masks: dict[str, np.ndarray | None] | None = None
) -> dict[str, Any]:
    """Return packed signals with their time points "t" and their axes. "axes" is None for a signal that was reduced.

    Args:
        grid: The grid of the signals.
        signals: Name -> signal, (channels, *grid).
        masks: Name -> mask, True where the signal was measured. Other values become NaN, which is a gap in the plot.
    """
    time = grid.axes[-1].points
    for name, mask in (masks or {}).items():
        if mask is not None:
            signals[name] = np.where(mask, signals[name], np.nan)
    if grid.ndim == 1 and len(time) > MOST_POINTS:
        width = -(-2 * len(time) // MOST_POINTS)
        count = -(-len(time) // width)
        places = (width * np.arange(count)[:, None] + [0, width // 2]).ravel()
        kept = time[np.minimum(places, len(time) - 1)]
        signals = {name: _envelope(values, count, width) for name, values in signals.items()}
        return {"t": packed(kept, double=True), "axes": None, **{name: packed(values) for name, values in signals.items()}}
    axes = grid.to_dict()["axes"]
    return {"t": packed(time, double=True), "axes": axes, **{name: packed(values) for name, values in signals.items()}}


def _envelope(values: np.ndarray, count: int, width: int) -> np.ndarray:
    """Return the lowest and the highest value of every `width` samples, or NaN if none of them was measured.

    values: (..., time). The result is (..., 2 × count). No peak is lost: the last piece may have fewer samples than `width`.
    """
    rest = np.full((*values.shape[:-1], count * width - values.shape[-1]), np.nan)
    parts = np.concatenate([values, rest], -1).reshape(*values.shape[:-1], count, width)
    missing = np.isnan(parts)
    low = np.where(missing, np.inf, parts).min(-1)
    high = np.where(missing, -np.inf, parts).max(-1)
    low, high = (np.where(missing.all(-1), np.nan, one) for one in (low, high))
    return np.stack([low, high], -1).reshape(*values.shape[:-1], 2 * count)
