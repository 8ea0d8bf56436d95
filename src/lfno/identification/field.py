"""Modal analysis of a field on a line: one linear system in time for each spatial mode.

    y(x, t) = Σ_k φ_k(x) ∫ h_k(t − s) a_k(s) ds + b(x, t),     a_k(t) the modes of the input f(x, t)

φ_k are the functions of the boundary condition (see `lfno.spectral.bases`), in which the operator of a uniform rod or beam
is diagonal. Every h_k is identified on its own, with the poles and residues of `identify`. The field b is the response to
no input at all, for a system that moves by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.interpolate import RectBivariateSpline

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.identification.identify import Modes, identify
from lfno.identification.mode import Mode, mode_list
from lfno.spectral.bases import OF_BOUNDARY, analysis, most_modes, shapes

KEY = "lfno-field"
#: spatial modes that are identified at the most
MOST_MODES = 48
#: fields change smoothly between samples
HOLD = "cubic"
#: a spatial mode whose output is below this part of the whole output is left out
FAINT = 1e-5
#: poles of a spatial mode at the most: an oscillation or two decays, and as much again to make up for the sampling
MAX_POLES = 4
#: samples that settle the poles of a spatial mode
ENOUGH = 60
#: a motion without input below this part of the outputs is taken as none
STILL = 1e-3


@dataclass(frozen=True, repr=False)
class FieldModel:
    """A linear model of fields (samples, 1, space, time). `modes[k]` belongs to the spatial mode k; None where it is faint.

    basis: "sine" or "cosine". offset: b(x, t) on the training grid; None where the system rests without an input.
    """

    basis: str
    modes: tuple[Modes | None, ...]
    grid: Grid
    offset: np.ndarray | None = None
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        known = [modes for modes in self.modes if modes is not None]
        return f"FieldModel({len(known)} {self.basis} modes, {sum(len(modes.poles) for modes in known)} poles)"

    @property
    def channels(self) -> tuple[int, int]:
        """The numbers of input and output channels."""
        return 1, 1

    @property
    def parameters(self) -> int:
        """The number of real parameters of poles, residues and direct terms."""
        known = [modes for modes in self.modes if modes is not None]
        return sum(4 * int((m.poles.imag != 0).sum()) + 2 * int((m.poles.imag == 0).sum()) + m.direct.size for m in known)

    @property
    def notes(self) -> list[str]:
        """Remarks of the identification: none."""
        return []

    def list_modes(self, least: float = 0.0) -> list[Mode]:
        """The modes of all spatial modes, strongest first; contributions are relative to the whole field's."""
        found = [mode for modes in self.modes if modes is not None for mode in mode_list(modes, least)]
        return sorted(found, key=lambda mode: -mode.contribution)

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Outputs (samples, 1, space, time) for inputs of this shape, from rest."""
        return self._respond(inputs, grid or self.grid, steady=False)

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (transient, steady); steady is the response to the inputs repeated for ever, b counts as steady."""
        steady = self._respond(inputs, grid or self.grid, steady=True)
        return self.predict(inputs, grid) - steady, steady

    def to_tensors(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Return the model as a description and tensors, the inverse of `from_tensors`."""
        known = {k: modes for k, modes in enumerate(self.modes) if modes is not None}
        tree: dict[str, Any] = {"version": 1, "basis": self.basis, "count": len(self.modes), "grid": self.grid.to_dict()}
        tree |= {"errors": {str(k): modes.error for k, modes in known.items()}, "provenance": self.provenance}
        tensors = {} if self.offset is None else {"offset": torch.as_tensor(self.offset)}
        for k, modes in known.items():
            tensors |= {f"{k}.poles": torch.view_as_real(torch.as_tensor(modes.poles)),
                        f"{k}.residues": torch.view_as_real(torch.as_tensor(modes.residues)),
                        f"{k}.direct": torch.as_tensor(modes.direct), f"{k}.covariance": torch.as_tensor(modes.covariance),
                        f"{k}.contributions": torch.as_tensor(modes.contributions)}  # fmt: skip
        return tree, tensors

    @classmethod
    def from_tensors(cls, tree: dict[str, Any], tensors: dict[str, torch.Tensor]) -> FieldModel:
        """Read a model as `to_tensors` wrote it."""

        def modes(k: int) -> Modes | None:
            if str(k) not in tree["errors"]:
                return None
            poles, residues = (torch.view_as_complex(tensors[f"{k}.{name}"]).numpy() for name in ("poles", "residues"))
            direct, strength, covariance = (
                tensors[f"{k}.{name}"].numpy() for name in ("direct", "contributions", "covariance")
            )
            return Modes(poles, residues, direct, strength, float(tree["errors"][str(k)]), HOLD, covariance=covariance)

        offset = tensors["offset"].numpy() if "offset" in tensors else None
        known = tuple(modes(k) for k in range(int(tree["count"])))
        return cls(str(tree["basis"]), known, Grid.from_dict(tree["grid"]), offset, tree["provenance"])

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file."""
        tree, tensors = self.to_tensors()
        tensorfile.write(Path(path), tensors, tree, KEY)

    @classmethod
    def load(cls, path: str | Path) -> FieldModel:
        """Read a model from its file; raise LfnoError for a damaged one."""
        return cls.from_tensors(*tensorfile.read(Path(path), KEY, "linear model of fields"))

    def _respond(self, inputs: np.ndarray, grid: Grid, steady: bool) -> np.ndarray:
        space, time = grid.axes
        if inputs.ndim != 4 or inputs.shape[1:] != (1, *grid.shape):
            raise LfnoError(f"the inputs have the shape {inputs.shape}; (samples, 1, {space.size}, {time.size}) is needed")
        there, back = line_matrices(self.basis, len(self.modes), space)
        forces = there @ np.asarray(inputs[:, 0], dtype=np.float64)
        answers = np.zeros_like(forces)
        for k, modes in enumerate(self.modes):
            if modes is not None:
                answer = modes.steady if steady else modes.simulate
                answers[:, k] = answer(forces[:, k, None], time.step)[:, 0]
        return (back @ answers)[:, None] + self._offset_on(grid)

    def _offset_on(self, grid: Grid) -> np.ndarray | float:
        """b on any grid inside the training grid, by a spline."""
        if self.offset is None:
            return 0.0
        own = [axis.points for axis in self.grid.axes]
        wanted = [axis.points for axis in grid.axes]
        if grid == self.grid:
            return self.offset
        return RectBivariateSpline(*own, self.offset)(*wanted)


def is_line(data: Dataset) -> bool:
    """Whether a data set holds fields on a line with two ends, of one input and one output, which have a linear model here."""
    grid = data.grid
    one = data.inputs.shape[1] == data.outputs.shape[1] == 1
    return one and grid.ndim == 2 and grid.time == 1 and not grid.axes[0].periodic and data.inputs.shape[-1] > 1


def line_matrices(basis: str, count: int, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """A (count, points) and Φ (points, count) for the points of an axis, whose first and last point are the two ends."""
    places = torch.linspace(0, 1, axis.size, dtype=torch.float64)
    back = shapes(basis, count, places)
    return analysis(back, places).numpy(), back.numpy()


def identify_field(
    inputs: np.ndarray, outputs: np.ndarray, grid: Grid, basis: str | None = None, *, accuracy: float = 0.0
) -> FieldModel:
    """Identify the modes of fields (samples, 1, space, time) that start from rest, or all from the same state.

    basis: "sine" for fixed ends, "cosine" for free ends; by default the one of the boundary condition of the axis, and
        for an unknown boundary the one with which fewer modes describe the outputs.
    accuracy: relative L2 error of the outputs, for outputs of a network. The modes explain the outputs to this error and no
        further; a spatial mode that is smaller than the error is left out. The covariance counts the error as noise.
    Raises LfnoError for other shapes, for a periodic axis and for outputs that never move.

    >>> from lfno.systems import Heat
    >>> data = lfno.dataset("heat-rich", count=24)
    >>> model = identify_field(data.inputs, data.outputs, data.grid)
    >>> abs(model.modes[0].poles[0] / Heat().linearised_poles()[0] - 1) < 1e-3   # the slowest mode, −π² D/L²
    np.True_
    """
    if grid.ndim != 2 or grid.time != 1 or inputs.shape[1] != 1 or outputs.shape[1] != 1:
        raise LfnoError(
            f"modal analysis of a field needs one input and one output on the axes (x, t), not {inputs.shape[1]} and "
            f"{outputs.shape[1]} on ({', '.join(grid.names)})"
        )
    space, time = grid.axes
    if space.periodic:
        raise LfnoError(f"axis {space.name!r} is periodic: modal analysis of a field needs two ends, fixed or free")
    force, motion = (np.asarray(values[:, 0], dtype=np.float64) for values in (inputs, outputs))
    count = min(MOST_MODES, most_modes("sine", space.size))
    basis = basis or OF_BOUNDARY.get(space.boundary) or _compact(motion, space, count)
    there, _ = line_matrices(basis, count, space)
    centred, moved = (there @ (values - values.mean(0)) for values in (force, motion))
    model = FieldModel(basis, tuple(_identify_modes(centred, moved, Grid.line(time.size, time.step), accuracy)), grid)
    rest = (motion - model.predict(inputs)[:, 0]).mean(0)
    moves = np.linalg.norm(rest) > STILL * np.sqrt((motion**2).sum((1, 2)).mean())
    return FieldModel(basis, model.modes, grid, rest if moves else None)


def _identify_modes(force: np.ndarray, motion: np.ndarray, grid: Grid, accuracy: float) -> Sequence[Modes | None]:
    """The system of every spatial mode, (samples, modes, time); the samples that move most settle its poles."""
    whole = np.linalg.norm(motion)
    if not whole > 0:
        raise LfnoError("the outputs are the same in all samples: there is nothing to identify")
    found: list[Modes | None] = []
    for k in range(motion.shape[1]):
        size = np.linalg.norm(motion[:, k], axis=-1)
        share = float(np.linalg.norm(size) / whole)
        own = accuracy / max(share, 1e-300)  # the error may all lie in this spatial mode
        if share < FAINT or own > 1:
            found.append(None)
            continue
        strongest = np.sort(np.argsort(-size)[:ENOUGH])
        pair = force[strongest, k, None], motion[strongest, k, None]
        modes = identify(*pair, grid, hold=HOLD, max_poles=MAX_POLES, accuracy=own)
        if not len(modes.poles) and not modes.direct.any():  # a linear system explains nothing of this mode
            found.append(None)
            continue
        wider = max(1.0, own / max(modes.error, 1e-12)) ** 2
        found.append(replace(modes, contributions=modes.contributions * share, covariance=modes.covariance * wider))
    return found


def _compact(fields: np.ndarray, axis: Axis, count: int) -> str:
    """The basis of which a quarter of the modes describes the fields best."""

    def missed(basis: str) -> float:
        there, back = line_matrices(basis, max(2, count // 4), axis)
        return float(np.linalg.norm(fields - back @ (there @ fields)))

    return min(OF_BOUNDARY.values(), key=missed)
