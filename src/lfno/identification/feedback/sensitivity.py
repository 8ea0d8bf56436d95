"""Exact derivatives of the simulated states with respect to the initial state and every parameter.

One sub-step is a map x⁺ = F(x, θ) of the state x and the parameters θ. On a known trajectory, the derivatives of F at different
sub-steps are independent, and are computed for many sub-steps at once. Only the recurrence S⁺ = (∂F/∂x) S + ∂F/∂θ for the
sensitivities S = ∂x/∂θ runs sequentially in time.

The docstring of `law` has the equations of F, with the four stages of a sub-step and the symbols z, φ, Γ, B, E, R and U.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lfno.identification.feedback.hold import moments
from lfno.identification.feedback.law import Law, Substep, joined, split
from lfno.identification.feedback.structure import Structure

#: number of derivatives (points × states × columns) in one batch; a batch of this size fits into the cache
CHUNK = 200_000


def state_sensitivities(
    law: Law, structure: Structure | None, pieces: np.ndarray, span: float, states: np.ndarray, every: int
) -> np.ndarray:
    """Return ∂x/∂(x₀, θ) at the beginning and after every `every` sub-steps, (samples, windows, n, n + parameters).

    structure: θ has the groups decay, swing, drive, gains, pick and shape of the table in `Structure`. With None, θ is empty,
        and the result is ∂x/∂x₀.
    pieces: the inputs as polynomials on each sub-step, (sub-steps, windows, channels, powers), lowest power first. For curved
        actuators, these are the effective inputs and their derivatives (`Structure.effective_slopes`).
    span: length of a sub-step.
    states: result of `simulate` with the same `pieces` and `span`, (sub-steps + 1, windows, n).
    """
    count, windows, n = states.shape
    slopes = SubstepSlopes(law, structure, span)
    found = np.empty(((count - 1) // every + 1, windows, n, n + slopes.columns))
    now = np.zeros((windows, n, n + slopes.columns))
    now[:, :, :n] = np.eye(n)
    found[0] = now
    size = max(CHUNK // (windows * n * (n + slopes.columns)), 1)
    for begin in range(0, count - 1, size):
        part = slice(begin, min(begin + size, count - 1))
        flat = pieces[part].reshape(-1, *pieces.shape[2:])
        local = slopes(states[part].reshape(-1, n), flat).reshape(-1, windows, n, n + slopes.columns)
        for k, step in enumerate(local, start=begin + 1):
            now = step[:, :, :n] @ now
            now[:, :, n:] += step[:, :, n:]
            if k % every == 0:
                found[k // every] = now
    return found


class SubstepSlopes:
    """The derivative ∂F/∂(x, θ) of one sub-step.

    A call maps states (points, n) and inputs (points, channels, powers) to derivatives (points, n, n + columns). A point is one
    sub-step of one window. `columns` is the number of parameters θ.
    """

    def __init__(self, law: Law, structure: Structure | None, span: float) -> None:
        self.law, self.structure, self.rule = law, structure, Substep.of(law, span)
        sizes = structure.sizes(law.drive.shape[1], len(law.read)) if structure else {}
        self.sizes = {name: sizes.get(name, 0) for name in ("decay", "swing", "drive", "gains", "pick", "actuator", "shape")}
        self.columns = sum(self.sizes.values())
        # with a curved sensor or curved actuators, the states are linear in the effective inputs
        self.linear = not law.terms.count or law.sensor is not None or law.actuator is not None
        if structure and not self.linear:
            ways, self.mixes = structure.gain_directions(law)
            # a shape parameter changes one basis function φ_i only, so its effect on x′ has the direction of column i of Γ
            self.ways = np.concatenate([ways, law.gains[:, law.terms.owners]], axis=1)

    def __call__(self, x: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        law, rule, n = self.law, self.rule, self.law.states
        half = _Drive(law, rule.span / 2, inputs)
        full = _Drive(law, rule.span, inputs)
        middle, last = x @ rule.half.T + half.states, x @ rule.full.T + full.states
        slope = np.zeros((len(x), n, n + self.columns))
        slope[:, :, :n] = rule.full
        if self.linear:
            for column, value in self._linear(full.directions(joined(x, law.decays))) if self.columns else ():
                slope[:, :, n + column] = value
            if law.actuator is not None and self.structure:
                slope[:, :, n + self.columns - inputs.shape[1] + law.drive.shape[1] :] = full.further(self.structure)
            return slope
        h, gains, moved = rule.span, law.gains, rule.half @ law.gains
        phi, bend, bent, where = [], [], [], [x]
        for base, matrix in ((middle, h / 2 * moved), (middle, h / 2 * gains), (last, h * moved), (None, None)):
            value, by_signal, by_shape = law.feedback_slopes(where[-1] @ law.pick.T)
            phi.append(value)
            bend.append(by_signal)
            bent.append(by_shape)
            if base is not None and matrix is not None:
                where.append(base + value @ matrix.T)
        # direct[s]: derivative of z of stage s, with z of the earlier stages held fixed
        # slope: derivative of x⁺, with z of all stages held fixed; the loops at the end add the effect of changes of z on φ
        signals = len(law.pick)
        direct = [np.zeros((len(x), signals, n + self.columns)) for _ in range(4)]
        for value, matrix in zip(direct, (np.eye(n), rule.half, rule.half, rule.full), strict=True):
            value[:, :, :n] = law.pick @ matrix
        if self.structure:
            self._of_poles(direct, slope, x, phi, half, full)
            self._of_gains(direct, slope, phi, bent)
            self._of_pick(direct, where)
        fed = [bend[0] @ direct[0]]
        for stage, matrix in ((1, rule.first), (2, rule.second), (3, rule.third)):
            fed.append(bend[stage] @ (direct[stage] + matrix.T @ fed[-1]))
        q = law.terms.count
        for stage, value in enumerate(fed):
            slope += rule.close[stage * q : (stage + 1) * q].T @ value
        return slope

    def _of_poles(
        self, direct: list[np.ndarray], slope: np.ndarray, x: np.ndarray, phi: list[np.ndarray], half: _Drive, full: _Drive
    ) -> None:
        """Fill the columns of the parameters in the groups decay, swing and drive. These parameters change R, U½ and U₁."""
        law, h, n = self.law, self.rule.span, self.law.states
        one, two, three = (joined(value @ law.gains.T, law.decays) for value in phi[:3])
        now = joined(x, law.decays)
        turn_half, turn_full = np.exp(law.poles * h / 2), np.exp(law.poles * h)
        late = h * h / 6 * (turn_full * one + turn_half * (two + three))
        found = [
            half.directions(now + h / 2 * one), half.directions(now),
            full.directions(now, h * h / 2 * turn_half * three), full.directions(now, late),
        ]  # fmt: skip
        for stage, values in enumerate(found):
            for column, value in self._linear(values):
                if stage < 3:
                    direct[stage + 1][:, :, n + column] = value @ law.pick.T
                else:
                    slope[:, :, n + column] = value

    def _linear(self, directions: tuple[np.ndarray, np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (column, derivative of x) for each parameter of the linear part. The derivative has the shape (points, n).

        directions: derivatives of the complex modal coordinates with respect to their pole μ, (points, modes), and to their
            entries of B (`law.drive`), (points, modes, inputs).
        """
        by_pole, by_drive = directions
        law, decays = self.law, self.law.decays

        def only(mode: int, values: np.ndarray) -> np.ndarray:
            alone = np.zeros((len(values), len(law.poles)), dtype=complex)
            alone[:, mode] = values
            return split(alone, decays)

        column = 0
        for mode, pole in enumerate(law.poles):
            yield column, only(mode, by_pole[:, mode] * pole.real)
            column += 1
        for mode in range(decays, len(law.poles)):
            yield column, only(mode, 1j * by_pole[:, mode])
            column += 1
        assert self.structure
        for mode, anchor in enumerate(self.structure.fixed(law)):
            for channel in range(law.drive.shape[1]):
                if channel == anchor:
                    continue
                for factor in (1.0,) if mode < decays else (1.0, 1j):
                    yield column, only(mode, factor * by_drive[:, mode, channel])
                    column += 1

    def _of_gains(self, direct: list[np.ndarray], slope: np.ndarray, phi: list[np.ndarray], bent: list[np.ndarray]) -> None:
        """Fill the columns of the parameters in the groups gains and shape.

        The derivative of Γ φ with respect to parameter k of the gains is d_k (s_k · φ), with d and s from
        `Structure.gain_directions`.
        """
        law, rule, h, n = self.law, self.rule, self.rule.span, self.law.states
        at = n + sum(self.sizes[name] for name in ("decay", "swing", "drive"))
        shape = at + self.sizes["gains"] + self.sizes["pick"]
        columns = np.r_[at : at + self.sizes["gains"], shape : shape + self.sizes["shape"]]
        push = [np.concatenate([value @ self.mixes, more], axis=1)[:, None] for value, more in zip(phi, bent, strict=True)]
        ways, moved = self.ways, rule.half @ self.ways
        for stage, way in ((1, h / 2 * moved), (2, h / 2 * ways), (3, h * moved)):
            direct[stage][:, :, columns] = (law.pick @ way) * push[stage - 1]
        slope[:, :, columns] = h / 6 * (rule.full @ ways * push[0] + 2 * moved * (push[1] + push[2]) + ways * push[3])

    def _of_pick(self, direct: list[np.ndarray], where: list[np.ndarray]) -> None:
        """Fill the columns of the parameters in the group pick, the entries of E.

        Signal i is z_i = E_i x, so its derivative with respect to the row E_i is the state x of the stage.
        """
        if not self.sizes["pick"]:
            return
        n = self.law.states
        at = n + sum(self.sizes[name] for name in ("decay", "swing", "drive", "gains"))
        for signal in range(len(self.law.pick)):
            for stage, state in enumerate(where):
                direct[stage][:, signal, at + signal * n : at + (signal + 1) * n] = state


class _Drive:
    """The forced response of the linear part over `span`, and its derivatives."""

    def __init__(self, law: Law, span: float, inputs: np.ndarray) -> None:
        self.law, self.span, self.turn = law, span, np.exp(law.poles * span)
        value, slope = moments(law.poles, span, inputs.shape[-1])
        own = inputs[:, : law.drive.shape[1]]
        self.more = inputs[:, law.drive.shape[1] :] @ value
        self.unit = own @ value  # (points, channels, modes)
        self.bent = own @ slope
        self.states = split(np.einsum("kcm,mc->km", self.unit, law.drive), law.decays)

    def directions(self, state: np.ndarray, more: float | np.ndarray = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of e^{μ span} state + U with respect to the poles μ and to the entries of B (`law.drive`).

        U is the forced response. The derivative with respect to μ has the shape (points, modes); `more` is a further summand of
        this derivative. The derivative with respect to B has the shape (points, modes, channels).
        """
        by_pole = self.span * self.turn * state + np.einsum("kcm,mc->km", self.bent, self.law.drive) + more
        return by_pole, self.unit.swapaxes(1, 2)

    def further(self, structure: Structure) -> np.ndarray:
        """Return the forced response to the derivatives of the effective inputs, (points, n, derivatives).

        The derivatives are with respect to the groups actuator and shape. Each derivative acts on one effective input.
        """
        rows = np.concatenate([structure.entries[0], structure.terms.signal_of[structure.terms.owners]])
        return split(self.more * self.law.drive[:, rows].T, self.law.decays).swapaxes(1, 2)
