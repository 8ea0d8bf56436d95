"""Check the inputs of a prediction (arrays, a record, a data set or a file) and convert them to one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record

if TYPE_CHECKING:
    from lfno.surrogate.model import Surrogate


@dataclass(frozen=True)
class Question:
    """Inputs (samples, channels, *space, time) on a grid.

    index: the index that removes from the prediction those axes that the user's array did not have.
    record: whether the inputs are one long record. A network that is not `causal` predicts a long record window by window.
    """

    inputs: np.ndarray
    grid: Grid
    index: tuple[Any, ...] = ()
    record: bool = False

    @classmethod
    def of(cls, data: Any, model: Surrogate, dt: float | None = None, grid: Grid | None = None) -> Question:
        """Return `data` in the form that `model` needs.

        data: an array, a Record or a Dataset. A missing axis of samples or channels is added if this is unambiguous.
        dt: the time step of an array, by default the time step of the training data.
        grid: the grid of an array, instead of `dt`.

        Raises LfnoError if the data do not fit the model.
        """
        if isinstance(data, (Record, Dataset)):
            if dt is not None or grid is not None:
                raise LfnoError("a record or data set has a grid of its own; leave out dt and grid")
            model.signals.check_units(data, outputs=False)
            record = isinstance(data, Record)
            inputs = data.inputs[None] if record else data.inputs
            question = cls(inputs, data.grid, (0,) if record else (), record)
        else:
            question = cls._of_array(data, model, dt, grid)
        question._check(model)
        return question

    @classmethod
    def _of_array(cls, data: Any, model: Surrogate, dt: float | None, grid: Grid | None) -> Question:
        """Return an array as a question, with the missing axes of samples and channels."""
        if not isinstance(grid, Grid | None):
            raise LfnoError(f"the grid of the inputs must be an lfno.Grid; found {type(grid).__name__}")
        values = data.detach().cpu().numpy() if hasattr(data, "detach") else data
        array = real_array(values, "the inputs", finite=True).astype(np.float64, copy=False)
        ndim, (channels, outputs) = (grid or model.grid).ndim, model.channels
        first = (0,) if outputs == 1 else ()
        index: tuple[Any, ...] = ()
        if array.ndim == ndim and channels == 1:
            array, index = array[None, None], (0, *first)
        elif array.ndim == ndim + 1 and channels == 1 != array.shape[0]:
            array, index = array[:, None], (slice(None), *first)
        elif array.ndim == ndim + 1:
            array, index = array[None], (0,)
        if array.ndim != ndim + 2:
            axes = ", ".join((grid or model.grid).names)
            raise LfnoError(f"the inputs have the shape {array.shape}; (samples, {channels}, {axes}) is needed")
        if grid is None:
            own = model.grid.axes[-1]
            if dt is not None and not (np.isfinite(dt) and dt > 0):
                raise LfnoError(f"the time step dt={dt!r} must be a positive number")
            grid = model.grid.change(own.name, size=array.shape[-1], step=own.step if dt is None else dt)
        if array.shape[2:] != grid.shape:
            names = " × ".join(f"{axis.name}={axis.size}" for axis in grid.axes)
            raise LfnoError(f"the inputs have {array.shape[2:]} points and the grid has {names}; pass the grid of the inputs")
        return cls(array, grid, index)

    def _check(self, model: Surrogate) -> None:
        """Raise LfnoError if the channels or the axes do not fit the model, or if there is no sample."""
        if self.inputs.shape[1] != model.channels[0]:
            names = ", ".join(model.signals.names("inputs")) or str(model.channels[0])
            given, needed = self.inputs.shape[1], model.channels[0]
            raise LfnoError(f"{given} input channels were given and the model takes {needed} ({names})")
        if self.grid.ndim != model.grid.ndim:
            raise LfnoError(
                f"the data have the axes {', '.join(self.grid.names)} and the model {', '.join(model.grid.names)}; "
                "they must be the same"
            )
        if len(self.inputs) == 0:
            raise LfnoError("no sample was given: the inputs are empty")


def read_question(model: Surrogate, file: str | Path, **reading: Any) -> tuple[Record | Dataset, bool]:
    """Return the inputs of a file for `model`, and whether the file also holds the outputs.

    reading: options of `lfno.data.signals.read_signals`.

    For a model of fields, a signal in time from a file without outputs is used at every point in space. Raises LfnoError for a
    file without the inputs, or with other units than the training data.
    """
    from lfno.data.signals.questions import load_question

    signals = model.signals
    data, known = load_question(file, signals.names("inputs"), signals.names("outputs"), **reading)
    signals.check_units(data, known)
    if data.grid.ndim == 1 < model.grid.ndim and not known:
        space = model.grid.axes[:-1]
        grid = Grid((*space, data.grid.axes[-1]))
        lead = data.inputs.shape[:-1]
        wide = np.broadcast_to(data.inputs.reshape(*lead, *[1] * len(space), -1), (*lead, *grid.shape))
        blank = np.zeros((*lead[: 1 if isinstance(data, Dataset) else 0], len(data.output_channels), *grid.shape))
        data = replace(data, inputs=wide, outputs=blank, grid=grid)
    return data, known
