"""The initialisation of a fit: scales of the signals, identified linear modes, and the law of these modes.

A stretch is an uninterrupted piece of a record. A hold is the interpolation of the input between samples. A law contains the
arrays of the equations (see `law`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lfno.data.stretches import PERIODIC, REST, Stretch
from lfno.identification.candidates import Candidates, candidate_poles
from lfno.identification.feedback.law import Law, split
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import Scales
from lfno.identification.identify import Modes, fitted_modes
from lfno.identification.projection import Projection

#: largest number of samples in the linear identification; more samples cost time and do not change the number of modes
ENOUGH = 10_000
#: a decay is preferred to an oscillation if the error with the decay is below this multiple of the error with the oscillation
ENOUGH_DECAY = 1.02
#: an oscillation with Im μ below this part of −Re μ is nearly a double decay: its two states move alike, so the data hardly
#: determine its residues
DOUBLE = 0.01
#: an input is smooth if the rms of its fourth differences is below this part of the rms of its second differences
SMOOTH = 0.3
#: the mean input replaces zero as the input at rest if the error of a linear model falls below this part
WORKING_POINT = 0.8
#: the terms of a linear law: an empty list
LINEAR = Terms(1)


def signal_scales(stretches: Sequence[Stretch]) -> Scales:
    """Return the offsets and standard deviations of the signals.

    If all stretches start at rest, they begin at the equilibrium of the unforced system. Then the input offset is zero, and the
    output offset is the median of the first outputs. Otherwise both offsets are the means of the signals. The time unit is 1 s
    here; `fit_feedback` replaces this unit by one that suits the modes.
    """
    force = np.concatenate([stretch.inputs for stretch in stretches], axis=1).astype(float)
    seen = [np.ones(s.outputs.shape, bool) if s.mask is None else s.mask for s in stretches]
    motion = np.concatenate(
        [np.where(m, s.outputs, np.nan).astype(float) for s, m in zip(stretches, seen, strict=True)], axis=1
    )
    spread = force.std(axis=1)
    centre = force.mean(axis=1)
    if all(stretch.start == REST for stretch in stretches):
        centre = np.zeros_like(centre)
        level = np.nanmedian(np.stack([np.where(m, s.outputs, np.nan)[:, 0] for s, m in zip(stretches, seen, strict=True)]), 0)
        level = np.where(np.isfinite(level), level, np.nanmean(motion, axis=1))
    else:
        level = np.nanmean(motion, axis=1)
    return Scales(centre, spread, level, np.nanstd(motion, axis=1), 1.0)


def resting_input(stretches: Sequence[Stretch], step: float, scales: Scales) -> np.ndarray:
    """Return the constant input (inputs,) under which the system is at rest.

    If a stretch does not start at rest, the result is the input offset of `scales`, the mean input. Otherwise the result is
    zero, or the mean input if two conditions hold: the mean of an input exceeds its standard deviation, and a linear model of
    the deviations from the mean input has a much smaller error. For example, tanks at their working level are at rest under the
    mean inflow and not under zero inflow.
    """
    mean = np.concatenate([stretch.inputs for stretch in stretches], axis=1).astype(float).mean(axis=1)
    if any(stretch.start != REST for stretch in stretches) or not np.any(np.abs(mean) > scales.input_scale):
        return scales.input_offset
    left = []
    for centre in (scales.input_offset, mean):
        problem = linear_problem(stretches, step, replace(scales, input_offset=centre))
        left.append(np.linalg.norm(problem.residual_basis(next(mode_path(problem, 1)).poles)[0]))
    return mean if left[1] < WORKING_POINT * left[0] else scales.input_offset


def likely_hold(stretches: Sequence[Stretch]) -> str:
    """Return the initial hold: cubic for inputs that are smooth from sample to sample, else linear."""
    second = np.concatenate([np.diff(stretch.inputs, 2).ravel() for stretch in stretches])
    fourth = np.concatenate([np.diff(stretch.inputs, 4).ravel() for stretch in stretches])
    return "cubic" if fourth.std() < SMOOTH * second.std() else "linear"


def linear_problem(stretches: Sequence[Stretch], step: float, scales: Scales, moving: bool = False) -> Projection:
    """Return the linear least-squares problem on stretches of equal length, with signals in units of `scales`.

    At most ENOUGH samples are used. Shorter stretches are left out, and longer stretches are cut.

    step: sampling step in seconds.
    moving: whether motions begin away from equilibrium. Then the first half of each stretch is a warm-up: it is simulated and
        not fitted. Otherwise stretches with an unknown initial state have a warm-up of one tenth.
    """
    if any(stretch.start == PERIODIC for stretch in stretches):
        stretches = [_twice(stretch) for stretch in stretches if stretch.start == PERIODIC]
    lengths = np.sort([len(stretch) for stretch in stretches])
    size = min(int(lengths[np.argmax(lengths * np.arange(len(lengths), 0, -1))]), ENOUGH)
    long = [stretch for stretch in stretches if len(stretch) >= size]
    # stretches are often sorted by the size of the signals, so we use stretches from the whole list at equal distances
    count = min(max(ENOUGH // size, 1), len(long))
    used = [long[int((n + 0.5) / count * len(long))] for n in range(count)]
    force = np.stack([s.inputs[:, :size] for s in used])
    motion = np.stack([s.outputs[:, :size] for s in used])
    seen = np.stack([np.ones((len(motion[0]), size), bool) if s.mask is None else s.mask[:, :size] for s in used])
    force = (force - scales.input_offset[:, None]) / scales.input_scale[:, None]
    motion = np.where(seen, (motion - scales.output_offset[:, None]) / scales.output_scale[:, None], 0.0)
    warmup = 0 if all(s.start == REST for s in used) else (size // 2 if used[0].start == PERIODIC else size // 10)
    warmup = size // 2 if moving else warmup
    moments = None if seen.all() else np.asarray(seen.all(axis=1))
    return Projection(force, motion, step, "linear", warmup, direct=False, moments=moments, hold_out=False)


def _twice(stretch: Stretch) -> Stretch:
    """Return two periods of a steady state. The first period is the past of the second period."""
    mask = None if stretch.mask is None else np.tile(stretch.mask, 2)
    return Stretch(np.tile(stretch.inputs, 2), np.tile(stretch.outputs, 2), mask, PERIODIC, stretch.name)


def mode_path(problem: Projection, most: int, known: np.ndarray | None = None) -> Iterator[Modes]:
    """Yield linear models with 1, 2, … modes.

    Each model adds the next pole of `known`. After the last known pole, each model adds the mode that explains most of the
    residual. A decay is preferred in two cases: it explains nearly as much as an oscillation, or the oscillation is nearly a
    double decay (see `DOUBLE`).

    most: largest number of modes.
    """
    candidates = Candidates(problem, candidate_poles(problem.step, problem.length))
    poles = np.zeros(0, dtype=complex)
    while len(poles) < most:
        if known is not None and len(known) > len(poles):
            poles = problem.refine(np.append(poles, single(known[len(poles)])))
        else:
            options = []
            for candidate in candidates.best(*problem.residual_basis(poles)):
                option = problem.refine(np.append(poles, candidate))
                options.append((np.linalg.norm(problem.residual_basis(option)[0]), option))
            (slow, decay), (fast, swing) = options
            poles = decay if slow < ENOUGH_DECAY * fast or (single(swing) != swing).any() else swing
        yield fitted_modes(problem, poles, np.ones(problem.outputs.shape[1]), 0.0)


def single(poles: np.ndarray) -> np.ndarray:
    """Return poles in which one decay replaces each oscillation that is nearly a double decay (see `DOUBLE`)."""
    return np.where(poles.imag < -DOUBLE * poles.real, poles.real + 0j, poles)


def linear_law(modes: Modes, count: int, time: float) -> Law:
    """Return the first `count` modes as a law without feedback, with states of order one.

    Each residue (outputs, inputs) is replaced by its best rank-one approximation: mode shape × participation vector.

    time: the time unit of the law in seconds.
    """
    chosen = np.argsort(modes.poles[:count].imag > 0, kind="stable")
    poles = modes.poles[:count][chosen] * time
    decays = int((poles.imag == 0).sum())
    outputs, inputs, _ = modes.residues.shape
    drive = np.zeros((count, inputs), complex)
    shapes = np.zeros((outputs, count), complex)
    for place, mode in enumerate(chosen):
        # the factors of a decay must be real, and a complex SVD may give them any phase
        residue = modes.residues[:, :, mode] if poles[place].imag else modes.residues[:, :, mode].real
        left, size, right = np.linalg.svd(residue * time)
        # the scale makes the coordinate of order one: under white noise its variance is |b|² / (2 |Re μ|)
        unit = np.sqrt(np.abs(poles[place].real) + 0.1 * np.abs(poles[place]))
        drive[place], shapes[:, place] = unit * right[0], left[:, 0] * size[0] / unit
    return Law(
        poles, drive, np.zeros((2 * count - decays, 0)), np.zeros((1, 2 * count - decays)), np.zeros(0),
        split(shapes.conj(), decays), modes.direct.copy(), np.zeros(outputs), np.zeros(2 * count - decays),
        np.array([[-1.0, 1.0]]), LINEAR,
    )  # fmt: skip
