"""The search for the poles and dead times of a plant (see `plant`), and the curves that follow from a linear fit.

Words: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from lfno.identification.feedback.initial import mode_path, single
from lfno.identification.feedback.plant import LINE, Basis, Curve, Plant
from lfno.identification.identify import Modes, fitted_modes
from lfno.identification.projection import Projection
from lfno.identification.search import residues_of

#: dead times that are tried first, in samples
TABLE = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
#: changes of a dead time that are tried afterwards, in samples
NEAR = (-2.0, -1.0, 1.0, 2.0)
#: number of dead times of one input for which the poles are refined
REFINED = 2
#: another dead time is accepted if the error falls below this part of the old error
EARLIER = 0.995
#: largest number of rounds over all inputs
ROUNDS = 3
#: a curve is kept if the held-out error without this curve is above this multiple of the held-out error with it
CURVED = 1.02
#: number of rounds in which residues and curves are fitted in turn
TURNS = 4
#: number of points of a curve
POINTS = 400


@dataclass(frozen=True)
class Fit:
    """A linear fit of a plant.

    plant: the data.
    hold: interpolation of the input between samples.
    delays: dead time of each input in samples, (inputs,).
    poles: in 1/s, (modes,).
    bases: the functions of each input.
    """

    plant: Plant
    hold: str
    delays: np.ndarray
    poles: np.ndarray
    bases: tuple[Basis | Curve, ...]

    @cached_property
    def error(self) -> float:
        """Return the norm of the training residual with the present poles."""
        return float(np.linalg.norm(self.problem().residual_basis(self.poles)[0]))

    def problem(self) -> Projection:
        """Return the least-squares problem."""
        return self.plant.problem(self.delays, self.bases, self.hold)

    def polished(self) -> Fit:
        """Return the fit with refined poles."""
        return replace(self, poles=refined(self.problem(), self.poles))

    def modes(self) -> Modes:
        """Return the modes with residues (outputs, inputs, modes). Each input has only one function."""
        problem, inputs = self.problem(), self.plant.inputs
        found = fitted_modes(problem, refined(problem, self.poles), np.ones(problem.outputs.shape[1]), 0.0)
        # further inputs are the pulses of the free motion
        return replace(found, residues=found.residues[:, :inputs], direct=found.direct[:, :inputs])

    def with_delay(self, channel: int, delay: float) -> Fit:
        """Return the fit with another dead time of one input."""
        return replace(self, delays=np.where(np.arange(len(self.delays)) == channel, delay, self.delays))


def refined(problem: Projection, poles: np.ndarray) -> np.ndarray:
    """Return refined poles. One decay replaces each oscillation that is nearly a double decay."""
    found = problem.refine(poles)
    return found if (single(found) == found).all() else problem.refine(single(found))


def grown(fit: Fit, holds: Sequence[str]) -> Fit:
    """Return the best fit with one more mode. The dead times are searched again, for each hold of the input."""
    found = []
    for hold in holds:
        begun = replace(fit, hold=hold)
        *_, modes = mode_path(begun.problem(), len(fit.poles) + 1, fit.poles)
        found.append(timed(replace(begun, poles=modes.poles)))
    return min(found, key=lambda one: one.error)


def timed(fit: Fit) -> Fit:
    """Return the fit with better dead times. One input after the other is changed."""
    fit = fit.polished()
    for _ in range(ROUNDS):
        before = fit
        for channel, now in enumerate(fit.delays):
            places = {float(place) for place in (*TABLE, *(now + np.array(NEAR))) if 0 <= place != now}
            # the poles are refined for the most promising dead times only
            options = sorted((fit.with_delay(channel, place) for place in sorted(places)), key=lambda one: one.error)
            best = min((one.polished() for one in options[:REFINED]), key=lambda one: one.error)
            fit = best if best.error < EARLIER * fit.error else fit
        if fit is before:
            break
    return fit


def curved_inputs(fit: Fit) -> tuple[list[int], float]:
    """Return the indices of the inputs whose curves lower the held-out error. The others count as linear.

    The second result is the held-out error with these curves, relative to the error without curves.
    """
    plant = fit.plant
    bases = [plant.bends(i) for i in range(plant.inputs)]

    def error(tried: Sequence[Basis]) -> float:
        problem = plant.problem(fit.delays, tried, fit.hold, hold_out=True)
        return problem.error(problem.refine(fit.poles))

    kept = [i for i, basis in enumerate(bases) if basis.count > 1]
    now, straight = error(bases), error([LINE for _ in bases])
    while kept:
        tried = [(error([LINE if k == i or k not in kept else basis for k, basis in enumerate(bases)]), i) for i in kept]
        least, channel = min(tried)
        if least > CURVED * now:
            break
        now = min(least, now)
        kept.remove(channel)
    return kept, now / straight


@dataclass(frozen=True)
class Curves:
    """The curves of the inputs in a linear fit.

    fit: the fit with these curves.
    places, values: points of the curve of each input, (points,). Values are of order one.
    """

    fit: Fit
    places: list[np.ndarray]
    values: list[np.ndarray]


def curves(fit: Fit, curved: Sequence[int]) -> Curves:
    """Return the curves of the inputs, and the fit with these curves.

    curved: the indices of the inputs with a curve.

    In the first fit, each function h has its own residues. The best approximation of these residues by products of common
    residues and factors gives the first factors of each curve. Then residues and factors are fitted in turn.
    """
    plant = fit.plant
    bases = [plant.bends(i) if i in curved else LINE for i in range(plant.inputs)]
    problem = plant.problem(fit.delays, bases, fit.hold)
    poles = refined(problem, fit.poles)
    places = [plant.points(i, POINTS) for i in range(plant.inputs)]
    tables = [basis(place) for basis, place in zip(bases, places, strict=True)]
    edges = np.cumsum([0, *(basis.count for basis in bases)])
    residues = residues_of(problem, poles)[1] / np.abs(poles)
    # two modes with similar poles may have large residues that cancel, so the static gain is a second start
    still = -(residues * np.abs(poles) / poles).real.sum(-1, keepdims=True)
    starts = [[_leading(part[:, begin:end], table) for (begin, end), table in zip(pairwise(edges), tables, strict=True)]
              for part in (residues, still)]  # fmt: skip
    tried = [row for weights in starts for row in _turned(problem, poles, weights, tables, edges)]
    _, poles, weights = min(tried, key=lambda row: row[0])
    chosen = tuple(replace(basis, weights=weight) for basis, weight in zip(bases, weights, strict=True))
    values = [weight @ table for weight, table in zip(weights, tables, strict=True)]
    return Curves(replace(fit, poles=poles, bases=chosen), places, values)


def _leading(residues: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the factors of the curve that explains most of the residues (outputs, functions, modes) of one input.

    table: h at points of the curve, (functions, points).
    """
    own = np.moveaxis(residues, 1, 2).reshape(-1, residues.shape[1])
    own = np.concatenate([own.real, own.imag])
    return np.asarray(np.linalg.svd(own @ (table - table.mean(1, keepdims=True)), full_matrices=False)[0][:, 0] @ own)


def _turned(
    problem: Projection, poles: np.ndarray, weights: list[np.ndarray], tables: Sequence[np.ndarray], edges: np.ndarray
) -> Iterator[tuple[float, np.ndarray, list[np.ndarray]]]:
    """Fit residues and factors in turn. Yield after each turn the norm of the residual, the poles and the factors."""
    for _ in range(TURNS):
        weights = [_scaled(*pair) for pair in zip(weights, tables, strict=True)]
        reduced = _reduced(problem, weights, edges)
        poles = refined(reduced, poles)
        yield float(np.linalg.norm(reduced.residual_basis(poles)[0])), poles, weights
        weights = _weights(problem, poles, residues_of(reduced, poles)[1], edges)


def _scaled(weight: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the factors of a curve with the standard deviation one; 1 for a linear input.

    table: h at points of the curve, (functions, points).
    """
    return weight / (weight @ table).std() if len(weight) > 1 else np.ones(1)


def _reduced(problem: Projection, weights: Sequence[np.ndarray], edges: np.ndarray) -> Projection:
    """Return the problem whose inputs are the curves Σ_j a_ij h_ij, then the pulses of the free motion."""
    parts = [np.einsum("h,sht->st", weight, problem.inputs[:, begin:end])[:, None]
             for weight, (begin, end) in zip(weights, pairwise(edges), strict=True)]  # fmt: skip
    inputs = np.concatenate([*parts, problem.inputs[:, edges[-1] :]], axis=1)
    return Projection(
        inputs, problem.outputs, problem.step, problem.hold, problem.warmup, direct=False, moments=problem.moments,
        hold_out=False, constant=True,
    )  # fmt: skip


def _weights(problem: Projection, poles: np.ndarray, residues: np.ndarray, edges: np.ndarray) -> list[np.ndarray]:
    """Return the factors a of the functions h of each input, for known residues (outputs, inputs + pulses, modes)."""
    owner = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    outputs, count = len(residues), edges[-1]
    columns, free = np.zeros((outputs, len(problem.targets), count)), []
    for mode, pole in enumerate(poles):
        value = problem.rows(problem.respond(pole)[0])
        columns += (value[:, :count] * residues[:, None, owner, mode]).real
        free += [value[:, count:].real, value[:, count:].imag]
    basis = np.linalg.qr(np.concatenate([np.ones((len(problem.targets), 1)), *free], axis=1))[0]
    seen = (columns - basis @ (basis.T @ columns)).reshape(-1, count)
    target = (problem.targets - basis @ (basis.T @ problem.targets)).T.ravel()
    found = np.linalg.lstsq(seen, target, rcond=1e-8)[0]
    return [found[begin:end] for begin, end in pairwise(edges)]
