"""Put stretches of unequal length and initial state into arrays of one shape, for models that are fitted to arrays.

A stretch is an uninterrupted piece of a record (`lfno.data.stretches.Stretch`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.short import Short
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch

#: largest number of stretches with an estimated initial state. Each of them adds columns to the regression: one for each decay,
#: two for each oscillation, and one for a direct term
MOST_MOVING = 4
#: largest number of samples for which initial states are estimated; in a longer record a warm-up is a small part of the data
MOST_SAMPLES = 200_000
#: number of samples after a pulse until the interpolated input is nearly zero. A cubic spline through a pulse oscillates, and
#: the oscillation falls by the factor 0.27 from sample to sample.
DISTURBED = 16


@dataclass(frozen=True, repr=False)
class Stacked(Short):
    """Stretches as arrays (stretches, channels, time). A model simulates each stretch from rest.

    mask: True where an output was measured and counts in the error; None if all outputs after the warm-up count.
    warmup: number of first samples that do not count in the error.
    moving: indices of the stretches with an estimated initial state.
    """

    inputs: np.ndarray
    outputs: np.ndarray
    mask: np.ndarray | None
    warmup: int
    moving: tuple[int, ...] = ()

    def with_pulses(self, inputs: np.ndarray) -> np.ndarray:
        """Return the inputs with one more channel for each stretch in `moving`. The channel is a pulse at the first sample.

        The free motion from any initial state is Re Σ_n c_n e^{μ_n t} with some coefficients c_n. The response of the poles to
        a pulse has the same form. So the residues of the pulse channel represent the initial state.
        """
        if not self.moving:
            return inputs
        pulses = np.zeros((len(inputs), len(self.moving), inputs.shape[-1]))
        pulses[list(self.moving), np.arange(len(self.moving)), 0] = 1.0
        return np.concatenate([inputs, pulses], axis=1)


def with_states(stretches: Sequence[Stretch], warmup: int, memory: int, most: int) -> Stacked:
    """Return the stretches as arrays. If few stretches start in motion, mark them for an estimate of their initial states.

    Without an estimate, a warm-up as long as the memory of the system is needed, and this memory is hard to measure. With an
    estimate from pulses (`Stacked.with_pulses`), the warm-up has at most DISTURBED samples. After these samples, the response
    to a pulse is a free motion.

    warmup: number of first samples of a stretch in motion that do not count in the error.
    memory: smallest number of samples that are simulated before the scored period of a periodic stretch.
    most: largest number of samples in all.
    """
    moving = tuple(k for k, stretch in enumerate(stretches) if stretch.start == UNKNOWN)
    periodic = any(stretch.start == PERIODIC for stretch in stretches)
    if periodic:  # repeat a period until the system has forgotten the initial state
        return stack_stretches(stretches, max(warmup, memory), most)
    if not 0 < len(moving) <= MOST_MOVING or sum(map(len, stretches)) > MOST_SAMPLES:
        return stack_stretches(stretches, warmup, most)
    stacked = stack_stretches(stretches, min(warmup, DISTURBED), most)
    return replace(stacked, moving=tuple(k for k in moving if k < len(stacked.inputs)))


def stack_stretches(stretches: Sequence[Stretch], warmup: int, most: int) -> Stacked:
    """Return the stretches as arrays of one shape.

    - The first `warmup` samples of a stretch with unknown initial state do not count in the error.
    - A period of a steady state is repeated; only the last repetition counts.
    - Shorter stretches are padded at the end with zeros, which do not count.
    - The stretches have at most `most` samples in all: the last stretch is cut, and further stretches are left out. A period is
      not cut. Repetitions and padding are not counted.

    >>> one, two = Stretch(np.ones((1, 5)), np.ones((1, 5)), start="rest"), Stretch(np.ones((1, 3)), np.ones((1, 3)))
    >>> stack_stretches([one, two], 1, 100).mask.astype(int).tolist()
    [[[1, 1, 1, 1, 1]], [[0, 1, 1, 0, 0]]]
    """
    if not stretches:
        raise LfnoError("there is nothing to fit: no part of the data is for training")
    pieces, left = [], most
    for stretch in stretches:
        if left <= 0:
            break
        size = min(len(stretch), left) if stretch.start != PERIODIC else len(stretch)
        left -= size
        pieces.append(_piece(stretch, size, warmup))
    if len(pieces) == 1 and stretches[0].start == UNKNOWN and stretches[0].mask is None:
        return Stacked(pieces[0][0][None], pieces[0][1][None], None, warmup)
    longest = max(piece[0].shape[-1] for piece in pieces)
    inputs, outputs, mask = (np.stack([_padded(piece[k], longest) for piece in pieces]) for k in range(3))
    return Stacked(inputs, outputs, None if mask.all() else mask, 0)


def _piece(stretch: Stretch, size: int, warmup: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, outputs and mask of the first `size` samples of a stretch. The mask is False during the warm-up.

    A period of a steady state is repeated, and the mask is False before the last repetition.
    """
    inputs, outputs = (np.asarray(values[..., :size], dtype=np.float64) for values in (stretch.inputs, stretch.outputs))
    mask = np.ones(outputs.shape, bool) if stretch.mask is None else np.array(stretch.mask[..., :size])
    unscored = 0 if stretch.start == REST else warmup
    if stretch.start == PERIODIC:
        periods = math.ceil(warmup / size) + 1
        inputs, outputs, mask = (np.tile(values, periods) for values in (inputs, outputs, mask))
        unscored = (periods - 1) * size
    mask[..., :unscored] = False
    return inputs, outputs, mask


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    """Return values (…, time) with zeros at the end, (…, size)."""
    return np.concatenate([values, np.zeros((*values.shape[:-1], size - values.shape[-1]), values.dtype)], -1)
