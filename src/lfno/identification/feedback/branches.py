"""From the fast fit of a cascade to a law: approximations of its static nonlinearities, and the equations in modal form.

The docstring of `blocks` describes the cascade and its branches. The docstring of `law` has the equations of a law.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import least_squares

from lfno.identification.feedback.blocks import Blocks, Screen, units
from lfno.identification.feedback.candidate import limits
from lfno.identification.feedback.internal import modal
from lfno.identification.feedback.law import Law, placed, split
from lfno.identification.feedback.terms import Terms

#: numbers of knees that are tried as an approximation of the nonlinearity
KNEES = (1, 2, 3, 4)
#: an approximation of the nonlinearity with a relative error below this value is good enough, and so is an error below three
#: times the smallest error
CLOSE = 0.02

#: nonlinearity of one branch: the terms as functions of one signal, their shape parameters, their gains, and the linear gain
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
    """Yield good approximations of a curve n(z), the one with the fewest parameters first. There is always one with knees.

    z, n: points of the curve, each (points,).
    """
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
    """Return the cascade as a law in modal form. The nonlinear terms φ of the law act on the signals of the front filter.

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
    """Return the terms of all branches with their shape parameters. Several branches have knees only."""
    if len(parts) == 1:
        return parts[0], shapes[0]
    knees = tuple(branch for branch, terms in enumerate(parts) for _ in terms.knees)
    halves = [np.split(shape, 2) for shape in shapes]
    return Terms(len(parts), knees=knees), np.concatenate([half[side] for side in (0, 1) for half in halves])


def paths(reads: Sequence[np.ndarray], poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one output matrix (outputs, n) for all branches, and the input gains of the back filter, (n, branches).

    reads: the output matrix of each branch, for the input gains `units(poles)` of the back filter.
    poles: the poles μ of the back filter.

    One branch keeps its matrix. For several branches there is one output. Re(r w) with w′ = μ w + b n equals Re(w) with
    w′ = μ w + r b n. So the residues r move to the input gains, and the sum of all branches needs one state w for each pole.
    """
    decays = int((poles.imag == 0).sum())
    if len(reads) == 1:
        return reads[0], split(units(poles) + 0j, decays)[:, None]
    residues = [np.concatenate([row[:decays] + 0j, row[decays::2] - 1j * row[decays + 1 :: 2]]) for (row,) in reads]
    push = np.stack([split(units(poles) * residue, decays) for residue in residues], axis=1)
    return split(np.ones((1, len(poles)), complex), decays), push
