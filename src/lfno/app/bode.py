"""Measured and predicted frequency response on the test data of a run, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.curves import MOST_POINTS
from lfno.app.json_values import packed
from lfno.core.errors import LfnoError

FAINTEST = 1e-4  # smallest input power relative to its peak; at frequencies with less power there is no frequency response


def bode(signals: dict[str, np.ndarray], step: float) -> dict[str, Any] | None:
    """Return the frequency responses of the measured and of the predicted outputs, and the coherence of the measurement.

    signals: "input", "truth" and "prediction", each (samples, channels, time). The truth is NaN where it was not measured.
    step: the time step in seconds.

    Only segments without a missing value are used. Return None if the test data have too few of them, or if the inputs excite
    too few frequencies.
    """
    from lfno.identification.frequency import measure_response

    inputs, truth, prediction = (np.asarray(signals[name], np.float64) for name in ("input", "truth", "prediction"))
    places, length = whole_segments(np.logical_and.reduce(np.isfinite(truth), axis=1), inputs.shape[1])
    if not places:
        return None

    def segments(values: np.ndarray) -> np.ndarray:
        return np.stack([values[sample, :, start : start + length] for sample, start in places])

    try:
        measured = measure_response(segments(inputs), segments(truth), step, length, FAINTEST)
        model = measure_response(segments(inputs), segments(prediction), step, length, FAINTEST)
    except LfnoError:
        return None
    seen = np.flatnonzero(np.isfinite(measured.response).all((0, 1)))
    keep = slice(1, min(seen[-1] + 1 if len(seen) else 0, MOST_POINTS))  # a logarithmic axis has no place for 0 Hz
    if keep.stop - 1 < 4:
        return None
    return {
        "frequency": packed(measured.frequencies[keep], double=True),
        "coherence": packed(measured.coherence[:, keep]),
        "measured": _polar(measured.response[..., keep]),
        "model": _polar(model.response[..., keep]),
    }


def whole_segments(known: np.ndarray, inputs: int) -> tuple[list[tuple[int, int]], int]:
    """Return (sample, first time step) of each segment without a missing value, and the common length of the segments.

    known: (samples, time), True where all outputs were measured.
    inputs: the number of inputs.

    Segments overlap by half. The length begins with the value of `lfno.plots.bode.segment_length`. It is reduced by 10 % again
    and again, until there are AVERAGES segments for each input. The list is empty if this needs fewer than 16 time steps.

    >>> whole_segments(np.arange(100)[None] != 40, inputs=1)
    ([(0, 0), (0, 13), (0, 41), (0, 54), (0, 67)], 26)
    """
    from lfno.plots.bode import AVERAGES, segment_length

    stretches = []
    for sample, row in enumerate(known):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
        stretches += [(sample, int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
    length = segment_length(len(known), inputs, known.shape[1])
    while length >= 16:
        places = [(k, n) for k, start, stop in stretches for n in range(start, stop - length + 1, length // 2)]
        if len(places) >= AVERAGES * inputs:
            return places, length
        length = length * 9 // 10
    return [], 0


def _polar(response: np.ndarray) -> dict[str, Any]:
    """Return magnitude and unwrapped phase (degrees) of a response (outputs, inputs, frequencies)."""
    phase = np.full(response.shape, np.nan)
    for index in np.ndindex(response.shape[:2]):
        seen = np.isfinite(response[index])
        phase[index][seen] = np.degrees(np.unwrap(np.angle(response[index][seen])))
    return {"magnitude": packed(np.abs(response)), "phase": packed(phase)}
