"""Read the example of a record: one test sample with its prediction, on a coarser grid than the data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.grid import Axis, Grid, with_unit
from lfno.paper.record import RunRecord
from lfno.paper.report.selection import Runs
from lfno.systems import REGISTRY


@dataclass(frozen=True)
class Example:
    """The example of a record.

    index: number of the sample in the data set.
    axes: axes of the coarser grid, time last. A flow has the axes (x, y), because a record stores only its last time.
    moment: the last time of a flow as text; "" for signals and other fields.
    unit, name: unit and name of the output.
    fields: "truth", "prediction", "transient", "steady" → values (channels, *grid).
    input: the input (channels, *grid); None if the record has no input of this shape.
    """

    index: int
    axes: tuple[Axis, ...]
    moment: str
    unit: str
    name: str
    fields: dict[str, np.ndarray]
    input: np.ndarray | None = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def label(self) -> str:
        """The label of the output channel."""
        return with_unit(self.name, self.unit)


def example(record: RunRecord) -> Example | None:
    """Return the example of a record, or None if the record has no example that fits its data set."""
    fields = {}
    for name in ("truth", "prediction", "transient", "steady"):
        values = record.example.get(name)
        if values is not None:
            fields[name] = np.asarray(values, dtype=float)
    entry = REGISTRY.get(record.task)
    if entry is None or not {"truth", "prediction"} <= set(fields):
        return None
    shapes = {field.shape for field in fields.values()}
    shape = fields["truth"].shape
    grid, time, moment = entry.grid, entry.grid.axes[-1], ""
    if grid.ndim == 3:
        if len(shape) == 4:
            fields, shape = {name: field[..., -1] for name, field in fields.items()}, shape[:-1]
        grid, moment = Grid(grid.axes[:2]), f"{time.name} = {time.points[-1]:.3g} {time.unit}".rstrip()
    if len(shapes) != 1 or len(shape) != grid.ndim + 1 or min(shape) < 1:
        return None
    channel = entry.system.outputs[0]
    index = int(record.example.get("index", -1))
    given = np.asarray(record.example.get("input", ()), dtype=float)
    kept = given if given.ndim > 1 and given.shape[1:] == shape[1:] else None
    return Example(index, thinned(grid, shape[1:]), moment, channel.unit, channel.name, fields, kept)


def thinned(grid: Grid, shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """Return the axes of the coarser grid with every n-th point of `grid`. n follows from the size of the axis in `shape`."""
    axes = []
    for axis, size in zip(grid.axes, shape, strict=True):
        stride = max(1, -(-axis.size // size))
        axes.append(Axis(axis.name, size, axis.step * stride, axis.origin, axis.unit, axis.periodic, axis.time))
    return tuple(axes)


def first_example(runs: Runs, task: str, label: str) -> Example | None:
    """Return the example of the first run of a model (lowest fold, then lowest seed) that has one, or None."""
    for record in sorted(runs.main.where(task=task, label=label).all, key=lambda r: (r.fold, r.seed)):
        found = example(record)
        if found is not None:
            return found
    return None
