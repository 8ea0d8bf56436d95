"""Cascades of filter, static nonlinearity and filter, with parallel branches: the search for their poles.

The docstring of `blocks` has the equations. Words: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from lfno.identification.feedback.blocks import Blocks, Screen
from lfno.identification.feedback.branches import cascade_law, nonlinearities
from lfno.identification.feedback.candidate import Bench, Candidate
from lfno.identification.feedback.families import HORIZON, Report, staged, told
from lfno.identification.feedback.knees import with_knee
from lfno.identification.feedback.law import split
from lfno.identification.feedback.structure import Structure

#: frequencies of the front filter that are tried, relative to the Nyquist frequency
FREQUENCIES = np.geomspace(0.01, 0.8, 12)
#: damping ratios of the front filter that are tried
DAMPINGS = (0.1, 0.4, 0.8)
#: largest number of changes in each stage of the search; a change adds, removes or simplifies one mode, or adds one branch
MOST_STEPS = 5
#: one more mode is accepted if the error falls below this part of the old error
WORTH = 0.8
#: largest ratio of the new to the old error for which one more parallel branch is accepted
BRANCH = 0.6
#: largest number of branches
MOST_BRANCHES = 2
#: number of cascades with a further branch that are refined
BRANCHES_REFINED = 4
#: largest ratio of the new to the old error for which a simpler structure is accepted
SIMPLER = 1.1
#: largest |pole|, relative to the Nyquist frequency
FASTEST = 1.0
#: largest number of Gauss–Newton steps for the comparison of structures
FEW = 4
#: largest number of Gauss–Newton steps for the accepted structure
MANY = 12
#: largest number of knees
MOST_KNEES = 6
#: slope of a further knee, multiplied by the standard deviation of z
STEEP = 4.0
#: places of a further knee that are compared, as quantiles of z
PLACES = (0.1, 0.4, 0.6, 0.9)
#: a further knee is tried as long as the error falls below this part of the old error
ANOTHER = 0.9
#: relative decrease of the squared error below which a fit stops; the error of a cascade falls slowly in some directions
PRECISE = 2e-4


def cascades(bench: Bench, linear: Candidate, best: Candidate, report: Report) -> list[Candidate]:
    """Return fitted cascades. The search begins with a back filter that has the modes of the linear candidate.

    The list is empty if motions begin away from equilibrium, or if the error of the fast fit of `Screen` is not clearly smaller
    (`WORTH`) than the training error of `best`.
    """
    if linear.structure.free_start:
        return []
    inward = split(linear.law.drive.T, linear.law.decays)
    # the strongest input drives the front filter; the entries of B for the other inputs begin at zero
    channel = int(np.abs(inward @ linear.law.read.T).sum(1).argmax())
    screen = Screen(bench.train, channel)
    error, blocks = grown(screen, linear.law.poles, bench.deadline)
    label = f"cascade of {len(blocks.front)} and {len(blocks.back)} modes"
    label += f" in {len(blocks.mix)} branches" if len(blocks.mix) > 1 else ""
    report(f"{label}, fast fit: training error {error:.3g}")
    if not error < WORTH * np.sqrt(best.cost):
        return []
    found: list[Candidate] = []
    label += " with "
    for shapes in nonlinearities(screen, blocks):
        law = cascade_law(screen, blocks, shapes)
        structure = Structure(law.decays, len(law.poles) - law.decays, law.terms, rank_one=len(blocks.mix) == 1)
        found.append(bench.fit(label + ", ".join(law.terms.names), law, structure, bench.holds[-1], tolerance=PRECISE))
        told(found[-1], report)
        if bench.finished(found[-1]):
            return found
    while len(found[-1].structure.terms.knees) < MOST_KNEES and not bench.finished(found[-1]):
        found.append(another_knee(bench, found[-1], label))
        told(found[-1], report)
        if not found[-1].error < ANOTHER * found[-2].error:
            break
    return found


def another_knee(bench: Bench, parent: Candidate, label: str) -> Candidate:
    """Fit the parent with one more knee. Several places of the knee are compared over a short horizon."""
    z, found = bench.trajectory(parent) @ parent.law.pick.T, []
    for laws in with_knee(parent.law, z, STEEP, PLACES):
        terms = laws[0].terms
        structure = replace(parent.structure, terms=terms)
        found.append(staged(bench, label + ", ".join(terms.names), laws, structure, parent, (HORIZON,)))
    return min(found, key=lambda candidate: candidate.error)


def grown(screen: Screen, poles: np.ndarray, deadline: float) -> tuple[float, Blocks]:
    """Return the training error and the blocks of the best cascade.

    The search begins with a front filter of one mode, and a back filter with the poles of a linear model. Then modes are added
    while the error falls. Then branches are added in the same way. If there is a new branch, modes are added again. At the end,
    modes are removed while the error hardly rises.

    poles: poles of the linear model.
    deadline: a value of `time.monotonic` after which no further cascade is fitted.
    """
    tried = sorted(((screen.error(one), n, one) for n, one in enumerate(first(screen, poles))), key=lambda row: row[:2])
    reached = min((screen.refined(one, FEW) for _, _, one in tried[:3]), key=lambda row: row[0])
    fastest = FASTEST * np.pi / screen.windows.step
    stages: tuple[tuple[Callable[[Blocks], Iterator[Blocks]], float], ...]
    stages = ((larger, WORTH), (partial(branched, screen), BRANCH), (larger, WORTH), (smaller, SIMPLER))
    for number, (moves, most) in enumerate(stages):
        if number == 2 and len(reached[1].mix) == 1:
            continue
        for _ in range(MOST_STEPS):
            options = [screen.refined(one, FEW) for one in moves(reached[1]) if time.monotonic() < deadline]
            options = [row for row in options if np.abs(row[1].poles).max() < fastest]
            if not options:
                break
            error, blocks = min(options, key=lambda row: row[0])
            # FEW steps may end before the minimum
            if error < WORTH * reached[0] or moves is not smaller:
                error, blocks = screen.refined(blocks, MANY)
            if not error < most * reached[0] or np.abs(blocks.poles).max() > fastest:
                break
            reached = error, blocks
    return reached


def first(screen: Screen, poles: np.ndarray) -> Iterator[Blocks]:
    """Yield cascades with a front filter of one mode. The pole of this mode comes from a table, or from the linear model."""
    nyquist = np.pi / screen.windows.step
    poles = poles[np.argsort(poles.imag > 0, kind="stable")]
    for frequency in FREQUENCIES * nyquist:
        yield Blocks(np.array([-frequency + 0j]), np.ones((1, 1)), poles)
        for damping in DAMPINGS:
            for mix in np.eye(2)[:, None]:
                yield Blocks(frequency * np.array([-damping + 1j * np.sqrt(1 - damping**2)]), mix, poles)
    for mode, pole in enumerate(poles):
        others = np.delete(poles, mode)
        for mix in np.eye(2 if pole.imag > 0 else 1)[:, None]:
            if len(others):
                yield Blocks(poles[mode : mode + 1], mix, others)


def larger(blocks: Blocks) -> Iterator[Blocks]:
    """Yield cascades with one more decay or oscillation, in the front filter or in the back filter."""
    for front in (True, False):
        own = blocks.front if front else blocks.back
        size = float(np.abs(own).max())
        for pole in (-0.9 * size + 0j, size * (-0.5 + 1.2j)):
            yield with_mode(blocks, pole, front)


def with_mode(blocks: Blocks, pole: complex, front: bool) -> Blocks:
    """Return the blocks with one more pole. A decay comes first in its filter, and an oscillation last."""
    own = blocks.front if front else blocks.back
    poles = np.append(own, pole) if pole.imag > 0 else np.insert(own, 0, pole)
    if not front:
        return replace(blocks, back=poles)
    small = 0.01 * np.abs(blocks.mix).max(axis=1, keepdims=True)
    if pole.imag > 0:
        return replace(blocks, front=poles, mix=np.concatenate([blocks.mix, small, small], axis=1))
    return replace(blocks, front=poles, mix=np.concatenate([small, blocks.mix], axis=1))


def branched(screen: Screen, blocks: Blocks) -> Iterator[Blocks]:
    """Yield the best cascades with a further branch.

    The signal of this branch is a state of the front filter, or a state of a further mode of this filter. Nothing is yielded
    for several outputs, or if the cascade has MOST_BRANCHES branches.
    """
    if len(blocks.mix) == MOST_BRANCHES or screen.targets.shape[1] > 1:
        return
    nyquist, states, options = np.pi / screen.windows.step, blocks.mix.shape[1], []
    for row in np.eye(states):
        options.append(replace(blocks, mix=np.concatenate([blocks.mix, row[None]])))
    old = np.concatenate([blocks.mix, np.zeros((1, states))])
    for frequency in FREQUENCIES[::2] * nyquist:
        for damping in DAMPINGS:
            pole = frequency * (-damping + 1j * np.sqrt(1 - damping**2))
            for row in np.eye(2):
                mix = np.concatenate([old, np.stack([[0.0, 0.0], row])], axis=1)
                options.append(Blocks(np.append(blocks.front, pole), mix, blocks.back))
    errors = [screen.error(one) for one in options]
    for place in np.argsort(errors, kind="stable")[:BRANCHES_REFINED]:
        yield options[place]


def smaller(blocks: Blocks) -> Iterator[Blocks]:
    """Yield cascades without one mode, and cascades in which one decay replaces an oscillation."""
    for front in (True, False):
        own = blocks.front if front else blocks.back
        at = 0
        for mode, pole in enumerate(own):
            width = 2 if pole.imag > 0 else 1
            mix = np.delete(blocks.mix, np.s_[at : at + width], axis=1) if front else blocks.mix
            at += width
            rest = np.delete(own, mode)
            if len(rest) and np.abs(mix).max(axis=1).all():
                left = Blocks(rest, mix, blocks.back) if front else replace(blocks, back=rest)
                yield left
                if pole.imag > 0:
                    yield with_mode(left, -abs(pole) + 0j, front)
