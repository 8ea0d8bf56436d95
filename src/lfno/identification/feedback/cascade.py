"""Cascades of filter, static nonlinearity and filter, with parallel branches: search for their poles, and law of the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

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
#: largest number of modes that a search adds to the first ones
MOST_STEPS = 5
#: largest ratio of the new to the old error for which one more mode is accepted
WORTH = 0.8
#: largest ratio of the new to the old error for which one more parallel branch is accepted
BRANCH = 0.6
#: largest number of branches
MOST_BRANCHES = 2
#: cascades with a further branch that are refined
BRANCHES_REFINED = 4
#: largest ratio of the new to the old error for which a simpler structure is accepted
SIMPLER = 1.1
#: largest |pole|, relative to the Nyquist frequency
FASTEST = 1.0
#: Gauss–Newton steps for the comparison of structures, and for the accepted structure
FEW, MANY = 4, 12
#: numbers of knees that describe the nonlinearity
KNEES = (1, 2, 3, 4)
#: largest number of knees
MOST_KNEES = 6
#: places of a further knee that are compared, as quantiles of z
PLACES = (0.1, 0.4, 0.6, 0.9)
#: largest ratio of the new to the old error for which one more knee is tried
ANOTHER = 0.9
#: relative decrease of the squared error below which a fit of a cascade stops; its minima are long valleys
PRECISE = 2e-4
#: relative error of a curve below which it describes the nonlinearity well enough
CLOSE = 0.02


def cascades(bench: Bench, linear: Candidate, best: Candidate, report: Report) -> list[Candidate]:
    """Fit cascades that begin with the modes of a linear candidate.

    The list is empty if the fast fit of `Screen` has no smaller error than `best`.
    """
    if linear.structure.free_start:
        return []
    inward = split(linear.law.drive.T, linear.law.decays)
    # the strongest input drives the front filter; the others begin without influence
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
    signals, old, laws = bench.trajectory(parent) @ parent.law.pick.T, parent.law.terms, []
    steep, shift = np.split(parent.law.shape, 2)
    gains = np.concatenate([parent.law.gains, np.zeros((parent.law.states, 1))], axis=1)
    for signal, z in enumerate(np.moveaxis(signals, -1, 0)):
        terms, unit = replace(old, knees=(*old.knees, signal)), 4 / float(z.std())
        for place in np.quantile(z, PLACES):
            shape = np.concatenate([steep, [unit], shift, [-unit * place]])
            laws.append(replace(parent.law, terms=terms, gains=gains, shape=shape))
    found = []
    for signal in range(signals.shape[-1]):
        terms = replace(old, knees=(*old.knees, signal))
        structure, own = replace(parent.structure, terms=terms), [law for law in laws if law.terms == terms]
        found.append(staged(bench, label + ", ".join(terms.names), own, structure, parent, (HORIZON,)))
    return min(found, key=lambda candidate: candidate.error)


def grown(screen: Screen, poles: np.ndarray, deadline: float) -> tuple[float, Blocks]:
    """Return the best cascade that begins with a front filter of one mode and the poles of a linear model as back filter."""
    tried = sorted(((screen.error(one), n, one) for n, one in enumerate(first(screen, poles))), key=lambda row: row[:2])
    reached = min((screen.refined(one, FEW) for _, _, one in tried[:3]), key=lambda row: row[0])
    fastest = FASTEST * np.pi / screen.windows.step
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
            # the few steps need not reach the minimum
            if error < WORTH * reached[0] or moves is not smaller:
                error, blocks = screen.refined(blocks, MANY)
            if not error < most * reached[0] or np.abs(blocks.poles).max() > fastest:
                break
            reached = error, blocks
    return reached


def first(screen: Screen, poles: np.ndarray) -> Iterator[Blocks]:
    """Yield cascades with a front filter of one mode: from a grid, and from the poles of the linear model."""
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
    """Yield cascades with one more decay or oscillation, in front or at the back."""
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

    The signal of this branch is a state of the front filter, or a state of a further mode in front.
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


#: terms of one branch: the terms as functions of one signal, their shapes, their gains, and the slope of the linear part
Shape = tuple[Terms, np.ndarray, np.ndarray, float]


def nonlinearities(screen: Screen, blocks: Blocks) -> Iterator[list[Shape]]:
    """Yield approximations of the nonlinearities, one `Shape` for each branch.

    There is at most one approximation by polynomials and at most one by knees, in this order. Each has as few terms as a good
    approximation needs. Several branches have knees only.
    """
    branches = [list(approximations(z, n)) for _, z, n in screen.curve(blocks)]
    for knees in (False, True) if len(branches) == 1 else (True,):
        good = [[shape for shape in branch if bool(shape[0].knees) == knees] for branch in branches]
        if all(good):
            yield [branch[0] for branch in good]


def approximations(z: np.ndarray, n: np.ndarray) -> Iterator[Shape]:
    """Yield good approximations of a curve n(z), the one with the fewest parameters first. There is always one with knees."""
    tried = []
    for count in KNEES:
        places = np.quantile(z, (np.arange(count) + 0.5) / count)
        terms, unit = Terms(1, knees=(0,) * count), 2 / z.std()
        shape = np.concatenate([np.full(count, unit), -unit * places])

        def missed(vector: np.ndarray, terms: Terms = terms) -> np.ndarray:
            return approximated(terms, vector, z, n)[1]

        found = least_squares(missed, shape, max_nfev=100)
        tried.append((float(np.linalg.norm(found.fun)), terms, found.x))
    knees = min(row[0] for row in tried)
    for degrees in ((2, 3), (2, 3, 4, 5)):
        terms = Terms(1, powers=tuple((degree,) for degree in degrees))
        tried.append((float(np.linalg.norm(approximated(terms, np.zeros(0), z, n)[1])), terms, np.zeros(0)))
    tried.sort(key=lambda row: row[1].count + row[1].shapes)
    least = max(3 * min(row[0] for row in tried), CLOSE * float(np.linalg.norm(n - n.mean())))
    for error, terms, shape in tried:
        if error <= least or error == knees:
            gains = approximated(terms, shape, z, n)[0]
            yield terms, shape, gains[2:], float(gains[1])


def approximated(terms: Terms, shape: np.ndarray, z: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Approximate n(z) by a constant, z and the terms. Return the coefficients and the residual."""
    basis = np.concatenate([np.ones((len(z), 1)), z[:, None], terms.values(z[:, None], shape)], axis=1)
    found = np.linalg.lstsq(basis, n, rcond=1e-10)[0]
    return found, n - basis @ found


def cascade_law(screen: Screen, blocks: Blocks, shapes: Sequence[Shape]) -> Law:
    """Return the cascade as a law: its modal form, with φ of the front filter's signals.

    shapes: the nonlinearity of each branch.
    """
    curves = screen.curve(blocks)
    z = np.stack([points for _, points, _ in curves], axis=1)
    terms, shape = together([one[0] for one in shapes], [one[1] for one in shapes])
    front, back = (int((poles.imag == 0).sum()) for poles in (blocks.front, blocks.back))
    read, push = paths([one[0] for one in curves], blocks.back)
    ahead, behind = blocks.mix.shape[1], read.shape[1]
    matrix = np.zeros((ahead + behind, ahead + behind))
    matrix[:ahead, :ahead], matrix[ahead:, ahead:] = placed(blocks.front, front), placed(blocks.back, back)
    matrix[ahead:, :ahead] = (push * [one[3] for one in shapes]) @ blocks.mix
    entries = np.zeros((ahead + behind, 1 + len(shapes)))
    entries[:ahead, 0], entries[ahead:, 1:] = split(units(blocks.front) + 0j, front), push
    rows = np.zeros((len(read) + len(shapes), ahead + behind))
    rows[: len(read), ahead:], rows[len(read) :, :ahead] = read, blocks.mix
    poles, drive, rows = modal(matrix, entries, rows)
    inputs = screen.windows.inputs.shape[2]
    lead = split(drive[:, 1:].T, int((poles.imag == 0).sum()))
    gains = np.concatenate([np.outer(way, one[2]) for way, one in zip(lead, shapes, strict=True)], axis=1)
    return Law(
        poles, drive[:, :1] * (np.arange(inputs) == screen.channel), gains, rows[len(read) :], shape, rows[: len(read)],
        np.zeros((len(read), inputs)), np.zeros(len(read)), np.zeros(rows.shape[1]), limits(z, terms), terms,
    )  # fmt: skip


def together(parts: Sequence[Terms], shapes: Sequence[np.ndarray]) -> tuple[Terms, np.ndarray]:
    """Return the terms of all branches with their shapes. Several branches have knees only."""
    if len(parts) == 1:
        return parts[0], shapes[0]
    knees = tuple(branch for branch, terms in enumerate(parts) for _ in terms.knees)
    halves = [np.split(shape, 2) for shape in shapes]
    return Terms(len(parts), knees=knees), np.concatenate([half[side] for side in (0, 1) for half in halves])


def paths(reads: Sequence[np.ndarray], poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one output matrix (outputs, n) for all branches, and the input of each branch into the back filter, (n, branches).

    reads: the output matrix of each branch, if all branches enter with the input `units(poles)`.

    One branch keeps its matrix. Several branches have one output: Re(r w) with w′ = μ w + b n is also Re(w) with
    w′ = μ w + r b n, so the residues r become inputs and the sum of the branches needs one state w for each pole.
    """
    decays = int((poles.imag == 0).sum())
    if len(reads) == 1:
        return reads[0], split(units(poles) + 0j, decays)[:, None]
    residues = [np.concatenate([row[:decays] + 0j, row[decays::2] - 1j * row[decays + 1 :: 2]]) for (row,) in reads]
    push = np.stack([split(units(poles) * residue, decays) for residue in residues], axis=1)
    return split(np.ones((1, len(poles)), complex), decays), push
