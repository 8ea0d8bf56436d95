"""One long measurement, before it is cut into windows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import INPUT_GAPS, full_mask
from lfno.systems.base import Channel

#: key in the provenance: the number of samples of a period, if the file states it
PERIOD = "period"


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """One measurement on one grid.

    inputs, outputs: arrays (channels, *space, time). A free decay has no input channels. A record whose outputs are to be
        predicted has no output channels.
    grid: the grid of the axes `(*space, time)`.
    input_channels, output_channels: names and units of the channels.
    provenance: the origin of the data. `provenance["notes"]` is a list of sentences, one for each change to the data.
    mask: shape of the outputs, True where an output was measured; None if every output was measured. Outputs that were not
        measured have filled values, which are used neither in training nor in scores.

    Raises LfnoError if the shapes do not fit the grid and the channels.

    >>> record = Record(np.zeros((1, 100)), np.ones((1, 100)), Grid.line(100, 0.1), (Channel("f"),), (Channel("u"),))
    >>> record.part(10, 30).outputs.shape
    (1, 20)
    """

    inputs: np.ndarray
    outputs: np.ndarray
    grid: Grid
    input_channels: tuple[Channel, ...]
    output_channels: tuple[Channel, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    mask: np.ndarray | None = None

    def __post_init__(self) -> None:
        for role, channels in (("inputs", self.input_channels), ("outputs", self.output_channels)):
            shape, needed = getattr(self, role).shape, (len(channels), *self.grid.shape)
            if shape != needed:
                raise LfnoError(
                    f"the {role} of the record have shape {shape}; {len(channels)} channels on a grid of shape "
                    f"{self.grid.shape} need {needed}"
                )
        object.__setattr__(self, "mask", full_mask(self.mask, self.outputs))

    def __repr__(self) -> str:
        counts = f"{len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"Record({counts}, {len(self)} samples of {self.grid.steps[-1]:g} {self.grid.axes[-1].unit})"

    @property
    def notes(self) -> list[str]:
        """The sentences about changes to the data."""
        return list(self.provenance.get("notes", []))

    def __len__(self) -> int:
        """Number of samples in time."""
        return self.grid.shape[-1]

    def part(self, start: int, stop: int) -> Record:
        """Return the samples `start` … `stop` − 1 as a record. The times of the samples do not change."""
        if not 0 <= start < stop <= len(self):
            raise LfnoError(f"samples {start} to {stop} are not a part of a record of {len(self)} samples")
        axis = self.grid.axes[-1]
        grid = self.grid.change(axis.name, size=stop - start, origin=axis.origin + start * axis.step)
        mask = None if self.mask is None else self.mask[..., start:stop]
        inputs, outputs = self.inputs[..., start:stop], self.outputs[..., start:stop]
        gaps = [(max(first, start) - start, min(last, stop) - start) for _, first, last in self.provenance.get(INPUT_GAPS, [])]
        provenance = {key: value for key, value in self.provenance.items() if key != INPUT_GAPS}
        if inside := [[0, *gap] for gap in gaps if gap[0] < gap[1]]:
            provenance[INPUT_GAPS] = inside
        return replace(self, inputs=inputs, outputs=outputs, grid=grid, mask=mask, provenance=provenance)
