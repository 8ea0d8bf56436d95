"""A table of candidate poles, and how much each candidate explains of a residual."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lfno.identification.projection import Projection

#: largest number of response values (rows × columns) that stay in memory: 256 MB
MOST_KEPT = 2**25
#: smallest squared norm of a response after the projection, relative to the squared norm of the response
RIDGE = 1e-8


class Candidates:
    """The responses of candidate poles to the inputs of a problem. A search needs these responses for every pole it adds.

    problem: the fit to which one more pole is added.
    poles: the candidates in 1/s, for example the result of `candidate_poles`.
    """

    def __init__(self, problem: Projection, poles: np.ndarray) -> None:
        self.problem, self.poles = problem, poles
        columns = 2 * problem.inputs.shape[1] * len(poles)
        self._kept: list[np.ndarray] | None = [] if len(problem.targets) * columns <= MOST_KEPT else None

    def gains(self, residual: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Return by how much each candidate lowers the sum of squares, (candidates,).

        residual, basis: result of `Projection.residual_basis` for the present poles.

        >>> force = np.random.default_rng(0).normal(size=(20, 1, 200))
        >>> truth = Projection(force, force, 0.1, "linear").respond(-0.3 + 2j)[0].real
        >>> problem = Projection(force, truth, 0.1, "linear", direct=False)
        >>> candidates = Candidates(problem, np.array([-0.3 + 1j, -0.3 + 2j, -0.3 + 3j]))
        >>> int(candidates.gains(*problem.residual_basis(np.zeros(0))).argmax())
        1
        """
        both = np.concatenate([residual, basis], axis=1).T.copy()
        found = []
        for block in self._blocks():
            seen, inside = np.split(both @ block, [residual.shape[1]])
            # the ridge keeps the matrix regular if the response lies in the span of the present poles
            gram = block.T @ block
            gram = gram - inside.T @ inside + RIDGE * np.diag(gram.diagonal() + 1e-300)
            found.append(float((seen * np.linalg.solve(gram, seen.T).T).sum()))
        return np.array(found)

    def best(self, residual: np.ndarray, basis: np.ndarray) -> list[complex]:
        """Return the decay and the oscillation that explain most; the arguments are those of `gains`."""
        gains = self.gains(residual, basis)
        return [self.poles[kind][gains[kind].argmax()] for kind in (self.poles.imag == 0, self.poles.imag > 0)]

    def _blocks(self) -> Iterator[np.ndarray]:
        """Yield the response of each candidate as columns of the regression matrix, (rows, inputs or 2 · inputs)."""
        if self._kept:
            yield from self._kept
            return
        kept = []
        for pole in self.poles:
            value = self.problem.rows(self.problem.values(pole))
            block = value.real.copy() if pole.imag == 0 else np.concatenate([value.real, value.imag], axis=1)
            kept.append(block)
            yield block
            if self._kept is None:
                kept.clear()
        self._kept = kept or None


def candidate_poles(step: float, length: int) -> np.ndarray:
    """Return a table of decays and oscillations as poles in 1/s, (candidates,).

    Oscillations reach from one period in the record to 0.8 of the Nyquist frequency, with four damping ratios. The slowest
    decay has a fifth of the smallest |μ| of the oscillations.

    step: sampling step in seconds.
    length: number of samples in the record.
    """
    slowest, fastest = 2 * math.pi / (step * length), 0.8 * math.pi / step
    decays = np.geomspace(0.2 * slowest, fastest, 24)
    table = [complex(-decay, 0.0) for decay in decays]
    for damping in (0.01, 0.05, 0.2, 0.6):
        # the spacing of candidates is about the half-power width of the resonance, so that neighbours overlap
        count = math.ceil(math.log(fastest / slowest) / math.log1p(max(2 * damping, 0.03)))
        for frequency in np.geomspace(slowest, fastest, count):
            table.append(frequency * complex(-damping, math.sqrt(1 - damping**2)))
    return np.array(table)
