"""The steady response to a periodic input with a long period, computed in pieces that are simulated together.

A stable model forgets its initial state. So all pieces can be simulated at the same time. Each simulation begins with the last
samples of the previous piece, the run-in. At the borders, two simulations compute the same state. If both values agree, the
run-in is long enough.
"""

from __future__ import annotations

import numpy as np

from lfno.identification.feedback.hold import AFTER
from lfno.identification.feedback.model import FeedbackModel

#: largest number of samples of a piece without its run-in
PIECE = 1024
#: number of samples of the first run-in
RUN_IN = 256
#: largest difference of two values of the same state, relative to the largest state
AGREE = 1e-7


@np.errstate(over="ignore", invalid="ignore")  # a model may diverge
def steady_response(model: FeedbackModel, inputs: np.ndarray) -> np.ndarray:
    """Return the response (outputs, time) to a periodically repeated input (channels, time).

    The response is NaN if it does not become periodic. The run-in doubles until the pieces agree. If the run-in would be longer
    than half a period, whole periods are simulated (`FeedbackModel.steady`).
    """
    size, step = inputs.shape[-1], model.grid.steps[-1]
    count, run_in = -(-size // PIECE), RUN_IN
    while run_in <= size // 2:
        # the lengths of the pieces differ by at most one sample; the hold needs AFTER more samples behind each piece
        edges = np.linspace(0, size, count + 1).round().astype(int)
        longest = int(np.diff(edges).max())
        times = edges[:-1, None] + np.arange(-run_in, longest + 1 + AFTER)
        parts = np.moveaxis(inputs[:, times % size], 0, 1)
        states = model.states(parts, step)
        ends = states[run_in + np.diff(edges), np.arange(count)]
        gap = np.abs(np.roll(ends, 1, axis=0) - states[run_in]).max(initial=0.0)
        if gap <= AGREE * np.abs(states).max():
            answer = model.outputs(states, parts)
            whole = [answer[n, :, run_in : run_in + length] for n, length in enumerate(np.diff(edges))]
            return np.concatenate(whole, axis=-1)
        run_in *= 2
    return np.asarray(model.steady(inputs[None])[0])
