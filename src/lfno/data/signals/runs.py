"""Several runs of one experiment: records with the same channels and time step, of any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import INPUT_GAPS, Dataset, measured_length
from lfno.data.signals.record import Record
from lfno.systems.base import Channel

RATE_TOLERANCE = 1e-6  # relative difference: time steps of two runs that differ less are taken as equal


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Records of one experiment. A run is never divided between training and test.

    records: at least one record; all have the same number of channels, points in space and time step.
    provenance: the origin of the data. `provenance["notes"]` is a list of sentences, one for each change to the data.

    Raises LfnoError if there is no record, or if a run does not fit the first run; the message names both.

    >>> signal = lambda n: Record(np.zeros((1, n)), np.ones((1, n)), Grid.line(n, 0.1), (Channel("f"),), (Channel("u"),))
    >>> Runs((signal(50), signal(80)))
    Runs(2 runs of 50 to 80 samples)
    """

    records: tuple[Record, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.records:
            raise LfnoError("there is no run: at least one run is needed")
        first = self.records[0]
        for k, other in enumerate(self.records):
            check_alike(first, other, (run_name(self.records, 0), run_name(self.records, k)))

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.records)

    def __repr__(self) -> str:
        sizes = [len(record) for record in self.records]
        span = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        return f"Runs({len(sizes)} {'run' if len(sizes) == 1 else 'runs'} of {span} samples)"

    @property
    def grid(self) -> Grid:
        """The grid of the longest run."""
        return max(self.records, key=len).grid

    @property
    def input_channels(self) -> tuple[Channel, ...]:
        """Names and units of the inputs."""
        return self.records[0].input_channels

    @property
    def output_channels(self) -> tuple[Channel, ...]:
        """Names and units of the outputs."""
        return self.records[0].output_channels

    @property
    def samples(self) -> int:
        """The number of time samples of all runs together."""
        return sum(len(record) for record in self.records)

    def padded(self) -> Dataset:
        """Return the runs as trajectories of one length.

        A shorter run is extended: its last input is held, and the added outputs are masked, so that they are never scored. The
        times of all trajectories begin at 0.
        """
        longest = self.grid.shape[-1]
        whole = [extended(record, longest) for record in self.records]
        masks = None
        if any(record.mask is not None for record in whole):
            masks = np.stack([np.ones(r.outputs.shape, bool) if r.mask is None else r.mask for r in whole])
        gaps = [[k, *gap] for k, record in enumerate(self.records) for _, *gap in record.provenance.get(INPUT_GAPS, [])]
        axis = self.grid.axes[-1]
        return Dataset(
            np.stack([record.inputs for record in whole]),
            np.stack([record.outputs for record in whole]),
            self.grid.change(axis.name, origin=0.0),
            {},
            self.input_channels,
            self.output_channels,
            self.provenance | ({INPUT_GAPS: gaps} if gaps else {}),
            masks,
        )


def extended(record: Record, size: int) -> Record:
    """Return a record of at least `size` time samples. In added samples, the last input is held and the outputs are masked."""
    more = size - len(record)
    if more <= 0:
        return record
    mask = np.ones(record.outputs.shape, bool) if record.mask is None else record.mask
    lead = record.outputs.shape[:-1]
    return replace(
        record,
        inputs=np.concatenate([record.inputs, np.repeat(record.inputs[..., -1:], more, -1)], -1),
        outputs=np.concatenate([record.outputs, np.repeat(record.outputs[..., -1:], more, -1)], -1),
        grid=record.grid.change(record.grid.axes[-1].name, size=size),
        mask=np.concatenate([mask, np.zeros((*lead, more), bool)], -1),
    )


def of_trajectories(data: Dataset) -> Runs:
    """Return the trajectories of a data set as runs. The end of a run after its last measured output is removed."""
    records = []
    for k in range(len(data)):
        mask = None if data.mask is None else data.mask[k]
        told: dict[str, Any] = {"name": f"run {k + 1}"}
        if gaps := [[0, start, stop] for sample, start, stop in data.provenance.get(INPUT_GAPS, []) if sample == k]:
            told[INPUT_GAPS] = gaps
        channels = data.input_channels, data.output_channels
        record = Record(data.inputs[k], data.outputs[k], data.grid, *channels, told, mask)
        size = measured_length(mask, len(record))
        records.append(record if size == len(record) else record.part(0, size))
    return Runs(tuple(records), data.provenance)


def run_name(records: Sequence[Record], index: int) -> str:
    """Return the name of a run for messages: the name in its provenance, or its number from 1."""
    return str(records[index].provenance.get("name") or f"run {index + 1}")


def check_alike(first: Record | Dataset | Runs, second: Record | Dataset | Runs, names: tuple[str, str]) -> None:
    """Raise LfnoError unless two sets of signals have the same time step, points in space and numbers of channels.

    names: what the error message calls the two sets.
    """
    one, two = names
    if abs(first.grid.steps[-1] / second.grid.steps[-1] - 1) > RATE_TOLERANCE:
        raise LfnoError(
            f"{two} has a time step of {second.grid.steps[-1]:g} and {one} has {first.grid.steps[-1]:g}; "
            "resample them to one time step"
        )
    if first.grid.shape[:-1] != second.grid.shape[:-1]:
        points = second.grid.shape[:-1], first.grid.shape[:-1]
        raise LfnoError(f"{two} has {points[0]} points in space and {one} has {points[1]}; the numbers must agree")
    for role in ("input_channels", "output_channels"):
        mine, other = ([channel.name for channel in getattr(each, role)] for each in (first, second))
        if len(mine) != len(other):
            raise LfnoError(f"{two} has {len(other)} {role.replace('_', ' ')} and {one} has {len(mine)}; they must agree")
