"""Identify the equation of a field on a line from samples of the field."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.field import MOST_MODES, choose_basis, line_matrices
from lfno.identification.field_law.fit import Fields, covariance, refine
from lfno.identification.field_law.model import FieldLaw, length_of
from lfno.identification.field_law.search import search, strongest
from lfno.identification.field_law.terms import Line
from lfno.spectral.bases import most_modes

#: largest number of samples in the final fit of the coefficients
ENOUGH = 40
#: smallest number of spatial modes; products need more modes than the field itself
FEWEST_MODES = 8
#: a spatial mode is significant if its energy exceeds this part of the total energy, and exceeds the noise (see ABOVE_NOISE)
FAINT = 1e-9
#: smallest energy of a significant spatial mode, relative to the energy of the noise in one spatial mode
ABOVE_NOISE = 4.0
#: number of spatial modes of the model, relative to the number of modes up to the highest significant one
MARGIN = 1.5
#: smallest rms of the motion away from the start field, relative to the start field; a smaller motion is rounding error
STILL = 1e-12
#: largest scatter of the start fields, relative to the rms of the motion
SAME_START = 0.1


@np.errstate(over="ignore", invalid="ignore")  # a trial equation whose solution grows without bounds is rejected
def identify_law(
    train: tuple[np.ndarray, np.ndarray], validation: tuple[np.ndarray, np.ndarray], grid: Grid,
    *, basis: str | None = None, seconds: float | None = None, report: Callable[[str], object] | None = None,
) -> FieldLaw:  # fmt: skip
    """Return the equation whose solutions are closest to the measured fields.

    train, validation: inputs and outputs, each (samples, 1, space, time). All samples start from the same field at rest. The
        validation samples choose the order in time and the terms.
    grid: the axes (x, t) of the samples.
    basis: "sine" for fixed ends, "cosine" for free ends. By default, the boundary of the axis selects the basis. For an unknown
        boundary, the basis that describes the outputs better with few modes is used.
    seconds: time limit of the search and of the final fit; None for no limit.
    report: a function that is called with a message when the search finds a better equation. By default, the logger "lfno"
        receives the message.

    Raises LfnoError if the field does not move, if all inputs are zero, if the samples start from different fields, or if no
    equation has a finite solution.

    >>> import lfno
    >>> data = lfno.dataset("heat-rich", count=24)
    >>> law = identify_law((data.inputs[:16], data.outputs[:16]), (data.inputs[16:], data.outputs[16:]), data.grid)
    >>> law.equation.terms, law.equation.coefficients.round(2).tolist()  # ∂y/∂t = ∂²y/∂x² − f
    (('f', 'y_xx'), [-1.0, 1.0])
    """
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    space, axis = grid.axes
    basis = basis or choose_basis(train[1][:, 0], space)
    count = _count(basis, train[1][:, 0], grid)
    line, (there, _) = Line.of(basis, count, length_of(space)), line_matrices(basis, count, space)

    def fields(pair: tuple[np.ndarray, np.ndarray], start: np.ndarray) -> Fields:
        forces, motion = (there @ np.asarray(values[:, 0], dtype=np.float64) for values in pair)
        return Fields(line, forces, motion, start, axis.step)

    begun = there @ np.asarray(train[1][:, 0, :, 0], dtype=np.float64).T
    known = fields(train, begun.mean(1))
    moved = np.sqrt(((known.outputs - known.start[:, None]) ** 2).sum(1).mean())
    if not moved > STILL * np.linalg.norm(known.start):
        raise LfnoError("the field does not move in the training samples: there is no equation to identify")
    if not known.inputs.any():
        raise LfnoError("the inputs of the training samples are zero: an equation is identified from the response to inputs")
    if np.sqrt(begun.var(1).sum()) > SAME_START * moved:
        raise LfnoError("the samples start from different fields; for an equation, all samples must start from the same field")
    found = search(known, fields(validation, known.start), report or logging.getLogger("lfno").info, deadline)
    chosen = strongest(known, ENOUGH)
    equation, _ = refine(found.equation, chosen, found.scales, deadline=deadline)
    shares = np.sqrt((known.outputs**2).mean((0, 2)))
    told = {"equation": {"label": str(equation), "validation error": found.error}}
    spread = covariance(equation, chosen, found.scales)
    return FieldLaw(equation, basis, known.start, grid, spread, shares / max(np.linalg.norm(shares), 1e-300), told)


def _count(basis: str, motion: np.ndarray, grid: Grid) -> int:
    """Return the number of spatial modes of the equation for fields `motion`, (samples, space, time)."""
    most = min(MOST_MODES, most_modes("sine", grid.shape[0]))
    there, _ = line_matrices(basis, most, grid.axes[0])
    energy = ((there @ motion) ** 2).mean((0, 2))
    noise = np.median(energy[-max(most // 4, 1) :])
    counting = np.flatnonzero(energy > max(FAINT * energy.sum(), ABOVE_NOISE * noise))
    last = 1 + int(counting[-1]) if len(counting) else 1
    return min(max(int(MARGIN * last), FEWEST_MODES), most)
