"""Modal identification: the poles and residues of a linear system from its responses to any forcing.

The model is the exact pole–residue layer, u_o(t) = Σ_i ∫ h_oi(t − s) f_i(s) ds + D_oi f_i(t) with

    h_oi(t) = Re Σ_n β_oin e^{μ_n t},

whose poles all outputs and inputs share. For given poles the residues are a linear least-squares problem, so only
the poles are searched for (variable projection). They are found one at a time: the pole of a coarse table that
explains most of what is left is added, then all of them are refined together by Gauss–Newton steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.pairs import measured_moments, signal_pair
from lfno.identification.projection import Projection
from lfno.identification.response import HOLDS, interpolate, pole_response, spline_aliases
from lfno.identification.search import IMPROVEMENT, SLIGHT, constant_of, contributions, prune, residues_of, search_poles

#: no further pole is looked for below this relative error
EXHAUSTED = 1e-5
#: points of data that settle the poles; more cost only time
ENOUGH = 200_000


@dataclass(frozen=True)
class Modes:
    """h_oi(t) = Re Σ_n residues[o, i, n] e^{poles[n] t}, plus `direct` times the input.

    Poles have Im μ ≥ 0 (a real pole has a real residue) and come strongest first: `contributions` is the rms of each
    mode's own response over that of the output. `error` is the relative L2 error on held-out data, `path` that error
    for 1, 2, … poles. `covariance` (modes, 2, 2) is that of Re μ and Im μ of each mode. `constant` (outputs,) is what the
    data have besides the response of the modes, where `identify` was asked for it; `simulate` does not add it.
    """

    poles: np.ndarray
    residues: np.ndarray
    direct: np.ndarray
    contributions: np.ndarray
    error: float
    hold: str
    path: tuple[float, ...] = field(default=())
    covariance: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 2)))
    constant: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def shapes(self) -> np.ndarray:
        """Mode shapes (outputs, modes): best rank-one factor of each residue, largest entry 1."""
        if not len(self.poles):
            return np.zeros((len(self.residues), 0), dtype=complex)
        left = [np.linalg.svd(self.residues[:, :, n])[0][:, 0] for n in range(len(self.poles))]
        return np.stack([shape / shape[np.abs(shape).argmax()] for shape in left], axis=-1)

    def frequency_response(self, frequencies: np.ndarray, step: float) -> np.ndarray:
        """H_oi(2πi f) = Σ_n ½ [β/(s − μ) + β̄/(s − μ̄)] + D at frequencies in Hz, (outputs, inputs, frequencies)."""
        where = 2j * math.pi * np.asarray(frequencies)[:, None]
        swing = np.einsum("oin,fn->oif", self.residues, 1 / (where - self.poles))
        mirror = np.einsum("oin,fn->oif", self.residues.conj(), 1 / (where - self.poles.conj()))
        return (swing + mirror) / 2 + self.direct[:, :, None]

    def steady(self, inputs: np.ndarray, step: float) -> np.ndarray:
        """The periodic steady state for `(samples, inputs, time)` repeated for ever, with the hold of the modes.

        The response is exact for an input that is held, linear, or the periodic cubic spline between samples.
        """
        size = inputs.shape[-1]
        omega = 2 * math.pi * np.fft.rfftfreq(size, step)

        def answered(poles: np.ndarray) -> np.ndarray:
            z, turn = poles[:, None] * step, 1j * omega * step
            if self.hold == "cubic":  # the spline holds each frequency and, weakly, its aliases
                parts = spline_aliases(omega * step).items()
                return np.asarray(sum(part * step / (turn + 2j * math.pi * k - z) for k, part in parts))
            back = np.exp(z - turn) - 1
            if self.hold == "zero":
                return -step * np.expm1(z) / z * np.exp(-turn) / back
            first, second = (np.exp(z) - 1 - z) / z**2, (np.exp(z) * (z - 1) + 1) / z**2
            return -step * (first + second * np.exp(-turn)) / back

        swing = np.einsum("oin,nf->oif", self.residues, answered(self.poles))
        mirror = np.einsum("oin,nf->oif", self.residues.conj(), answered(self.poles.conj()))
        response = (swing + mirror) / 2 + self.direct[:, :, None]
        return np.fft.irfft(np.einsum("oif,sif->sof", response, np.fft.rfft(inputs)), size)

    def simulate(self, inputs: np.ndarray, step: float) -> np.ndarray:
        """The response from rest to `(samples, inputs, time)`."""
        pieces = interpolate(np.asarray(inputs, dtype=np.float64), step, self.hold)
        total = np.einsum("oi,sit->sot", self.direct, inputs)
        for pole, residue in zip(self.poles, np.moveaxis(self.residues, -1, 0), strict=True):
            total = total + np.einsum("oi,sit->sot", residue, pole_response(pole, pieces, step)[0]).real
        return total


def identify(
    inputs: np.ndarray,
    outputs: np.ndarray,
    grid: Grid,
    poles: np.ndarray | None = None,
    *,
    max_poles: int = 12,
    warmup: int = 0,
    hold: str | None = None,
    mask: np.ndarray | None = None,
    accuracy: float = 0.0,
    constant: bool = False,
) -> Modes:
    """Poles, residues and direct term of the linear system behind `(samples, channels, time)` responses from rest.

    Without `poles` their number is chosen on held-out data (`Modes.path` shows how the error fell); with `poles` these
    are refined and none is added. `hold` is what the input does between samples; by default the one that explains the
    data best. A record that does not start from rest needs a `warmup` (steps) as long as its memory. `mask`, in the shape
    of the outputs, is True where they were measured; only those moments are fitted. Responses that are themselves wrong
    by a relative L2 error `accuracy`, such as a network's, are explained to that error and no further. `constant` lets a
    constant be added to each output where the data ask for it.

    >>> grid = Grid.line(400, dt=0.05)
    >>> force = np.random.default_rng(0).normal(size=(20, 1, 400))
    >>> truth = Modes(np.array([-0.2 + 3j]), np.full((1, 1, 1), -0.3j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    >>> identify(force, truth.simulate(force, 0.05), grid).poles.round(6)
    array([-0.2+3.j])
    """
    inputs, outputs, step = _checked(inputs, outputs, grid, warmup)
    live = inputs.any((0, 2))
    if live.any() and not live.all():  # a channel that is always zero has no response to be identified
        options = {"max_poles": max_poles, "warmup": warmup, "hold": hold, "mask": mask, "accuracy": accuracy}
        return _widened(identify(inputs[:, live], outputs, grid, poles, constant=constant, **options), live)  # type: ignore[arg-type]
    moments = measured_moments(mask, outputs)
    scored = True if moments is None else moments[:, None, warmup:]
    scale = np.sqrt((outputs[..., warmup:] ** 2).mean((0, 2), where=scored))
    scale[~(scale > 0)] = 1.0
    targets = outputs / scale[:, None]
    problems = {
        name: Projection(inputs, targets, step, name, warmup, moments=moments, constant=constant).part(ENOUGH)
        for name in ([hold] if hold else HOLDS)
    }
    if moments is not None:
        _check_scored(problems)
    path: list[float] = []
    if poles is None:
        found, path = search_poles(problems, max_poles, max(accuracy, EXHAUSTED))
    else:
        found = _upper(poles, step)
    if constant:
        bare = {name: problem.without_constant() for name, problem in problems.items()}
        needed, least = (min(one.error(found) for one in group.values()) for group in (bare, problems))
        if SLIGHT * needed <= max(least, accuracy):
            problems, constant = bare, False
    # A direct path and the hold of the input can stand in for each other. So the hold is chosen without a direct path, and
    # a direct path is added only where it explains more: an idle one would trade against the fast poles.
    plain = {
        name: Projection(inputs, targets, step, name, warmup, False, moments, constant=constant).part(ENOUGH)
        for name in problems
    }
    problem, refined = _best(plain, found)
    with_direct, other = _best(problems, found)
    if IMPROVEMENT * problem.error(refined) > max(with_direct.error(other), accuracy):
        problem, refined = with_direct, other
    found = refined
    if poles is None:
        found = prune(problem, found, accuracy)
    error, problem = problem.error(found), problem.whole()
    return fitted_modes(problem, problem.refine(found), scale, error, tuple(path))


def _widened(modes: Modes, live: np.ndarray) -> Modes:
    """The modes with zero residues and no direct path for inputs that are not `live`."""
    residues = np.zeros((len(modes.residues), len(live), modes.residues.shape[-1]), modes.residues.dtype)
    direct = np.zeros((len(modes.direct), len(live)))
    residues[:, live], direct[:, live] = modes.residues, modes.direct
    return replace(modes, residues=residues, direct=direct)


def _best(problems: dict[str, Projection], poles: np.ndarray) -> tuple[Projection, np.ndarray]:
    """The problem, one for each hold, whose refined poles explain the data best, and these poles."""
    tried = {name: problem.refine(poles) for name, problem in problems.items()}
    best = min(tried, key=lambda name: problems[name].error(tried[name]))
    return problems[best], tried[best]


def _checked(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, warmup: int) -> tuple[np.ndarray, np.ndarray, float]:
    if grid.ndim != 1:
        raise LfnoError(f"modal identification needs signals over time, not the axes {list(grid.names)}: choose points of "
                        "the field as output channels")  # fmt: skip
    inputs, outputs = signal_pair(inputs, outputs)
    if inputs.shape[-1] != grid.shape[0]:
        raise LfnoError(f"signals of {inputs.shape[-1]} steps do not fit a grid of {grid.shape[0]}")
    if not 0 <= warmup < inputs.shape[-1] - 8:
        raise LfnoError(f"a warm-up of {warmup} steps leaves nothing of the {inputs.shape[-1]} steps to fit")
    return inputs, outputs, grid.steps[0]


def _check_scored(problems: dict[str, Projection]) -> None:
    """Raise where the gaps leave too little to fit or to hold out."""
    held = next(iter(problems.values())).held
    if min(held.sum(), (~held).sum()) < 8:
        raise LfnoError(
            f"only {len(held)} measured samples are left for the identification (after warm-up and gaps): more are needed"
        )


def _upper(poles: np.ndarray, step: float) -> np.ndarray:
    """One of each conjugate pair, and stable: where a search can start."""
    poles = np.atleast_1d(poles).ravel()
    if poles.dtype.kind not in "fiubc" or not np.isfinite(poles).all():
        raise LfnoError(f"the poles to start from have dtype {poles.dtype} or are not finite; complex numbers are needed")
    poles = poles.astype(np.complex128)
    if (fastest := np.abs(poles).max(initial=0)) * step > 100:
        raise LfnoError(f"a pole of {fastest:.3g} 1/s to start from is beyond what steps of {step:g} s show")
    poles = poles[poles.imag >= 0]
    return np.minimum(poles.real, -1e-6 * np.abs(poles) - 1e-12) + 1j * poles.imag


def fitted_modes(
    problem: Projection, poles: np.ndarray, scale: np.ndarray, error: float, path: tuple[float, ...] = ()
) -> Modes:
    """The coefficients of the regression as residues, strongest mode first."""
    direct, residues = residues_of(problem, poles)
    strength = contributions(problem, poles)
    order = np.argsort(-strength)
    return Modes(
        poles[order], residues[..., order] * scale[:, None, None], direct * scale[:, None], strength[order],
        error, problem.hold, path, problem.covariance(poles)[order], constant_of(problem, poles) * scale,
    )  # fmt: skip


