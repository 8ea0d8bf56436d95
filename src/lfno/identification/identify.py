"""Modal identification: the poles and residues of a linear system from its responses to any forcing.

The model is a sum of exact pole responses and a direct term,

    u_o(t) = Σ_i ∫ h_oi(t − s) f_i(s) ds + D_oi f_i(t),      h_oi(t) = Re Σ_n β_oin e^{μ_n t}.

u_o is output o, and f_i is input i. All outputs and inputs share the poles μ_n. For given poles, the residues β and the direct
terms D solve a linear least-squares problem. So only the poles need a search (variable projection). Each step of the search
takes the decay and the oscillation of a coarse table that explain most of the residual. Gauss–Newton steps refine all poles
together. The decay or the oscillation is added if it clearly lowers the error on held-out data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.identification.pairs import measured_moments, signal_pair
from lfno.identification.projection import Projection
from lfno.identification.response import HOLDS, interpolate, pole_values, spline_aliases
from lfno.identification.search import IMPROVEMENT, SLIGHT, constant_of, contributions, prune, residues_of, search_poles

#: relative error below which the search adds no further pole
EXHAUSTED = 1e-5
#: largest number of data points in the search for poles; more points cost time and change the poles little
ENOUGH = 200_000


@dataclass(frozen=True, repr=False)
class Modes(Short):
    """A linear system with the impulse response h_oi(t) = Re Σ_n residues[o, i, n] e^{poles[n] t}, and a direct term.

    poles: (modes,), complex in 1/s, with Im μ ≥ 0, strongest mode first.
    residues: (outputs, inputs, modes), complex. A real pole has a real residue.
    direct: (outputs, inputs), the matrix D of the direct term D f(t).
    contributions: (modes,), the rms of the response of each mode, relative to the rms of the output.
    error: relative L2 error on held-out data.
    hold: interpolation of the input between samples.
    path: the relative L2 error on held-out data after each step of the search for poles; empty if there was no search.
    covariance: (modes, 2, 2), the covariance of Re μ and Im μ of each mode.
    constant: (outputs,), a fitted constant of each output. `simulate` does not add this constant.
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
        """Return the mode shapes (outputs, modes): the first left singular vector of each residue.

        The scale makes the largest entry of each shape equal to 1.
        """
        if not len(self.poles):
            return np.zeros((len(self.residues), 0), dtype=complex)
        left = [np.linalg.svd(self.residues[:, :, n])[0][:, 0] for n in range(len(self.poles))]
        return np.stack([shape / shape[np.abs(shape).argmax()] for shape in left], axis=-1)

    def frequency_response(self, frequencies: np.ndarray, step: float) -> np.ndarray:
        """Return the frequency response (outputs, inputs, frequencies) at frequencies f in Hz.

        The response is H = Σ_n ½ [β_n/(s − μ_n) + β̄_n/(s − μ̄_n)] + D at s = 2πi f. The argument `step` is not used;
        it is needed by the other kind of linear model, `fir.Taps`.
        """
        where = 2j * math.pi * np.asarray(frequencies)[:, None]
        swing = np.einsum("oin,fn->oif", self.residues, 1 / (where - self.poles))
        mirror = np.einsum("oin,fn->oif", self.residues.conj(), 1 / (where - self.poles.conj()))
        return (swing + mirror) / 2 + self.direct[:, :, None]

    def steady(self, inputs: np.ndarray, step: float) -> np.ndarray:
        """Return the periodic steady state (samples, outputs, time) for inputs `(samples, inputs, time)` that repeat for ever.

        The model interpolates the input between samples according to `hold`: constant, linear, or a periodic cubic spline. The
        response to the interpolated input is exact, with one exception: a spline contains infinitely many aliases of each
        frequency, and only those with |k| ≤ 8 in `spline_aliases` are used.
        """
        size = inputs.shape[-1]
        omega = 2 * math.pi * np.fft.rfftfreq(size, step)

        def answered(poles: np.ndarray) -> np.ndarray:
            z, turn = poles[:, None] * step, 1j * omega * step
            if self.hold == "cubic":  # the spline contains each frequency and, with small weights, the aliases of the frequency
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
        """Return the response (samples, outputs, time) from rest to inputs `(samples, inputs, time)`."""
        pieces = interpolate(np.asarray(inputs, dtype=np.float64), step, self.hold)
        total = np.einsum("oi,sit->sot", self.direct, inputs)
        for pole, residue in zip(self.poles, np.moveaxis(self.residues, -1, 0), strict=True):
            total = total + np.einsum("oi,sit->sot", residue, pole_values(pole, pieces, step)).real
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
    """Fit poles, residues and a direct term to responses `(samples, channels, time)` from rest. Return the modes.

    poles: initial poles in 1/s, which are refined; no pole is added. A conjugate pair is one pole. Without this argument,
        held-out data choose the number of poles, and `Modes.path` lists the error after each step of the search.
    max_poles: largest number of poles in the search.
    warmup: number of first steps that do not count in the error. A record that does not start from rest needs a warm-up as long
        as the memory of the system.
    hold: interpolation of the input between samples, one of `HOLDS`. Default: the hold with the smallest error.
    mask: True where an output was measured, in the shape of the outputs. Time steps with a missing output are not fitted.
    accuracy: relative L2 error of the outputs in the data: 0 for measured outputs, or the error of a network that predicted
        the outputs. No pole is added below this error.
    constant: fit a constant to each output. The constant is dropped if the error hardly rises without it.

    >>> grid = Grid.line(400, dt=0.05)
    >>> force = np.random.default_rng(0).normal(size=(20, 1, 400))
    >>> truth = Modes(np.array([-0.2 + 3j]), np.full((1, 1, 1), -0.3j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    >>> identify(force, truth.simulate(force, 0.05), grid).poles.round(6)
    array([-0.2+3.j])
    """
    inputs, outputs, step = _checked(inputs, outputs, grid, warmup)
    live = inputs.any((0, 2))
    if live.any() and not live.all():  # an input channel that is always zero excites no response
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
    # A direct term can imitate another hold of the input. So we choose the hold without a direct term. Then we add a direct
    # term only if the error falls, because a superfluous direct term makes the fast poles uncertain.
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
    """Return the modes with zero residues and zero direct terms for the inputs that are not `live`."""
    residues = np.zeros((len(modes.residues), len(live), modes.residues.shape[-1]), modes.residues.dtype)
    direct = np.zeros((len(modes.direct), len(live)))
    residues[:, live], direct[:, live] = modes.residues, modes.direct
    return replace(modes, residues=residues, direct=direct)


def _best(problems: dict[str, Projection], poles: np.ndarray) -> tuple[Projection, np.ndarray]:
    """Refine the poles with each hold; return the problem with the smallest error, and its refined poles."""
    tried = {name: problem.refine(poles) for name, problem in problems.items()}
    best = min(tried, key=lambda name: problems[name].error(tried[name]))
    return problems[best], tried[best]


def _checked(inputs: np.ndarray, outputs: np.ndarray, grid: Grid, warmup: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return inputs and outputs as float64, and the step in seconds. Raise LfnoError if the arguments do not fit together."""
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
    """Raise LfnoError if the gaps leave too few samples to fit or to hold out."""
    held = next(iter(problems.values())).held
    if min(held.sum(), (~held).sum()) < 8:
        raise LfnoError(
            f"only {len(held)} measured samples are left for the identification (after warm-up and gaps): more are needed"
        )


def _upper(poles: np.ndarray, step: float) -> np.ndarray:
    """Return stable initial poles with Im μ ≥ 0: one pole of each conjugate pair.

    Raises LfnoError for poles that are not finite numbers, and for poles that are too fast for the sampling step.
    """
    poles = np.atleast_1d(poles).ravel()
    if poles.dtype.kind not in "fiubc" or not np.isfinite(poles).all():
        raise LfnoError(f"the initial poles have dtype {poles.dtype} or are not finite; finite complex numbers are needed")
    poles = poles.astype(np.complex128)
    if (fastest := np.abs(poles).max(initial=0)) * step > 100:
        raise LfnoError(f"an initial pole with the magnitude {fastest:.3g} is too fast for samples that are {step:g} apart")
    upper, mirrored = poles[poles.imag >= 0], poles[poles.imag < 0].conj()
    alone = [pole for pole in mirrored if not np.isclose(pole, upper, rtol=1e-6).any()]
    poles = np.concatenate([upper, np.array(alone, dtype=np.complex128)])
    return np.minimum(poles.real, -1e-6 * np.abs(poles) - 1e-12) + 1j * poles.imag


def fitted_modes(
    problem: Projection, poles: np.ndarray, scale: np.ndarray, error: float, path: tuple[float, ...] = ()
) -> Modes:
    """Return the solution of the regression as `Modes`, strongest mode first.

    scale: the unit of each output in the regression, (outputs,).
    error, path: fields of the result.
    """
    direct, residues = residues_of(problem, poles)
    strength = contributions(problem, poles)
    order = np.argsort(-strength)
    return Modes(
        poles[order], residues[..., order] * scale[:, None, None], direct * scale[:, None], strength[order],
        error, problem.hold, path, problem.covariance(poles)[order], constant_of(problem, poles) * scale,
    )  # fmt: skip
