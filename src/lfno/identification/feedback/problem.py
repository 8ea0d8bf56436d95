"""The least-squares problem of a fit: residuals of all windows, and their derivatives.

A window is a piece of a record that is simulated as a whole (see `windows`). Symbols: see the docstring of `law`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from lfno.identification.feedback.law import Law
from lfno.identification.feedback.sensitivity import state_sensitivities
from lfno.identification.feedback.simulate import simulate, substep_pieces
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.windows import Windows

#: weight of the condition x(period) − x(0) = 0, for a window that is one period of a steady state
CLOSING = 30.0
#: weight of the prior on log(−Re μ) and Im μ; this small prior matters only for poles that the data do not determine
PRIOR = 1e-4


@dataclass(frozen=True)
class Point:
    """The unknowns of a fit: the vector of parameters (see `Structure`), and the initial states (windows, n)."""

    vector: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True)
class Problem:
    """The simulation errors of a law on windows.

    windows: the data.
    structure: the free parameters.
    like: a law with the fixed entries and limits; its parameters are the reference of the prior.
    substeps: number of sub-steps between two samples.
    """

    windows: Windows
    structure: Structure
    like: Law
    substeps: int = 1

    @cached_property
    def pieces(self) -> np.ndarray:
        """Return the inputs as polynomials on each sub-step, (sub-steps, windows, channels, powers)."""
        return substep_pieces(self.windows.pieces, self.windows.step, self.substeps)

    @property
    def inputs(self) -> np.ndarray:
        """Return the inputs at the beginning and after each sub-step, as the hold interpolates them.

        The shape is (sub-steps + 1, windows, channels).
        """
        if self.substeps == 1:
            return self.windows.inputs
        return np.concatenate([self.pieces[..., 0], self.windows.inputs[-1:]])

    def driving(self, law: Law, slopes: bool = False) -> np.ndarray:
        """Return the effective inputs of a law as polynomials on each sub-step, (sub-steps, windows, channels, powers).

        slopes: for curved actuators, append the derivatives of the effective inputs (`Structure.effective_slopes`).
        """
        if law.actuator is None:
            return self.pieces
        own = self.windows.mapped(partial(self.structure.effective_slopes, law) if slopes else law.effective)
        return substep_pieces(own.pieces, own.step, self.substeps)

    @cached_property
    def reference(self) -> np.ndarray:
        """Return the parameters of `like`, (parameters,). The prior penalises the distance from these parameters."""
        return self.structure.pack(self.like)

    @cached_property
    def prior(self) -> np.ndarray:
        """Return the square root of the weight of each parameter in the prior."""
        weight = np.zeros(len(self.reference))
        places = self.structure.places(*self.shape)
        weight[places["decay"]] = weight[places["swing"]] = PRIOR * np.sqrt(self.windows.samples)
        return weight

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of inputs and outputs."""
        return self.like.direct.shape[1], self.like.direct.shape[0]

    def law(self, point: Point) -> Law:
        """Return the law with the parameters of a point."""
        return self.structure.unpack(point.vector, self.like)

    def begin(self, point: Point) -> np.ndarray:
        """Return the initial states (windows, n). A window from rest has the initial state `start` of the law."""
        return np.where(self.windows.rest[:, None], self.law(point).start, point.starts)

    def states(self, point: Point) -> np.ndarray:
        """Return the simulated states (sub-steps + 1, windows, n)."""
        span = self.windows.step / self.substeps
        law = self.law(point)
        return simulate(law, self.driving(law), span, self.begin(point))

    def residual(self, point: Point, states: np.ndarray | None = None) -> np.ndarray:
        """Return the weighted errors (windows, rows).

        The errors of the outputs come first, (time, outputs) as one axis. If a window is a period, n rows with the weighted
        x(period) − x(0) follow.
        """
        law, windows = self.law(point), self.windows
        states = self.states(point) if states is None else states
        with np.errstate(over="ignore", invalid="ignore"):
            answer = law.outputs(states[:: self.substeps], windows.inputs)
            missed = np.moveaxis(windows.weights * (answer - windows.targets), 1, 0).reshape(len(windows), -1)
            if not windows.cyclic.any():
                return missed
            gap = states[windows.ends * self.substeps, np.arange(len(windows))] - states[0]
            return np.concatenate([missed, CLOSING * windows.cyclic[:, None] * gap], axis=1)

    def cost(self, point: Point, residual: np.ndarray) -> float:
        """Return the sum of squares with the prior; infinity if the simulation diverges."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = float((residual**2).sum() + ((self.prior * (point.vector - self.reference)) ** 2).sum())
        return total if np.isfinite(total) else np.inf

    def jacobian(self, point: Point, states: np.ndarray) -> np.ndarray:
        """Return ∂residual/∂(parameters, initial state of the window), (windows, rows, parameters + n)."""
        law, windows, n = self.law(point), self.windows, self.structure.states
        inputs, outputs = self.shape
        places = self.structure.places(inputs, outputs)
        span = windows.step / self.substeps
        driving = self.driving(law, slopes=True)
        moved = state_sensitivities(law, self.structure, driving, span, states, self.substeps)
        total, dynamic = len(point.vector), moved.shape[-1] - n
        size, count = len(moved), len(windows)
        full = np.zeros((count, size, outputs, total + n))
        seen = np.moveaxis(law.output_slopes(states[:: self.substeps]) @ moved, 1, 0)
        full[..., :dynamic] = seen[..., n:]
        free = ~windows.rest
        full[free, ..., total:] = seen[free, ..., :n]
        if self.structure.free_start:
            full[windows.rest, ..., places["start"]] = seen[windows.rest, ..., :n]
        sampled = np.moveaxis(states[:: self.substeps], 1, 0)
        for output in range(outputs):
            at = places["read"].start + output * n
            full[:, :, output, at : at + n] = sampled
            if self.structure.with_direct:
                at = places["direct"].start + output * inputs
                full[:, :, output, at : at + inputs] = np.moveaxis(windows.inputs, 1, 0)
            full[:, :, output, places["offset"].start + output] = 1.0
        if law.sensor is not None:
            self._add_sensor(full, law, sampled)
        full *= np.moveaxis(windows.weights, 1, 0)[..., None]
        rows = full.reshape(count, size * outputs, total + n)
        if not windows.cyclic.any():
            return rows
        gap = np.zeros((count, n, total + n))
        last = moved[windows.ends, np.arange(count)]
        gap[..., :dynamic], gap[..., total:] = last[..., n:], last[..., :n] - np.eye(n)
        return np.concatenate([rows, CLOSING * windows.cyclic[:, None, None] * gap], axis=1)

    def _add_sensor(self, full: np.ndarray, law: Law, states: np.ndarray) -> None:
        """Add the derivatives of K φ(E x) with respect to K, E and the shape parameters of φ, for constant states x.

        full: derivatives of the outputs, (windows, time, outputs, parameters + n).
        states: x, (windows, time, n).
        """
        assert law.sensor is not None
        value, by_signal, by_shape = law.feedback_slopes(states @ law.pick.T)
        places, n, q = self.structure.places(*self.shape), law.states, law.terms.count
        for output, row in enumerate(law.sensor):
            own = full[:, :, output]
            at = places["sensor"].start + output * q
            own[..., at : at + q] += value
            own[..., places["shape"]] += row[law.terms.owners] * by_shape
            for signal in range(law.terms.signals):
                at = places["pick"].start + signal * n
                own[..., at : at + n] += (by_signal[..., signal] @ row)[..., None] * states
