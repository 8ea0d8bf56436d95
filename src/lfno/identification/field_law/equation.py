"""The equation of a field on a line, with its coefficients, and its solution for sampled inputs.

    ∂y/∂t   = a₀ y + a₂ ∂²y/∂x² + a₄ ∂⁴y/∂x⁴ + Σ w_j n_j(y, ∂y/∂x) + b f                            (order 1)
    ∂²y/∂t² = the same + d₀ ∂y/∂t + d₂ ∂³y/∂x²∂t                                                  (order 2)

y(x, t) is the field, and f(x, t) is the input. a, d, w and b are the coefficients. The solution is exact in the linear terms (a
and d), which act on each spatial mode alone. The pointwise terms n_j couple the spatial modes. The module `terms` lists all
terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lfno.core.short import Short
from lfno.identification.field_law.terms import INPUT, LINEAR, POINTWISE, RATES, Line
from lfno.identification.response import interpolate
from lfno.solvers.exponential import exponential_collocation

#: Gauss points in a time step; the collocation then has order 6
STAGES = 3
#: smallest distance between the two eigenvalues of a mode, relative to their size; two equal eigenvalues would give only one
#: exponential solution
APART = 1e-6
#: term -> its notation in a printed equation
WRITTEN = {"y_xx": "∂²y/∂x²", "y_xxxx": "∂⁴y/∂x⁴", "y_t": "∂y/∂t", "y_xxt": "∂³y/∂x²∂t", "y_x": "∂y/∂x", "y y_x": "y ∂y/∂x",
           "1": ""}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Equation(Short):
    """Terms of the equation with their coefficients.

    order: 1 or 2, the order of the derivative in time.
    terms: names from `lfno.identification.field_law.terms`; the input "f" is one of them.
    coefficients: (terms,).
    """

    order: int
    terms: tuple[str, ...]
    coefficients: np.ndarray

    def __str__(self) -> str:
        sides = [f"{value:+.4g} {WRITTEN.get(name, name)}".rstrip() for name, value in self.pairs.items()]
        text = " ".join(f"{side[0]} {side[1:]}" for side in sides).removeprefix("+ ")
        return f"{'∂y/∂t' if self.order == 1 else '∂²y/∂t²'} = {text}"

    @property
    def pairs(self) -> dict[str, float]:
        """Return term → coefficient."""
        return dict(zip(self.terms, self.coefficients.tolist(), strict=True))

    @cached_property
    def pointwise(self) -> tuple[str, ...]:
        """Return the names of the pointwise terms."""
        return tuple(name for name in self.terms if name in POINTWISE)

    def change(self, coefficients: np.ndarray) -> Equation:
        """Return the equation with other coefficients."""
        return replace(self, coefficients=coefficients)

    def rates(self, waves: np.ndarray) -> np.ndarray:
        """Return the eigenvalues of the linear terms for the wave numbers (count,): (order, count), complex for order 2."""
        pairs = self.pairs
        stiffness = sum((pairs.get(name, 0.0) * factor(waves) for name, factor in LINEAR.items()), np.zeros_like(waves))
        if self.order == 1:
            return stiffness[None]
        half = sum((pairs.get(name, 0.0) * factor(waves) for name, factor in RATES.items()), np.zeros_like(waves)) / 2
        square = half**2 + stiffness + 0j
        least = (APART * np.maximum(np.abs(half), np.sqrt(np.abs(stiffness)) + 1e-12)) ** 2
        root = np.sqrt(np.where(np.abs(square) < least, -least, square))
        return np.stack([half + root, half - root])

    def reaction(self, line: Line, states: np.ndarray) -> np.ndarray:
        """Return the sum of the pointwise terms as spatial modes, (…, count). states: modes of the field, (…, count)."""
        field, slope = states @ line.values.T, states @ line.slopes.T
        total = sum(self.pairs[name] * POINTWISE[name](field, slope) for name in self.pointwise)
        return np.asarray(total @ line.project.T) if self.pointwise else np.zeros_like(states)


def march(
    equation: Equation, line: Line, inputs: np.ndarray, step: float, start: np.ndarray, *, periodic: bool = False,
    tolerance: float = 1e-10,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the solution of the equation as spatial modes, (samples, count, time), and the last internal state.

    line: the spatial modes.
    inputs: spatial modes of the input, (samples, count, time). Between time steps, the input is a cubic spline.
    step: length of a time step.
    start: the internal state at the first time step, (samples, order · count). `seen` explains it, and `at_rest` computes it.
    periodic: whether the input repeats. The last internal state then belongs to the first time step of the next period.
    tolerance: tolerance of the fixed-point iteration in a time step, relative to the largest state.

    If the solution for a sample grows without bound, this sample is NaN.

    >>> line = Line.of("sine", 4, np.pi)
    >>> decay = Equation(1, ("y_xx", "f"), np.array([0.5, 1.0]))
    >>> start = np.array([[1.0, 0, 0, 0]])
    >>> march(decay, line, np.zeros((1, 4, 5)), 0.1, start)[0][0, 0].round(4)  # e^{−t/2}
    array([1.    , 0.9512, 0.9048, 0.8607, 0.8187])
    """
    count = inputs.shape[1]
    if periodic:
        inputs = np.concatenate([inputs, inputs[..., :1]], axis=-1)
    pieces = _spline(inputs, step, periodic)
    size = inputs.shape[-1]
    rates, gain = equation.rates(line.waves), equation.pairs.get(INPUT, 0.0)

    def twice(values: np.ndarray) -> np.ndarray:
        return values if equation.order == 1 else np.concatenate([values, values], axis=-1)

    def load(times: np.ndarray) -> np.ndarray:
        n = min(int(times[0] / step + 1e-9), size - 2)
        since = times - n * step
        return twice(gain * sum(part[None, ..., n] * since[:, None, None] ** m for m, part in enumerate(pieces)))

    def reaction(states: np.ndarray) -> np.ndarray:
        return twice(equation.reaction(line, seen(rates, states)))

    with np.errstate(over="ignore", invalid="ignore"):  # a trial equation may grow beyond all bounds
        solved = exponential_collocation(
            rates.ravel(), load, reaction, start, step * np.arange(size), stages=STAGES, tolerance=tolerance, give_up=True
        )
    answer = np.moveaxis(seen(rates, solved), 0, -1)
    return (answer[..., :-1] if periodic else answer).reshape(len(inputs), count, -1), solved[-1]


def seen(rates: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the modes of the field from internal states (…, order · count).

    rates: the eigenvalues λ, (order, count).

    For order 1, the internal state is the mode q of the field. For order 2, a mode has two internal states z₁ and z₂, one for
    each eigenvalue, with q = (z₁ − z₂) / (λ₁ − λ₂).
    """
    if len(rates) == 1:
        return states
    first, second = np.split(states, 2, axis=-1)
    return np.asarray(((first - second) / (rates[0] - rates[1])).real)


def at_rest(rates: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the internal state (…, order · count) of a field with the modes (…, count). For order 2, ∂y/∂t is zero."""
    if len(rates) == 1:
        return modes
    # the solution of q = (z₁ − z₂)/(λ₁ − λ₂) and q′ = (λ₁ z₁ − λ₂ z₂)/(λ₁ − λ₂) = 0
    return np.concatenate([-rates[1] * modes, -rates[0] * modes], axis=-1)


def _spline(inputs: np.ndarray, step: float, periodic: bool) -> Sequence[np.ndarray]:
    """Return the coefficients of the cubic spline through the inputs, lowest power first."""
    if not periodic:
        return list(interpolate(inputs, step, "cubic"))
    from scipy.interpolate import CubicSpline

    pieces = CubicSpline(step * np.arange(inputs.shape[-1]), inputs, axis=-1, bc_type="periodic").c
    return list(np.moveaxis(pieces[::-1], 1, -1))
