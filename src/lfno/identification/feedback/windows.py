"""Cut stretches into windows. All windows form one batch and are simulated together.

A stretch is an uninterrupted piece of a record (`lfno.data.stretches.Stretch`). A hold is the interpolation of the input
between samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from lfno.core.short import Short
from lfno.data.stretches import PERIODIC, REST, UNKNOWN, Stretch
from lfno.identification.feedback.dead_time import delayed, longest
from lfno.identification.feedback.hold import AFTER, BEFORE, continued, pieces

#: length, in samples, of a window that is cut from a longer stretch
LENGTH = 1000
#: smallest length of a window in samples; a whole stretch may be shorter
SHORTEST = 64


@dataclass(frozen=True)
class Scales:
    """Units in which signals and times are of order one: value = offset + scale × scaled value, t = time × scaled time."""

    input_offset: np.ndarray
    input_scale: np.ndarray
    output_offset: np.ndarray
    output_scale: np.ndarray
    time: float


@dataclass(frozen=True, repr=False)
class Windows(Short):
    """A batch of windows in units of order one.

    inputs: (time, windows, channels).
    targets: outputs, (time, windows, outputs).
    weights: 0 where an output was not measured, else 1, (time, windows, outputs).
    past: the two input samples before the first sample, (2, windows, channels).
    ahead: the two input samples after the last sample, (2, windows, channels).
    rest: whether a window starts at rest, (windows,).
    cyclic: whether a window is one period of a steady state, (windows,). The first sample of a period is repeated at its end.
    ends: index of the last sample of each window, (windows,).
    step: sampling step in units of `Scales.time`.
    hold: interpolation of the input between samples.
    """

    inputs: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    past: np.ndarray
    ahead: np.ndarray
    rest: np.ndarray
    cyclic: np.ndarray
    ends: np.ndarray
    step: float
    hold: str

    def __len__(self) -> int:
        return self.inputs.shape[1]

    @property
    def samples(self) -> int:
        """Return the number of samples at which at least one output was measured."""
        return int(self.weights.any(axis=2).sum())

    @cached_property
    def pieces(self) -> np.ndarray:
        """Return the inputs as polynomials in time, (time − 1, windows, channels, powers), lowest power first."""
        whole = np.moveaxis(np.concatenate([self.past, self.inputs, self.ahead]), 0, -1)
        return np.moveaxis(pieces(whole, self.step, self.hold)[:, :, BEFORE:-AFTER], 2, 0)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> Windows:
        """Return the same windows with other inputs. The function maps inputs (…, channels) to inputs (…, new channels)."""
        return replace(self, inputs=function(self.inputs), past=function(self.past), ahead=function(self.ahead))

    def held(self, hold: str) -> Windows:
        """Return the same windows with another hold of the input."""
        return replace(self, hold=hold)

    def chosen(self, rows: np.ndarray) -> Windows:
        """Return the windows with the indices `rows`."""
        return replace(
            self, inputs=self.inputs[:, rows], targets=self.targets[:, rows], weights=self.weights[:, rows],
            past=self.past[:, rows], ahead=self.ahead[:, rows], rest=self.rest[rows], cyclic=self.cyclic[rows],
            ends=self.ends[rows],
        )  # fmt: skip

    def until(self, size: int) -> Windows:
        """Return the first `size` samples of every window. If a window is a period, all windows stay whole."""
        if self.cyclic.any() or size >= len(self.inputs):
            return self
        ends, ahead = np.minimum(self.ends, size - 1), np.concatenate([self.inputs, self.ahead])[size : size + AFTER]
        return replace(
            self, inputs=self.inputs[:size], ahead=ahead, targets=self.targets[:size], weights=self.weights[:size], ends=ends
        )  # fmt: skip


def cut(
    stretches: Sequence[Stretch], step: float, scales: Scales, hold: str, length: int = LENGTH,
    delays: np.ndarray | None = None,
) -> Windows:  # fmt: skip
    """Return the windows of about `length` samples, in units of order one.

    Periods of a steady state, and stretches up to 2 × `length` samples, stay whole.

    step: sampling step in seconds.
    delays: dead time of each input in samples, (inputs,). If the inputs before the first sample are unknown,
        outputs that depend on them have the weight zero.
    """
    parts, delays = [], np.zeros(len(scales.input_scale)) if delays is None else delays
    for stretch in stretches:
        size = len(stretch)
        force = (stretch.inputs - scales.input_offset[:, None]) / scales.input_scale[:, None]
        force = delayed(force, delays, stretch.start).T
        motion = ((stretch.outputs - scales.output_offset[:, None]) / scales.output_scale[:, None]).T
        seen = np.ones(motion.shape) if stretch.mask is None else stretch.mask.T.astype(float)
        seen[: longest(delays)] *= stretch.start != UNKNOWN
        if stretch.start == PERIODIC:
            wrapped = np.concatenate([force, force[: 1 + AFTER]])
            parts.append((wrapped, np.concatenate([motion, motion[:1]]), np.concatenate([seen, 0 * seen[:1]]),
                          force[-BEFORE:], False, True))  # fmt: skip
            continue
        known = continued(force.T).T
        count = 1 if size <= 2 * length else -(-size // length)
        edges = np.linspace(0, size, count + 1).round().astype(int)
        for begin, end in pairwise(edges.tolist()):
            # neighbouring windows share one sample, so that every interval between samples belongs to a window
            end = min(end + 1, size)
            if end - begin < SHORTEST and count > 1:
                continue
            parts.append((known[begin + BEFORE : end + BEFORE + AFTER], motion[begin:end], seen[begin:end],
                          known[begin : begin + BEFORE], stretch.start == REST and begin == 0, False))  # fmt: skip
    most = max(len(part[1]) for part in parts)

    def padded(values: np.ndarray, fill: float | None = None, size: int = most) -> np.ndarray:
        more = size - len(values)
        tail = np.repeat(values[-1:], more, axis=0) if fill is None else np.full((more, values.shape[1]), fill)
        return np.concatenate([values, tail])

    columns = list(zip(*parts, strict=True))
    weights = np.stack([padded(value, 0.0) for value in columns[2]], axis=1)
    targets = np.stack([padded(value) for value in columns[1]], axis=1)
    # each part has AFTER more inputs than outputs
    inputs = np.stack([padded(value, size=most + AFTER) for value in columns[0]], axis=1)
    return Windows(
        inputs[:most], np.where(weights > 0, targets, 0.0), weights, np.stack(columns[3], axis=1), inputs[most:],
        np.array(columns[4]), np.array(columns[5]), np.array([len(value) - 1 for value in columns[1]]),
        step / scales.time, hold,
    )  # fmt: skip
