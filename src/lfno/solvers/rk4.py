"""The classical Runge–Kutta method of order four (RK4) for many samples at once, with an error estimate for each result.

The equation is ẏ = rate(y, f(t)) with the forcing f. The state y is an array (component, sample), so that one numpy call
advances all samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from lfno.core.errors import LfnoError

Rate = Callable[[np.ndarray, np.ndarray], Sequence[np.ndarray]]
Force = Callable[[np.ndarray], np.ndarray]

#: default number of RK4 steps (sub-steps) between two outputs
SUBSTEPS = 8
#: largest number of times that the number of sub-steps is doubled
REFINEMENTS = 8
#: number of intervals between outputs that are also solved with half the sub-steps, to estimate the error
PROBES = 64
#: an interval is rough if third differences of the forcing, divided by its largest value, exceed this number
ROUGH = 1e-3
#: relative error that is accepted with a warning if the forcing jumps, because more sub-steps do not help then
JUMPY = 1e-3
#: number of times at which the forcing is evaluated at once, to limit memory
BLOCK = 2**13


class Stepper:
    """RK4 steps y ← y + h/6 (k₁ + 2k₂ + 2k₃ + k₄). The memory for k and the stages is allocated once."""

    def __init__(self, rate: Rate, shape: tuple[int, ...]) -> None:
        self.rate = rate
        self.slope, self.total, self.stage = np.empty(shape), np.empty(shape), np.empty(shape)

    def advance(self, state: np.ndarray, forces: np.ndarray, h: float) -> np.ndarray:
        """Return the state after (len(forces) − 1)/2 steps of length h. forces: f at times h/2 apart, (time, sample)."""
        slope, total, stage = self.slope, self.total, self.stage
        for n in range(0, len(forces) - 1, 2):
            self._evaluate(state, forces[n], total)
            np.multiply(total, h / 2, out=stage)
            stage += state
            for force, weight in ((forces[n + 1], h / 2), (forces[n + 1], h)):
                self._evaluate(stage, force, slope)
                np.multiply(slope, weight, out=stage)
                stage += state
                slope *= 2
                total += slope
            self._evaluate(stage, forces[n + 2], slope)
            total += slope
            total *= h / 6
            state = state + total
        return state

    def _evaluate(self, state: np.ndarray, force: np.ndarray, out: np.ndarray) -> None:
        """Write the time derivative of the state to `out`."""
        for component, value in zip(out, self.rate(state, force), strict=True):
            component[...] = value


def fixed_step(
    rate: Rate, initial: np.ndarray, force: Force, origin: float, step: float, size: int, substeps: int
) -> tuple[np.ndarray, float]:
    """Solve with `substeps` RK4 steps between two outputs. An odd number is raised to the next even number.

    Returns the states (component, sample, size) at the times origin + n · step, and the estimated relative error, the largest
    one of all samples and components. If the solution is not finite, the error is infinite.

    To estimate the error, all rough intervals and some other intervals are solved again with half the sub-steps. The difference
    of the two results is 15 times the error of the finer result. For each sample and component, the errors of all intervals are
    added and divided by the largest value of the component. Intervals that were not solved again count with the mean error of
    the others that are not rough.
    """
    substeps += substeps % 2  # an even number, so that half the sub-steps is a whole number
    h = step / substeps
    stepper = Stepper(rate, initial.shape)
    states = np.empty((size, *initial.shape))
    states[0] = state = np.array(initial, dtype=np.float64)
    regular, rough = np.zeros(initial.shape), np.zeros(initial.shape)  # errors on the probed and on the rough intervals
    stride = max(1, (size - 1) // PROBES)
    probes = 0
    block = max(1, BLOCK // (2 * substeps))
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, size - 1, block):
            last = min(first + block, size - 1)
            instants = origin + h / 2 * np.arange(2 * substeps * first, 2 * substeps * last + 1)
            forces = np.ascontiguousarray(force(instants).T, dtype=np.float64)
            is_rough = _rough_intervals(forces, substeps)
            for n in range(first, last):
                mine = forces[2 * substeps * (n - first) : 2 * substeps * (n + 1 - first) + 1]
                after = stepper.advance(state, mine, h)
                if is_rough[n - first]:
                    rough += np.abs(stepper.advance(state, mine[::2], 2 * h) - after) / 15
                elif n % stride == 0:
                    regular += np.abs(stepper.advance(state, mine[::2], 2 * h) - after) / 15
                    probes += 1
                states[n + 1] = state = after
            if not np.isfinite(state).all():
                states[last:] = np.nan
                return np.moveaxis(states, 0, -1), np.inf
        scale = np.abs(states).max(axis=0)
        error = rough + regular * ((size - 1) / max(probes, 1))
        relative = error / np.where(scale > 0, scale, 1.0)
    return np.moveaxis(states, 0, -1), float(relative.max(initial=0.0))


def _rough_intervals(forces: np.ndarray, substeps: int) -> np.ndarray:
    """Return whether the forcing `(time, sample)` has a jump or a kink in each output interval."""
    rough = np.abs(np.diff(forces[::2], n=3, axis=0)).max(axis=1) > ROUGH * np.abs(forces).max()
    rough = np.pad(rough, (0, len(forces[::2]) - 1 - len(rough)), mode="edge")
    inside = np.logical_or.reduce(rough.reshape(-1, substeps), axis=1)
    # a third difference uses three later steps, which may belong to the next interval
    return inside | np.append(False, inside[:-1])


def rk4(
    rate: Rate,
    initial: np.ndarray,
    force: Force,
    origin: float,
    step: float,
    size: int,
    substeps: int = SUBSTEPS,
    tolerance: float = 1e-8,
    warn: bool = True,
) -> np.ndarray:
    """Solve ẏ = rate(y, f(t)). Return the states (component, sample, size) at the times origin + n · step.

    rate: the right-hand side, a function of y (component, sample) and f (sample,).
    initial: the initial state, (component, sample).
    force: f, a function of times (time,) that returns (sample, time).
    substeps: the number of RK4 steps between two outputs. It is doubled until the error is below `tolerance`. If the forcing
        jumps, an error below JUMPY is accepted, with a warning.
    tolerance: the bound on the sum of the local relative errors. The error of the result is larger if the system amplifies
        errors, as chaotic systems do.
    warn: whether to warn the user if `substeps` was doubled.

    Raises LfnoError if the solution is not finite, or if the tolerance cannot be reached.

    >>> decay = rk4(lambda y, f: [-y[0]], np.ones((1, 1)), lambda t: np.zeros((1, len(t))), 0.0, 0.1, 11)
    >>> bool(abs(decay[0, 0, -1] - np.exp(-1)) < 1e-9)
    True
    """
    chosen, before = substeps, np.inf
    for _ in range(REFINEMENTS):
        states, error = fixed_step(rate, initial, force, origin, step, size, chosen)
        if error <= tolerance:
            if chosen > substeps and warn:
                _warn(
                    f"a time step of {step:g} needs {chosen} sub-steps, not {substeps}, for an error of {tolerance:g}: "
                    "the solver has used them"
                )
            return states
        if error < JUMPY and error > before / 4:
            _warn(
                f"the input is not smooth (it jumps or kinks), which limits the relative error to about {error:.0e}: "
                "for a smaller error, give a smooth step such as (1 + tanh(t/τ))/2"
            )
            return states
        before, chosen = error, chosen * 2
    if np.isfinite(error):
        raise LfnoError(
            f"a time step of {step:g} gives an error of {error:.1e} even with {chosen // 2} sub-steps: "
            "choose a smaller dt or a smoother input"
        )
    lost = np.argwhere(~np.isfinite(states).all(axis=0))
    # if all values are finite, differences between values have overflowed
    sample, instant = lost[0] if len(lost) else (0, size)
    raise LfnoError(
        f"the solution of sample {sample} is not finite before t = {origin + instant * step:g}: "
        "it grows without bound; use a smaller input or other parameters"
    )


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)
