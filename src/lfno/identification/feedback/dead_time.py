"""Dead times: an input acts on the system after a delay. Examples are the flow through a pipe and a conveyor belt.

A delay of d samples may contain a part of a sample: d = k + f with a whole number k and 0 ≤ f < 1. The delayed input is the
weighted mean of two samples, (1 − f) u[n − k] + f u[n − k − 1].
"""

from __future__ import annotations

import numpy as np

from lfno.data.stretches import PERIODIC, REST

#: a delay that differs from a whole number of samples by less than this number of samples counts as whole
WHOLE = 1e-6


def lags(delays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return k and f of the delays, in samples: delay = k + f with a whole number k and 0 ≤ f < 1.

    >>> whole, part = lags(np.array([3.0, 1.25]))
    >>> whole.tolist(), part.tolist()
    ([3, 1], [0.0, 0.25])
    """
    whole = np.floor(delays + WHOLE).astype(int)
    part = delays - whole
    return whole, np.where(part > WHOLE, part, 0.0)


def delayed(inputs: np.ndarray, delays: np.ndarray, start: str = REST) -> np.ndarray:
    """Return delayed inputs (…, channels, time).

    inputs: deviations from the input at rest, (…, channels, time).
    delays: delay of each channel in samples, (channels,).
    start: state at the first sample. Before this sample, the inputs are zero ("rest"), constant ("unknown"), or periodic.

    >>> delayed(np.array([[1.0, 2.0, 4.0]]), np.array([1.5]))
    array([[0. , 0.5, 1.5]])
    """
    if not np.any(delays):
        return inputs
    whole, part = lags(delays)
    found = np.empty(inputs.shape)
    for channel, (k, f) in enumerate(zip(whole.tolist(), part, strict=True)):
        own = inputs[..., channel, :]
        found[..., channel, :] = (1 - f) * _shifted(own, k, start)
        found[..., channel, :] += f * _shifted(own, k + 1, start) if f else 0.0
    return found


def longest(delays: np.ndarray) -> int:
    """Return the number of earlier samples that the delayed inputs need."""
    return int(np.ceil(np.max(delays, initial=0.0) - WHOLE))


def _shifted(values: np.ndarray, lag: int, start: str) -> np.ndarray:
    """Return values (…, time) that are delayed by a whole number of samples."""
    size = values.shape[-1]
    if start == PERIODIC:
        return np.roll(values, lag, axis=-1)
    lag = min(lag, size)
    fill = 0.0 if start == REST else values[..., :1]
    return np.concatenate([np.broadcast_to(fill, (*values.shape[:-1], lag)), values[..., : size - lag]], axis=-1)
