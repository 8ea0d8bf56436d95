"""Cascades of filter, static nonlinearity and filter: the search for their poles, and the law of the result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from lfno.identification.feedback.blocks import Blocks, Screen, units
from lfno.identification.feedback.candidate import Bench, Candidate, limits
from lfno.identification.feedback.families import HORIZON, Report, staged, told
from lfno.identification.feedback.internal import modal
from lfno.identification.feedback.law import Law, placed, split
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms

#: frequencies of the front filter that are tried, relative to the Nyquist frequency
FREQUENCIES = np.geomspace(0.01, 0.8, 12)
#: damping ratios of the front filter that are tried
DAMPINGS = (0.1, 0.4, 0.8)
#: largest number of modes that the search adds, and largest number that it removes
MOST_STEPS = 5
#: one more mode is accepted if the error falls below this part of the old error
WORTH = 0.8
#: largest ratio of the new to the old error for which a simpler structure is accepted
SIMPLER = 1.1
#: largest |pole|, relative to the Nyquist frequency
FASTEST = 1.0
#: number of Gauss–Newton steps for the comparison of structures
FEW = 4
#: number of Gauss–Newton steps for the accepted structure
MANY = 12
#: numbers of knees that the first description of the nonlinearity may have
KNEES = (1, 2, 3, 4)
#: largest number of knees
MOST_KNEES = 6
#: places of a further knee that are compared, as quantiles of z
PLACES = (0.1, 0.4, 0.6, 0.9)
#: a further knee is tried as long as the error falls below this part of the old error
ANOTHER = 0.9
#: relative decrease of the squared error below which a fit stops; the error of a cascade falls slowly in some directions
PRECISE = 2e-4
#: a curve describes the nonlinearity well enough if its relative error is below this value
CLOSE = 0.02


def cascades(bench: Bench, linear: Candidate, best: Candidate, report: Report) -> list[Candidate]:
    """Return fitted cascades, whose first back filter has the modes of a linear candidate.

    The list is empty if the error of the fast fit of `Screen` is not clearly smaller (`WORTH`) than the error of `best`.
    """
    if linear.structure.free_start:
        return []
    inward = split(linear.law.drive.T, linear.law.decays)
    # the strongest input drives the front filter; the entries of B for the other inputs begin at zero
    channel = int(np.abs(inward @ linear.law.read.T).sum(1).argmax())
    screen = Screen(bench.train, channel)
    error, blocks = grown(screen, linear.law.poles, bench.deadline)
    report(f"cascade of {len(blocks.front)} and {len(blocks.back)} modes, fast fit: training error {error:.3g}")
    if not error < WORTH * np.sqrt(best.cost):
        return []
    found: list[Candidate] = []
    label = f"cascade of {len(blocks.front)} and {len(blocks.back)} modes with "
    for terms, shape, gains, slope in nonlinearities(screen, blocks):
        law = cascade_law(screen, blocks, terms, shape, gains, slope)
        structure = Structure(law.decays, len(law.poles) - law.decays, terms)
        found.append(bench.fit(label + ", ".join(terms.names), law, structure, bench.holds[-1], tolerance=PRECISE))
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
    z, old = bench.trajectory(parent) @ parent.law.pick[0], parent.law.terms
    terms, unit = replace(old, knees=(*old.knees, 0)), 4 / float(z.std())
    steep, shift = np.split(parent.law.shape, 2)
    gains = np.concatenate([parent.law.gains, np.zeros((parent.law.states, 1))], axis=1)
    laws = [
        replace(parent.law, terms=terms, gains=gains, shape=np.concatenate([steep, [unit], shift, [-unit * place]]))
        for place in np.quantile(z, PLACES)
    ]
    structure = replace(parent.structure, terms=terms)
    return staged(bench, label + ", ".join(terms.names), laws, structure, parent, (HORIZON,))


def grown(screen: Screen, poles: np.ndarray, deadline: float) -> tuple[float, Blocks]:
    """Return the training error and the poles of the best cascade.

    The search begins with a front filter of one mode, and a back filter with the poles of a linear model. Then modes are added
    while the error falls, and removed while the error hardly rises.
    """
    tried = sorted(((screen.error(one), n, one) for n, one in enumerate(first(screen, poles))), key=lambda row: row[:2])
    reached = min((screen.refined(one, FEW) for _, _, one in tried[:3]), key=lambda row: row[0])
    fastest = FASTEST * np.pi / screen.windows.step
    for moves, most in ((larger, WORTH), (smaller, SIMPLER)):
        for _ in range(MOST_STEPS):
            options = [screen.refined(one, FEW) for one in moves(reached[1]) if time.monotonic() < deadline]
            options = [row for row in options if np.abs(row[1].poles).max() < fastest]
            if not options:
                break
            error, blocks = min(options, key=lambda row: row[0])
            # the few steps need not reach the minimum
            if error < WORTH * reached[0] or moves is larger:
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
        yield Blocks(np.array([-frequency + 0j]), np.ones(1), poles)
        for damping in DAMPINGS:
            for mix in np.eye(2):
                yield Blocks(frequency * np.array([-damping + 1j * np.sqrt(1 - damping**2)]), mix, poles)
    for mode, pole in enumerate(poles):
        others = np.delete(poles, mode)
        for mix in np.eye(2 if pole.imag > 0 else 1):
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
    small = 0.01 * np.abs(blocks.mix).max()
    mix = np.append(blocks.mix, [small, small]) if pole.imag > 0 else np.insert(blocks.mix, 0, small)
    return replace(blocks, front=poles, mix=mix)


def smaller(blocks: Blocks) -> Iterator[Blocks]:
    """Yield cascades without one mode, and cascades in which one decay replaces an oscillation."""
    for front in (True, False):
        own = blocks.front if front else blocks.back
        at = 0
        for mode, pole in enumerate(own):
            width = 2 if pole.imag > 0 else 1
            mix = np.delete(blocks.mix, np.s_[at : at + width]) if front else blocks.mix
            at += width
            rest = np.delete(own, mode)
            if len(rest):
                left = Blocks(rest, mix, blocks.back) if front else replace(blocks, back=rest)
                yield left
                if pole.imag > 0:
                    yield with_mode(left, -abs(pole) + 0j, front)


def nonlinearities(screen: Screen, blocks: Blocks) -> Iterator[tuple[Terms, np.ndarray, np.ndarray, float]]:
    """Yield terms, their shapes, their gains, and the slope of the linear part, as approximations of the nonlinearity.

    There is at most one polynomial and at most one sum of knees, in this order. Each has as few terms as a good fit needs.
    """
    _, z, n = screen.curve(blocks)
    tried = []
    for count in KNEES:
        places = np.quantile(z, (np.arange(count) + 0.5) / count)
        terms, unit = Terms(1, knees=(0,) * count), 2 / z.std()
        shape = np.concatenate([np.full(count, unit), -unit * places])

        def missed(vector: np.ndarray, terms: Terms = terms) -> np.ndarray:
            return approximated(terms, vector, z, n)[1]

        found = least_squares(missed, shape, max_nfev=100)
        tried.append((float(np.linalg.norm(found.fun)), terms, found.x))
    for degrees in ((2, 3), (2, 3, 4, 5)):
        terms = Terms(1, powers=tuple((degree,) for degree in degrees))
        tried.append((float(np.linalg.norm(approximated(terms, np.zeros(0), z, n)[1])), terms, np.zeros(0)))
    tried.sort(key=lambda row: row[1].count + row[1].shapes)
    least = max(3 * min(row[0] for row in tried), CLOSE * float(np.linalg.norm(n - n.mean())))
    for kind in (False, True):
        for error, terms, shape in tried:
            if error <= least and bool(terms.knees) == kind:
                gains = approximated(terms, shape, z, n)[0]
                yield terms, shape, gains[2:], float(gains[1])
                break


def approximated(terms: Terms, shape: np.ndarray, z: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Approximate n(z) by a constant, z and the terms. Return the coefficients (2 + terms,) and the residual (points,).

    z, n: points of the nonlinearity, each (points,).
    """
    basis = np.concatenate([np.ones((len(z), 1)), z[:, None], terms.values(z[:, None], shape)], axis=1)
    found = np.linalg.lstsq(basis, n, rcond=1e-10)[0]
    return found, n - basis @ found


def cascade_law(
    screen: Screen, blocks: Blocks, terms: Terms, shape: np.ndarray, gains: np.ndarray, slope: float
) -> Law:
    """Return the cascade as a law: its modal form, with φ of the front filter's signal.

    gains: (terms,), the coefficients of the terms in the nonlinearity.
    slope: the slope of its linear part.
    """
    read, z, _ = screen.curve(blocks)
    front, back = (int((poles.imag == 0).sum()) for poles in (blocks.front, blocks.back))
    ahead, behind = len(blocks.mix), read.shape[1]
    inward = split(units(blocks.front) + 0j, front)
    push = split(units(blocks.back) + 0j, back)
    matrix = np.zeros((ahead + behind, ahead + behind))
    matrix[:ahead, :ahead], matrix[ahead:, ahead:] = placed(blocks.front, front), placed(blocks.back, back)
    matrix[ahead:, :ahead] = slope * np.outer(push, blocks.mix)
    entries = np.zeros((ahead + behind, 2))
    entries[:ahead, 0], entries[ahead:, 1] = inward, push
    rows = np.zeros((len(read) + 1, ahead + behind))
    rows[:-1, ahead:], rows[-1, :ahead] = read, blocks.mix
    poles, drive, rows = modal(matrix, entries, rows)
    n, inputs = rows.shape[1], screen.windows.inputs.shape[2]
    lead = split(drive[:, 1], int((poles.imag == 0).sum()))
    return Law(
        poles, drive[:, :1] * (np.arange(inputs) == screen.channel), np.outer(lead, gains), rows[-1:], shape, rows[:-1],
        np.zeros((len(read), inputs)), np.zeros(len(read)), np.zeros(n), limits(z[:, None], terms), terms,
    )  # fmt: skip
