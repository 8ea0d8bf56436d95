"""Training samples of a network that goes from frame to frame: short pieces of each trajectory, each from a true frame."""

from __future__ import annotations

import numpy as np

from lfno.core.errors import LfnoError
from lfno.training.labels import Samples

AHEAD = 4  # frames of a piece. With one frame, a network does not learn to keep its own errors small


def pieces(samples: Samples) -> Samples:
    """Cut every trajectory into pieces of a given frame and the next `AHEAD` ones. Frames left over are the first ones.

    samples: the inputs x are the frames before the outputs y, oldest first: (sample, frames × channels, *space, time).

    The inputs of the pieces have the channels of one frame. Raises LfnoError for samples that are not trajectories.
    """
    x, y = np.asarray(samples.x), samples.label
    if samples.y is None or samples.mask is not None or samples.weight is not None:
        raise LfnoError("a marching network needs complete fields from the start; values are missing, or only a part is known")
    channels = y.shape[1]
    given = x[..., :1].reshape(len(x), -1, channels, *x.shape[2:-1], 1)
    if np.ptp(x, axis=-1).any():
        raise LfnoError("a marching network is for fields that evolve by themselves; these inputs change along time")
    frames = np.concatenate((np.moveaxis(given, 1, -1)[..., 0, :], y), -1)
    if np.array_equal(frames[..., -y.shape[-1]], frames[..., -y.shape[-1] - 1]):
        raise LfnoError("the first frame of the outputs is the frame that is given; remove it from the outputs")
    ahead = min(AHEAD, frames.shape[-1] - 1)
    count = (frames.shape[-1] - 1) // ahead
    first = frames.shape[-1] - 1 - count * ahead
    starts = first + ahead * np.arange(count)
    label = np.concatenate([frames[..., s + 1 : s + 1 + ahead] for s in starts])
    start = np.concatenate([frames[..., s : s + 1] for s in starts])
    return Samples(np.broadcast_to(start, label.shape), label)
