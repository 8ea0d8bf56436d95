"""Modal analysis of a field on a line: one linear system in time for each spatial mode.

    y(x, t) = Σ_k φ_k(x) ∫ h_k(t − s) a_k(s) ds + b(x, t)

a_k(t) is the coefficient of the input f(x, t) in the spatial mode φ_k. The boundary condition selects the functions φ_k (see
`lfno.spectral.bases`). The operator of a uniform rod or beam is diagonal in these functions. `identify` fits each impulse
response h_k separately, as poles and residues. The field b(x, t) is the motion of the system when the input is zero.
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
#: largest number of spatial modes
MOST_MODES = 48
#: interpolation of the input between samples; a cubic spline suits fields, because they change smoothly
HOLD = "cubic"
#: smallest norm of the output in a spatial mode, relative to the norm of the whole output; weaker spatial modes have no model
FAINT = 1e-5
#: largest number of poles of a spatial mode. The motion of a spatial mode has one oscillation, or at most two decays. The other
#: poles absorb the error of the interpolation of the input between time steps
MAX_POLES = 4
#: largest number of samples (input-output pairs of the data set) in the fit of a spatial mode; with more samples, the poles
#: hardly change
ENOUGH = 60
#: smallest norm of the motion without input, relative to the rms norm of an output; a weaker motion is set to zero
STILL = 1e-3


@dataclass(frozen=True, repr=False)
class FieldModel:
    """A linear model of fields (samples, 1, space, time).

    basis: the spatial modes φ_k, "sine" or "cosine".
    modes: the linear system in time of each spatial mode. None for a spatial mode that is too weak (`FAINT`), that is smaller
        than the error of the data (`accuracy` of `identify_field`), or that no linear system explains.
    grid: the grid of the training data.
    offset: b(x, t) on the training grid, (space, time); None if the system stays at rest without an input.
    provenance: the origin of the model, for example the name of the data.
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
        """Return the numbers of input and output channels."""
        return 1, 1

    @property
    def parameters(self) -> int:
        """Return the number of real parameters of poles, residues and direct terms."""
        known = [modes for modes in self.modes if modes is not None]
        return sum(4 * int((m.poles.imag != 0).sum()) + 2 * int((m.poles.imag == 0).sum()) + m.direct.size for m in known)

    @property
    def notes(self) -> list[str]:
        """Return the warnings of the identification: an empty list, because a field model has no warnings."""
        return []

    def list_modes(self, least: float = 0.0) -> list[Mode]:
        """Return the temporal modes of all spatial modes, strongest first.

        A contribution is relative to the response of the whole field. Modes with a contribution below `least` are left out.
        """
        found = [mode for modes in self.modes if modes is not None for mode in mode_list(modes, least)]
        return sorted(found, key=lambda mode: -mode.contribution)

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the response from rest plus the offset b, for inputs (samples, 1, space, time), in the shape of the inputs."""
        return self._respond(inputs, grid or self.grid, steady=False)

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the transient and the steady part of the prediction. Their sum is the result of `predict`.

        The steady part is the response to the periodically repeated inputs, plus the offset b.
        """
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
        """Return the model that `to_tensors` described."""

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
        """Read a model from its file; raise LfnoError for a damaged file."""
        return cls.from_tensors(*tensorfile.read(Path(path), KEY, "linear model of fields"))

    def _respond(self, inputs: np.ndarray, grid: Grid, steady: bool) -> np.ndarray:
        """Return the periodic steady state or the response from rest, plus the offset b, (samples, 1, space, time)."""
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
        """Return the offset b(x, t) on any grid inside the training grid, interpolated by a spline."""
        if self.offset is None:
            return 0.0
        own = [axis.points for axis in self.grid.axes]
        wanted = [axis.points for axis in grid.axes]
        if grid == self.grid:
            return self.offset
        return RectBivariateSpline(*own, self.offset)(*wanted)


def is_line(data: Dataset) -> bool:
    """Return whether `FieldModel` can describe a data set.

    The data set must have one input, one output, and the axes (x, t). The axis x must have two ends and a point between them.
    """
    grid = data.grid
    one = data.inputs.shape[1] == data.outputs.shape[1] == 1
    ends = grid.ndim == 2 and grid.time == 1 and not grid.axes[0].periodic
    return one and ends and grid.shape[0] > 2 and grid.shape[1] > 1


def line_matrices(basis: str, count: int, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Return the analysis matrix (count, points) and the mode shapes Φ (points, count) on the points of an axis.

    The first and the last point of the axis are the two ends of the line. At most `most_modes(basis, points)` modes can be
    distinguished on the points. The analysis matrix sets the coefficients of higher modes to zero.
    """
    places = torch.linspace(0, 1, axis.size, dtype=torch.float64)
    back = shapes(basis, count, places)
    there = torch.zeros_like(back.T)
    seen = max(min(count, most_modes(basis, axis.size)), 0)
    there[:seen] = analysis(back[:, :seen], places)
    return there.numpy(), back.numpy()


def identify_field(
    inputs: np.ndarray, outputs: np.ndarray, grid: Grid, basis: str | None = None, *, accuracy: float = 0.0
) -> FieldModel:
    """Fit a `FieldModel` to fields (samples, 1, space, time). All samples start from rest, or all from the same state.

    basis: "sine" for fixed ends, "cosine" for free ends. By default the boundary condition of the axis selects the basis. For
        an unknown boundary, the basis that describes the outputs better with few modes is used.
    accuracy: relative L2 error of the outputs in the data: 0 for measured outputs, or the error of a network that predicted
        the outputs. No pole is added below this error. A spatial mode smaller than this error is left out. The covariance
        counts this error as noise.

    Raises LfnoError for other shapes, for a periodic axis, for an axis of fewer than 3 points, and for outputs that are the
    same in all samples.

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
    if space.size < 3:
        raise LfnoError(f"axis {space.name!r} has {space.size} points: modal analysis of a field needs at least 3")
    force, motion = (np.asarray(values[:, 0], dtype=np.float64) for values in (inputs, outputs))
    count = min(MOST_MODES, most_modes("sine", space.size))
    basis = basis or choose_basis(motion, space)
    there, _ = line_matrices(basis, count, space)
    centred, moved = (there @ (values - values.mean(0)) for values in (force, motion))
    model = FieldModel(basis, tuple(_identify_modes(centred, moved, Grid.line(time.size, time.step), accuracy)), grid)
    rest = (motion - model.predict(inputs)[:, 0]).mean(0)
    moves = np.linalg.norm(rest) > STILL * np.sqrt((motion**2).sum((1, 2)).mean())
    return FieldModel(basis, model.modes, grid, rest if moves else None)


def _identify_modes(force: np.ndarray, motion: np.ndarray, grid: Grid, accuracy: float) -> Sequence[Modes | None]:
    """Return the linear system of each spatial mode, or None as described at `FieldModel.modes`.

    Each fit uses the samples in which the spatial mode is strongest.

    force: coefficients of the input, (samples, modes, time).
    motion: coefficients of the output, (samples, modes, time).
    accuracy: relative L2 error of the whole output.
    """
    whole = np.linalg.norm(motion)
    if not whole > 0:
        raise LfnoError("the outputs are the same in all samples: there is nothing to identify")
    found: list[Modes | None] = []
    for k in range(motion.shape[1]):
        size = np.linalg.norm(motion[:, k], axis=-1)
        share = float(np.linalg.norm(size) / whole)
        own = accuracy / max(share, 1e-300)  # worst case: the whole error lies in this spatial mode
        if share < FAINT or own > 1:
            found.append(None)
            continue
        strongest = np.sort(np.argsort(-size)[:ENOUGH])
        pair = force[strongest, k, None], motion[strongest, k, None]
        modes = identify(*pair, grid, hold=HOLD, max_poles=MAX_POLES, accuracy=own)
        if not len(modes.poles) and not modes.direct.any():  # no linear system explains any part of this spatial mode
            found.append(None)
            continue
        wider = max(1.0, own / max(modes.error, 1e-12)) ** 2
        found.append(replace(modes, contributions=modes.contributions * share, covariance=modes.covariance * wider))
    return found


def choose_basis(fields: np.ndarray, axis: Axis) -> str:
    """Return the basis of an axis with fixed or free ends. For an unknown boundary, return the basis that describes the
    fields (samples, space, time) better with few modes.
    """
    count = min(MOST_MODES, most_modes("sine", axis.size))

    def missed(basis: str) -> float:
        there, back = line_matrices(basis, max(2, count // 4), axis)
        return float(np.linalg.norm(fields - back @ (there @ fields)))

    return OF_BOUNDARY.get(axis.boundary) or min(OF_BOUNDARY.values(), key=missed)
