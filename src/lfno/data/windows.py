"""One long record as many windows, and back.

Inside a record the system does not start from rest, so the beginning of a window cannot be predicted from the window
alone. Each window therefore has a warm-up part that is fed to the model and not scored, and windows overlap by it:
every sample after the first warm-up is scored exactly once.

    window 0   |~~~~~======|
    window 1         |~~~~~======|          ~ warm-up, = scored
    window 2            |~~~~~~~~~~===|     the last one ends with the record and warms up for longer
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.data.split import Split


@dataclass(frozen=True, eq=False)
class Windows:
    """`starts[k]` is where window k begins in the record, `scored[k]` how many of its first samples are not scored."""

    starts: np.ndarray
    scored: np.ndarray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def mask(self) -> np.ndarray:
        """(window, time): True where a sample is scored."""
        return np.arange(self.length) >= self.scored[:, None]

    def gather(self, values: np.ndarray, chosen: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Windows (window, channel, *space, length) of a record's array (channel, *space, time), all or some."""
        return np.stack([values[..., start : start + self.length] for start in self.starts[chosen]])

    def stitch(self, predictions: np.ndarray, size: int) -> np.ndarray:
        """The scored parts of (window, channel, *space, length) in their places in a record of `size` samples.

        Where nothing was scored, in the first warm-up and outside the range that was cut, the record holds NaN.
        """
        if predictions.ndim < 2 or predictions.shape[0] != len(self) or predictions.shape[-1] != self.length:
            raise LfnoError(
                f"predictions of shape {predictions.shape} do not fit {len(self)} windows of {self.length} samples"
            )
        record = np.full((*predictions.shape[1:-1], size), np.nan, dtype=np.result_type(predictions.dtype, np.float32))
        for window, start, first in zip(predictions, self.starts, self.scored, strict=True):
            record[..., start + first : start + self.length] = window[..., first:]
        return record


def cut(start: int, stop: int, length: int, warmup: int, from_rest: bool = False) -> Windows:
    """Windows of `length` samples inside [start, stop), the first `warmup` of each not scored.

    The last window is moved back to end at `stop` and warms up for as long as it overlaps, so nothing is scored twice.
    `from_rest` says that the system is at rest at `start`: then the first window is scored from its first sample.

    >>> windows = cut(0, 10, length=6, warmup=2)
    >>> windows.starts, windows.scored
    (array([0, 4]), array([2, 2]))
    """
    if not 0 <= warmup < length:
        raise LfnoError(f"a warm-up of {warmup} samples leaves nothing to score in windows of {length}")
    if stop - start < length:
        raise LfnoError(
            f"{stop - start} samples are fewer than one window of {length}; use shorter windows or a longer record"
        )
    stride = length - warmup
    starts = np.arange(start, stop - length + 1, stride)
    scored = np.full(len(starts), warmup)
    end = int(starts[-1]) + length
    if end < stop:
        starts = np.append(starts, stop - length)
        scored = np.append(scored, length - (stop - end))
    if from_rest:
        scored[0] = 0
    return Windows(starts, scored, length)


def cut_parts(size: int, split: Split, length: int, warmup: int, from_rest: bool = False) -> dict[str, Windows]:
    """Windows of each part of a split in time (`split.in_time`); none reaches into another part, warm-up included."""
    parts = {}
    for name, indices in (("train", split.train), ("validation", split.validation), ("test", split.test)):
        if not len(indices):
            continue
        start, stop = int(indices[0]), int(indices[-1]) + 1
        if stop - start != len(indices) or stop > size:
            raise LfnoError(f"the {name} part is not one stretch of a record of {size} samples; split it in time")
        try:
            parts[name] = cut(start, stop, length, warmup, from_rest and start == 0)
        except LfnoError as error:
            raise LfnoError(f"the {name} part: {error}") from error
    return parts


def as_dataset(record: Record, windows: Windows) -> Dataset:
    """The windows as samples; the parameter `start` is where each begins and `scored` where its score begins."""
    axis = record.grid.axes[-1]
    return Dataset(
        windows.gather(record.inputs),
        windows.gather(record.outputs),
        record.grid.change(axis.name, size=windows.length, origin=0.0),
        {"start": windows.starts, "scored": windows.scored},
        record.input_channels,
        record.output_channels,
        {**record.provenance, "windows": len(windows), "length": windows.length},
        None if record.mask is None else windows.gather(record.mask),
    )
