"""Cut one long record into windows.

At the beginning of a window the system is in motion, and a model does not know this motion. Each window therefore begins with a
warm-up: the model receives the inputs of the warm-up, but its outputs there are not scored. Windows overlap by the warm-up, so
every sample after the first warm-up is scored exactly once.

    window 0   |~~~~~======|
    window 1         |~~~~~======|          ~ warm-up, = scored
    window 2            |~~~~~~~~~~===|     the last window ends with the record and has a longer warm-up
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import SHARE, available
from lfno.core.short import Short
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.data.split import Split
from lfno.data.stretches import PARTS, PERIODIC, REST, Span, single_record

MOST_WINDOWS = 8192  # windows of all parts of the split; more windows cost time and hardly improve a model


@dataclass(frozen=True, eq=False, repr=False)
class Windows(Short):
    """Windows of equal length in one record.

    starts: (windows,) the index of the first sample of each window in the record.
    scored: (windows,) the index of the first scored sample in each window; the samples before it are the warm-up.
    length: number of samples of a window.
    """

    starts: np.ndarray
    scored: np.ndarray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def gather(self, values: np.ndarray, chosen: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the chosen windows (window, channel, *space, length) of an array (channel, *space, time)."""
        return np.stack([values[..., start : start + self.length] for start in self.starts[chosen]])


def cut(start: int, stop: int, length: int, warmup: int, from_rest: bool = False) -> Windows:
    """Return the windows of the samples `start` … `stop` − 1 of a record.

    length: length of a window in samples.
    warmup: the first `warmup` samples of each window are not scored.
    from_rest: whether the system is at rest at `start`. The first window is then scored from its first sample.

    The last window ends at `stop`. Its warm-up is longer, so that no sample is scored twice.
    Raises LfnoError if no window fits, or if the warm-up is not shorter than a window.

    >>> windows = cut(0, 10, length=6, warmup=2)
    >>> windows.starts, windows.scored
    (array([0, 4]), array([2, 2]))
    """
    if not 0 <= warmup < length:
        raise LfnoError(f"a warm-up of {warmup} samples leaves no samples to score in windows of {length}")
    if stop - start < length:
        raise LfnoError(
            f"{stop - start} samples are too few for a window of {length}; use shorter windows or a longer record"
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


def as_samples(records: Sequence[Record], spans: Sequence[Span], window: int, warmup: int) -> tuple[Dataset, Split]:
    """Cut spans of records into windows. Return (data set whose samples are the windows, split of the windows).

    spans: ranges of the records, each with its part of the split.
    window, warmup: length of a window and of its warm-up, in samples.

    No window reaches beyond its span, with one exception: the warm-up of a periodic span lies in the period before. A span
    that starts at rest is scored from its first sample. Unless `lfno.data.stretches.single_record` is true for the spans, the
    mask is False where a sample is not scored. If there are too many windows, only every second, third, … window is used, and a
    note says so.

    The data set has three parameters for each window: the index of its record (`record`), the index of its first sample in the
    record (`start`), and the index of its first scored sample in the window (`scored`).
    Raises LfnoError if a span is shorter than one window.
    """
    spans = sorted(spans, key=lambda span: PARTS.index(span.part))
    pieces = []
    for span in spans:
        try:
            lead = max(warmup, window - (span.stop - span.start)) if span.state == PERIODIC else 0
            pieces.append(cut(max(0, span.start - lead), span.stop, window, warmup, span.state == REST))
        except LfnoError as error:
            raise LfnoError(f"the {'training' if span.part == 'train' else span.part} part: ", *error.parts) from error
    example, notes, count = records[0], [], sum(map(len, pieces))
    every = _thinning(count * window, example, count)
    if every > 1:
        pieces = [Windows(one.starts[::every], one.scored[::every], window) for one in pieces]
        notes = [f"the record has {count} windows, more than are needed or fit into memory: one in {every} is used"]
    own = [records[span.record] for span in spans]
    masks, several = None, not single_record(spans)
    if several or any(record.mask is not None for record in own):
        masks = _stacked([np.ones(1, bool) if r.mask is None else r.mask for r in own], pieces, example.outputs.shape[:-1])
    if several and masks is not None:
        scored = np.arange(window) >= np.concatenate([one.scored for one in pieces])[:, None]
        masks = masks & scored.reshape(len(masks), *[1] * (masks.ndim - 2), window)
    axis = example.grid.axes[-1]
    dataset = Dataset(
        _stacked([record.inputs for record in own], pieces),
        _stacked([record.outputs for record in own], pieces),
        example.grid.change(axis.name, size=window, origin=0.0),
        {
            "record": np.concatenate([np.full(len(one), span.record) for span, one in zip(spans, pieces, strict=True)]),
            "start": np.concatenate([one.starts for one in pieces]),
            "scored": np.concatenate([one.scored for one in pieces]),
        },
        example.input_channels,
        example.output_channels,
        {**example.provenance, "windows": sum(map(len, pieces)), "length": window, "notes": [*example.notes, *notes]},
        masks,
    )
    parts = np.concatenate([np.full(len(one), PARTS.index(span.part)) for span, one in zip(spans, pieces, strict=True)])
    return dataset, Split(*(np.flatnonzero(parts == k) for k in range(len(PARTS))))


def _stacked(values: Sequence[np.ndarray], pieces: Sequence[Windows], shape: tuple[int, ...] = ()) -> np.ndarray:
    """Return the windows of all spans, (window, channel, *space, length). Values are copied only once.

    values: for each span, an array (channel, *space, time), or (1,) for a constant.
    pieces: for each span, its windows.
    shape: (channel, *space), needed for constants only.
    """
    views = []
    for array, windows in zip(values, pieces, strict=True):
        whole = array if array.ndim > 1 else np.broadcast_to(array, (*shape, int(windows.starts.max()) + windows.length))
        views += [whole[..., start : start + windows.length] for start in windows.starts]
    return np.stack(views)


def _thinning(samples: int, record: Record, count: int) -> int:
    """Return n: only every n-th window is used. These are about MOST_WINDOWS at most, in at most half of the free memory.

    samples: number of time samples of all windows.
    record: a record; it states the number of channels and points in space.
    count: number of all windows.
    Each value needs 12 bytes: one copy in double precision and one in single precision.
    """
    row = sum(values[..., 0].size for values in (record.inputs, record.outputs))
    return max(math.ceil(12 * row * samples / (2 * SHARE * available())), math.ceil(count / MOST_WINDOWS))
