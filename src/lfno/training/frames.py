"""Training samples of a network that predicts each frame from the frame before. A frame is the field at one time.

A sample is a short piece of a trajectory: a true frame and the frames after it.
"""

from __future__ import annotations

import numpy as np

from lfno.core.errors import LfnoError
from lfno.training.labels import Samples

AHEAD = 4  # number of predicted frames in a piece; with one frame, a network does not learn to keep its own errors small


def pieces(samples: Samples) -> Samples:
    """Cut each trajectory into pieces. A piece is one given frame (the input) and the next AHEAD frames (the outputs).

    samples: trajectories. The inputs x contain the given frames as channels, oldest first, repeated along time:
        (sample, frames × channels, *space, time). The outputs are the frames after them: (sample, channels, *space, time).

    Returns samples with x and y of shape (piece, channels, *space, AHEAD); trajectories with fewer frames have shorter pieces.
    x repeats the given frame along time. If the pieces do not cover all frames, the first frames are left out. Raises LfnoError
    for samples that are not complete trajectories, and for inputs that change in time.
    """
    x, y = np.asarray(samples.x), samples.label
    if samples.y is None or samples.mask is not None or samples.weight is not None:
        raise LfnoError(
            "a marching network needs complete fields as outputs: no missing values, no steady states and no residuals"
        )
    channels = y.shape[1]
    given = x[..., :1].reshape(len(x), -1, channels, *x.shape[2:-1], 1)
    if np.ptp(x, axis=-1).any():
        raise LfnoError("a marching network is for fields without forcing, but these inputs change in time")
    frames = np.concatenate((np.moveaxis(given, 1, -1)[..., 0, :], y), -1)
    if np.array_equal(frames[..., -y.shape[-1]], frames[..., -y.shape[-1] - 1]):
        raise LfnoError("the first output frame is equal to the last input frame; remove it from the outputs")
    ahead = min(AHEAD, frames.shape[-1] - 1)
    count = (frames.shape[-1] - 1) // ahead
    first = frames.shape[-1] - 1 - count * ahead
    starts = first + ahead * np.arange(count)
    label = np.concatenate([frames[..., s + 1 : s + 1 + ahead] for s in starts])
    start = np.concatenate([frames[..., s : s + 1] for s in starts])
    return Samples(np.broadcast_to(start, label.shape), label)
