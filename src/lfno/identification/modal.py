"""A linear model of one's own signals: poles, residues and mode shapes in a file that predicts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.prepare import Prepared
from lfno.data.scaling import scale_of
from lfno.identification.identify import Modes, identify

KEY = "lfno-modes"
MOST = 2_000_000  # samples of a very long record that count


@dataclass(frozen=True)
class ModalModel:
    """u = output offset + modes ∗ (f − input offset); the grid is the one it was identified on."""

    modes: Modes
    input_offset: np.ndarray
    output_offset: np.ndarray
    grid: Grid
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def channels(self) -> tuple[int, int]:
        """The numbers of input and output channels."""
        outputs, inputs, _ = self.modes.residues.shape
        return inputs, outputs

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Outputs (samples, outputs, time) for inputs (samples, inputs, time), from rest."""
        step = (grid or self.grid).steps[0]
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        if centred.shape[1] != self.modes.residues.shape[1]:
            raise LfnoError(f"the input has {centred.shape[1]} channels; the model takes {self.modes.residues.shape[1]}")
        # what the input does between samples is settled by the data it was identified on; finer data say it themselves
        modes = self.modes if step > 0.75 * self.grid.steps[0] else replace(self.modes, hold="cubic")
        return modes.simulate(centred, step) + self.output_offset[:, None]

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (transient, steady) of the response from rest; steady is the response to the inputs repeated for ever."""
        own = grid or self.grid
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        steady = self.modes.steady(centred, own.steps[0]) + self.output_offset[:, None]
        return self.predict(inputs, grid) - steady, steady

    def save(self, path: str | Path) -> None:
        arrays = {"poles": self.modes.poles, "residues": self.modes.residues, "direct": self.modes.direct}
        arrays |= {"contributions": self.modes.contributions, "covariance": self.modes.covariance}
        arrays |= {"input_offset": self.input_offset, "output_offset": self.output_offset}
        tensors = {name: torch.view_as_real(torch.as_tensor(np.asarray(a, dtype=complex))) for name, a in arrays.items()}
        tree = {"version": 1, "grid": self.grid.to_dict(), "hold": self.modes.hold, "error": self.modes.error,
                "path": list(self.modes.path), "provenance": self.provenance}  # fmt: skip
        tensorfile.write(Path(path), tensors, tree, KEY)

    @classmethod
    def load(cls, path: str | Path) -> ModalModel:
        tree, tensors = tensorfile.read(Path(path), KEY, "linear model")
        arrays = {name: torch.view_as_complex(value).numpy() for name, value in tensors.items()}
        real = {name: arrays[name].real for name in ("direct", "contributions", "covariance", "input_offset", "output_offset")}
        modes = Modes(
            arrays["poles"], arrays["residues"], real["direct"], real["contributions"],
            float(tree["error"]), tree["hold"], tuple(tree["path"]), real["covariance"],
        )  # fmt: skip
        grid = Grid.from_dict(tree["grid"])
        return cls(modes, real["input_offset"], real["output_offset"], grid, tree["provenance"])


def identify_signals(prepared: Prepared, max_poles: int = 12) -> ModalModel:
    """The modes behind prepared signals: from all trajectories for training and choosing, or from a record's past."""
    dataset = prepared.dataset
    if dataset.grid.ndim != 1:
        raise LfnoError(
            f"modal identification needs signals over time, not fields over {', '.join(dataset.grid.names)}; "
            "choose points of the field as output channels"
        )
    if prepared.record is None:
        rows = np.sort(np.concatenate([prepared.split.train, prepared.split.validation]))
        known, grid, warmup = dataset[rows], dataset.grid, 0
        inputs, outputs, mask = known.inputs, known.outputs, known.mask
    else:
        start, stop = prepared.stretch or (len(prepared.record), len(prepared.record))
        first, last = (0, start) if start >= len(prepared.record) - stop else (stop, len(prepared.record))
        record = prepared.record.part(max(first, last - MOST), last)
        inputs, outputs, grid, warmup = record.inputs[None], record.outputs[None], record.grid, prepared.warmup
        mask = None if record.mask is None else record.mask[None]
    before, after = scale_of(inputs)[0], scale_of(outputs, mask)[0]
    centred = inputs - before[:, None], outputs - after[:, None]
    modes = identify(*centred, grid, max_poles=max_poles, warmup=warmup, mask=mask)
    told = {"data": {"name": dataset.name, "signals": dataset.provenance.get("signals", {})}}
    return ModalModel(modes, before, after, grid, told)
