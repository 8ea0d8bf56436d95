"""Bring arrays of one sample or of one channel to the shape (batch, channels, *grid)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lfno.core.checks import real_array

#: an index that removes axes of length one
Index = tuple[Any, ...]


def as_batch(inputs: Any, ndim: int, channels: tuple[int, int], like: Tensor) -> tuple[Tensor, Index]:
    """Return inputs as a tensor with batch and channel axes, and the index that removes added axes from the output.

    inputs: an array or a tensor (batch, channels, *grid). The batch or the channel axis may be missing.
    ndim: the number of axes of the grid.
    channels: the numbers of input and output channels of the model.
    like: a tensor with the dtype and the device of the result.

    An array with too few or too many axes gets no new axes. Raises LfnoError if the values are not real numbers.

    >>> x, index = as_batch([1.0, 2.0], 1, (1, 1), torch.zeros(1))
    >>> x.shape, x.numpy()[index].shape
    (torch.Size([1, 1, 2]), (2,))
    """
    array = real_array(inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else inputs, "the inputs")
    x = torch.as_tensor(array.astype(np.float64), dtype=like.dtype, device=like.device)
    taken, given = channels
    channel = (0,) if given == 1 else ()
    if x.ndim == ndim and taken == 1:
        return x[None, None], (0, *channel)
    if x.ndim == ndim + 1 and taken == 1 != x.shape[0]:
        return x[:, None], (slice(None), *channel)
    if x.ndim == ndim + 1:
        return x[None], (0,)
    return x, ()
