"""Covariance of the fitted parameters, and conversion from units of order one to the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lfno.identification.feedback.law import Law
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.windows import Scales
from lfno.identification.uncertainty import coloured_covariance

#: largest number of samples in the Jacobian for the covariance, to bound the memory; the result is scaled to all samples
MOST = 20_000


def parameter_covariance(problem: Problem, point: Point, states: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the covariance (parameters, parameters) of the parameters. The noise may be coloured.

    The initial states of the windows are unknowns too, and are eliminated.

    point: the fitted parameters and initial states.
    states, residual: results of `problem.states` and `problem.residual` at this point.
    """
    windows = problem.windows
    count = max(min(len(windows), MOST // len(windows.inputs)), 1)
    rows = np.linspace(0, len(windows) - 1, count).round().astype(int)
    part = replace(problem, windows=windows.chosen(rows))
    jacobian = part.jacobian(Point(point.vector, point.starts[rows]), states[:, rows])
    total = len(point.vector)
    shared, own = jacobian[..., :total], jacobian[..., total:]
    basis = np.linalg.qr(own)[0]
    shared = shared - basis @ (basis.swapaxes(1, 2) @ shared)
    size, outputs = len(windows.inputs), windows.targets.shape[2]
    shape = (count, size, outputs)
    rows_used = size * outputs
    found = coloured_covariance(
        shared[:, :rows_used].reshape(*shape, total), residual[rows][:, :rows_used].reshape(shape)
    )  # fmt: skip
    return found * count / len(windows)


def physical(law: Law, structure: Structure, covariance: np.ndarray, scales: Scales) -> tuple[Law, np.ndarray]:
    """Return the law and the covariance of its parameters in the user's units and seconds."""
    time, inward, outward = scales.time, scales.input_scale, scales.output_scale
    moved = replace(
        law, poles=law.poles / time, drive=law.drive / (time * inward), gains=law.gains / time,
        read=law.read * outward[:, None], direct=law.direct * outward[:, None] / inward,
        offset=law.offset * outward + scales.output_offset,
        sensor=None if law.sensor is None else law.sensor * outward[:, None], **actuator_units(law, inward),
    )  # fmt: skip
    places = structure.places(len(inward), len(outward))
    factor = np.ones(len(covariance))
    factor[places["swing"]] /= time
    lead = law.states if structure.rank_one else None
    factor[places["gains"]][:lead] /= time
    wide = [np.repeat(np.delete(inward, anchor), 1 if mode < law.decays else 2)
            for mode, anchor in enumerate(structure.fixed(law))]  # fmt: skip
    factor[places["drive"]] /= time * np.concatenate([*wide, np.zeros(0)])
    factor[places["read"]] *= np.repeat(outward, law.states)
    if structure.with_direct:
        factor[places["direct"]] *= (outward[:, None] / inward).ravel()
    if structure.sensor:
        factor[places["sensor"]] *= np.repeat(outward, law.terms.count)
    if structure.actuator:
        rows, columns = structure.entries
        factor[places["actuator"]] *= np.where(columns < len(inward), 1.0, inward[rows])
    factor[places["offset"]] *= outward
    return moved, covariance * np.outer(factor, factor)


def actuator_units(law: Law, inward: np.ndarray) -> dict[str, Any]:
    """Return the fields `pick` and `actuator` of a law with curved actuators in other units; {} for other laws.

    inward: the new values of each input divided by the old values, (inputs,).
    """
    if law.actuator is None:
        return {}
    scale = np.ones(law.actuator.shape[1])
    scale = np.where(np.arange(len(scale)) < len(inward), scale, inward[:, None])
    return {"pick": law.pick / inward, "actuator": law.actuator * scale}
