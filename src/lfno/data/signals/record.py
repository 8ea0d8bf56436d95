"""One long signal: what a measurement is before it is cut into windows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import full_mask
from lfno.systems.base import Channel

#: provenance of data whose inputs have long gaps: [sample, start, stop] of each
INPUT_GAPS = "input_gaps"
#: provenance of runs whose file tells the number of samples of a period
PERIOD = "period"


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """Inputs and outputs of shape `(channels, *space, time)` on one grid, with the names and units of the channels.

    `mask`, in the shape of the outputs, is True where they were measured; None says that all of them were. Values that
    were not measured are filled in, and count neither in training nor in scores. `notes` lists in sentences everything
    that was done to the data since the file was opened.

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
        return list(self.provenance.get("notes", []))

    def __len__(self) -> int:
        """Number of samples in time."""
        return self.grid.shape[-1]

    def part(self, start: int, stop: int) -> Record:
        """The samples from `start` up to, not including, `stop`; times stay those of the whole record."""
        if not 0 <= start < stop <= len(self):
            raise LfnoError(f"samples {start} to {stop} are not a part of a record of {len(self)} samples")
        axis = self.grid.axes[-1]
        grid = self.grid.change(axis.name, size=stop - start, origin=axis.origin + start * axis.step)
        mask = None if self.mask is None else self.mask[..., start:stop]
        inputs, outputs = self.inputs[..., start:stop], self.outputs[..., start:stop]
        return replace(self, inputs=inputs, outputs=outputs, grid=grid, mask=mask)
