"""The equations of a model with feedback, and one sub-step of their solution.

    x′ = A x + B u + Γ φ(z),   z = E x,   y = C x + K φ(z) + D u + offset

x is the state, u is the input, y is the output, and φ(z) are nonlinear functions of the signals z. Γ φ(z) is the feedback.
K φ(z) is the curved characteristic of a sensor. A law can have curved actuators instead, such as valves. The signals z are then
inputs, and the effective inputs v drive the states:

    x′ = A x + B v,   v = H (u, φ(z)),   z = E u,   y = C x + offset

A law has only one of feedback, curved sensors and curved actuators. A is block diagonal.
Decays come first, with one real state each. Oscillations follow, with two states each: the real and the imaginary part of the
modal coordinate. One sub-step of length h propagates the linear part and the input exactly. The classical Runge–Kutta method of
order four integrates the feedback, with e^{−At} as integrating factor. With R = e^{Ah/2}, the four stages z₁ … z₄ and the
state x⁺ after the sub-step are

    z₁ = E x                                  z₂ = E (R x + U½ + h/2 R Γ φ(z₁))
    z₃ = E (R x + U½ + h/2 Γ φ(z₂))           z₄ = E (R² x + U₁ + h R Γ φ(z₃))
    x⁺ = R² x + U₁ + h/6 (R² Γ φ(z₁) + 2 R Γ (φ(z₂) + φ(z₃)) + Γ φ(z₄)),

where U½ and U₁ are the responses of the linear part from rest to the input over h/2 and h. The nonlinearity depends on z only.
So the stages are computed for the few signals z and not for all states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfno.core.short import Short
from lfno.identification.feedback.hold import moments
from lfno.identification.feedback.terms import Terms


@dataclass(frozen=True, repr=False)
class Law(Short):
    """The arrays of the equations, for n states, q terms and m signals.

    poles: μ, complex (modes,), in 1 / unit of time. Decays have Im μ = 0 and come first. Oscillations have Im μ > 0.
    drive: B for the complex modal coordinates, (modes, inputs); `split` converts the columns to real states.
    gains: Γ (n, q).
    pick: E (m, n); for curved actuators (m, inputs).
    shape: shape parameters of the terms.
    read: C (outputs, n).
    direct: D (outputs, inputs).
    offset: (outputs,).
    start: initial state (n,) of a simulation from rest; zero if the system begins at equilibrium.
    limits: (m, 2), the range of z in which φ is evaluated. Beyond this range, φ of one signal (m = 1) continues as a straight
        line, and φ of several signals stays constant. A constant φ keeps the states bounded if all poles are stable.
    terms: the basis functions φ.
    sensor: K (outputs, q); None for K = 0.
    actuator: H (inputs, inputs + q); None for v = u. The columns of u come first. Each term φ depends on one signal and acts on
        one effective input.
    """

    poles: np.ndarray
    drive: np.ndarray
    gains: np.ndarray
    pick: np.ndarray
    shape: np.ndarray
    read: np.ndarray
    direct: np.ndarray
    offset: np.ndarray
    start: np.ndarray
    limits: np.ndarray
    terms: Terms
    sensor: np.ndarray | None = None
    actuator: np.ndarray | None = None

    @property
    def decays(self) -> int:
        """Return the number of real poles."""
        return int((self.poles.imag == 0).sum())

    @property
    def states(self) -> int:
        """Return the number n of real states."""
        return 2 * len(self.poles) - self.decays

    @property
    def matrix(self) -> np.ndarray:
        """Return A (n, n)."""
        return placed(self.poles, self.decays)

    def outputs(self, states: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Return y (…, outputs) for states (…, n) and inputs (…, inputs)."""
        found = states @ self.read.T + inputs @ self.direct.T + self.offset
        return found if self.sensor is None else found + self.feedback(states @ self.pick.T) @ self.sensor.T

    def signals(self, states: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Return z (…, m) for states (…, n) and inputs (…, inputs)."""
        return np.asarray((states if self.actuator is None else inputs) @ self.pick.T)

    def effective(self, inputs: np.ndarray) -> np.ndarray:
        """Return the effective inputs v (…, inputs) for inputs u (…, inputs). Without curved actuators, v = u."""
        if self.actuator is None:
            return inputs
        return np.asarray(np.concatenate([inputs, self.feedback(inputs @ self.pick.T)], axis=-1) @ self.actuator.T)

    def input_slopes(self) -> np.ndarray:
        """Return ∂v/∂u (inputs, inputs) at u = 0."""
        inputs = self.drive.shape[1]
        if self.actuator is None:
            return np.eye(inputs)
        bend = self.feedback_slopes(np.zeros((1, len(self.pick))))[1][0] @ self.pick
        return np.asarray(self.actuator @ np.concatenate([np.eye(inputs), bend]))

    def output_slopes(self, states: np.ndarray) -> np.ndarray:
        """Return ∂y/∂x (…, outputs, n) for states (…, n). Without a sensor this is C (outputs, n)."""
        if self.sensor is None:
            return self.read
        return np.asarray(self.read + self.sensor @ self.feedback_slopes(states @ self.pick.T)[1] @ self.pick)

    def feedback(self, z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return φ (…, q) for z (…, m), extrapolated beyond the limits."""
        low, high = self.limits[:, 0], self.limits[:, 1]
        inside = np.minimum(np.maximum(z, low), high)
        found = self.terms.values(inside, self.shape, out)
        beyond = z - inside
        if self.terms.signals == 1 and beyond.any():
            found += (self.terms.slopes(inside, self.shape)[1] @ beyond[..., None])[..., 0]
        return found

    def feedback_slopes(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return φ (…, q), ∂φ/∂z (…, q, m) and ∂φ/∂shape (…, shapes), extrapolated beyond the limits."""
        low, high = self.limits[:, 0], self.limits[:, 1]
        inside = np.minimum(np.maximum(z, low), high)
        value, slope, bent = self.terms.slopes(inside, self.shape)
        beyond = z - inside
        if self.terms.signals > 1:
            slope *= (beyond == 0)[..., None, :]
        elif beyond.any():
            value = value + (slope @ beyond[..., None])[..., 0]
        return value, slope, bent


def split(values: np.ndarray, decays: int) -> np.ndarray:
    """Return complex modal coordinates (…, modes) as real states (…, n)."""
    pairs = values[..., decays:]
    swings = np.stack([pairs.real, pairs.imag], axis=-1).reshape(*pairs.shape[:-1], 2 * pairs.shape[-1])
    return np.concatenate([values[..., :decays].real, swings], axis=-1)


def joined(states: np.ndarray, decays: int) -> np.ndarray:
    """Return real states (…, n) as complex modal coordinates (…, modes): the inverse of `split`."""
    pairs = states[..., decays::2] + 1j * states[..., decays + 1 :: 2]
    return np.concatenate([states[..., :decays].astype(complex), pairs], axis=-1)


def placed(values: np.ndarray, decays: int) -> np.ndarray:
    """Return the real block-diagonal matrix (n, n) that multiplies each modal coordinate by its entry of `values`."""
    size = 2 * len(values) - decays
    matrix = np.zeros((size, size))
    matrix[np.arange(decays), np.arange(decays)] = values[:decays].real
    for n, value in enumerate(values[decays:]):
        at = decays + 2 * n
        matrix[at : at + 2, at : at + 2] = [[value.real, -value.imag], [value.imag, value.real]]
    return matrix


@dataclass(frozen=True)
class Substep:
    """The constant matrices of one sub-step of length `span`; the docstring of this module has the equations.

    half: R.
    full: R².
    inner: (n, 3m + n), the transposed matrices E, ER, ER² and R² side by side.
    first, second, third: (q, m), from φ of a stage to z of the next stage.
    close: (4q, n), from φ of all stages to x⁺.
    """

    span: float
    half: np.ndarray
    full: np.ndarray
    inner: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    close: np.ndarray

    @classmethod
    def of(cls, law: Law, span: float) -> Substep:
        decays = law.decays
        half = placed(np.exp(law.poles * span / 2), decays)
        full = half @ half
        # the signals of curved actuators do not depend on the states
        pick, gains = law.pick if law.actuator is None else np.zeros((0, law.states)), law.gains
        inner = np.concatenate([pick, pick @ half, pick @ full, full]).T
        moved = half @ gains
        parts = [span / 6 * full @ gains, span / 3 * moved, span / 3 * moved, span / 6 * gains]
        return cls(
            span, half, full, np.ascontiguousarray(inner), span / 2 * (pick @ moved).T, span / 2 * (pick @ gains).T,
            span * (pick @ moved).T, np.ascontiguousarray(np.concatenate(parts, axis=1).T),
        )  # fmt: skip


def forced(law: Law, span: float, coefficients: np.ndarray) -> np.ndarray:
    """Return the response U (…, n) of the linear part after `span`, from rest.

    coefficients: the inputs as polynomials in time, lowest power first, (…, channels, powers); see `hold`.
    """
    table, _ = moments(law.poles, span, coefficients.shape[-1])
    weights = np.einsum("mc,pm->mcp", law.drive, table).reshape(len(law.poles), -1)
    flat = coefficients.reshape(*coefficients.shape[:-2], -1)
    return split(flat @ weights.T, law.decays)
