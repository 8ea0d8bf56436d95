"""Stretches of unequal length and start as arrays of one shape, for models that are fitted to arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch

#: initial states that are estimated; each one costs as many columns as there are poles
MOST_MOVING = 4
#: samples of which an initial state is worth its columns; in longer records a warm-up costs next to nothing
MOST_SAMPLES = 200_000
#: samples after a pulse that a spline through it disturbs: its influence falls as 0.27^n
DISTURBED = 16


@dataclass(frozen=True)
class Stacked:
    """Signals (stretches, channels, time), each answered from rest.

    mask: True where an output was measured and counts; None if all of them do after the first `warmup` samples.
    moving: numbers of the stretches whose initial state is estimated.
    """

    inputs: np.ndarray
    outputs: np.ndarray
    mask: np.ndarray | None
    warmup: int
    moving: tuple[int, ...] = ()

    def with_pulses(self, inputs: np.ndarray) -> np.ndarray:
        """Return the inputs with one more channel for each moving stretch: a pulse at its first sample.

        The free motion from any initial state is Re Σ_n c_n e^{μ_n t}: the response of the poles to a pulse. So the residues
        of the pulse are the initial state.
        """
        if not self.moving:
            return inputs
        pulses = np.zeros((len(inputs), len(self.moving), inputs.shape[-1]))
        pulses[list(self.moving), np.arange(len(self.moving)), 0] = 1.0
        return np.concatenate([inputs, pulses], axis=1)


def with_states(stretches: Sequence[Stretch], warmup: int, memory: int, most: int) -> Stacked:
    """Return the stretches as `stack_stretches` does; where few of them start in motion, their states are estimated.

    Then only the samples that a pulse itself disturbs do not count: a warm-up need not be as long as the memory of the system,
    which is hard to measure. memory: samples for which a period is repeated before it counts.
    """
    moving = tuple(k for k, stretch in enumerate(stretches) if stretch.start == UNKNOWN)
    periodic = any(stretch.start == PERIODIC for stretch in stretches)
    if periodic:  # a period is repeated until its start is forgotten
        return stack_stretches(stretches, max(warmup, memory), most)
    if not 0 < len(moving) <= MOST_MOVING or sum(map(len, stretches)) > MOST_SAMPLES:
        return stack_stretches(stretches, warmup, most)
    stacked = stack_stretches(stretches, min(warmup, DISTURBED), most)
    return replace(stacked, moving=tuple(k for k in moving if k < len(stacked.inputs)))


def stack_stretches(stretches: Sequence[Stretch], warmup: int, most: int) -> Stacked:
    """Return the stretches as arrays of one shape.

    A stretch of unknown initial state warms up: its first `warmup` samples are fed and do not count. A period of a steady
    state is repeated before it counts, until the warm-up is over. Shorter stretches are padded at their end with zeros that
    do not count. Stretches are taken, and the last one is cut, until there are `most` samples.

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
    """Return inputs, outputs and mask of a stretch; the mask is False where the warm-up is not over."""
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
    return np.concatenate([values, np.zeros((*values.shape[:-1], size - values.shape[-1]), values.dtype)], -1)
