"""Variable projection: a linear solve gives the residues, so that only the poles need a nonlinear search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.optimize import least_squares

from lfno.identification.response import interpolate, pole_response, pole_values
from lfno.identification.uncertainty import coloured_covariance

#: smallest number of time steps of a piece that is held out; records below FEWEST × PIECE steps have shorter pieces
PIECE = 32
#: smallest number of pieces of a record; every fifth piece is held out
FEWEST = 10
#: largest number of pieces of a record
MOST = 50


class Projection:
    """The least-squares fit of the outputs by the exact responses of given poles.

    One fifth of the data is held out of every fit. `error` returns the error on the held-out data, to decide about a further
    pole. `whole` returns the problem with all data in the fit.

    inputs, outputs: (samples, channels, time).
    step: sampling step in seconds.
    hold: interpolation of the input between samples, one of `response.HOLDS`.
    warmup: number of first steps that are simulated and do not count in the error.
    direct: whether the model has a direct term.
    moments: (samples, time), True where all outputs were measured. Other moments are simulated and do not count in the error.
    hold_out: whether a fifth of the data is held out.
    constant: whether the model has a constant in each output.
    """

    def __init__(
        self, inputs: np.ndarray, outputs: np.ndarray, step: float, hold: str, warmup: int = 0, direct: bool = True,
        moments: np.ndarray | None = None, hold_out: bool = True, constant: bool = False,
    ) -> None:  # fmt: skip
        self.inputs, self.outputs, self.step, self.hold = inputs, outputs, step, hold
        self.warmup, self.direct, self.moments, self.hold_out, self.constant = warmup, direct, moments, hold_out, constant
        self.samples, self.length = inputs.shape[0], inputs.shape[-1] - warmup

    @cached_property
    def pieces(self) -> np.ndarray:
        """Return the coefficients of the inputs between samples, from `interpolate`."""
        return interpolate(self.inputs, self.step, self.hold)

    def respond(self, pole: complex) -> tuple[np.ndarray, np.ndarray]:
        """Return the response z of a pole μ to the inputs, and the derivative ∂z/∂μ. Both have the shape of the inputs."""
        return pole_response(pole, self.pieces, self.step)

    def values(self, pole: complex) -> np.ndarray:
        """Return the response z of a pole μ, without its derivative."""
        return pole_values(pole, self.pieces, self.step)

    @cached_property
    def targets(self) -> np.ndarray:
        """Return the outputs (rows, outputs). There is one row for each time step that counts in the error; see `rows`."""
        return self.rows(self.outputs)

    @cached_property
    def fixed(self) -> np.ndarray:
        """Return the columns that do not depend on the poles: the inputs for a direct term, and ones for a constant."""
        direct = self.rows(self.inputs) if self.direct else np.zeros((len(self.targets), 0))
        return np.concatenate([direct, np.ones((len(direct), 1))], axis=1) if self.constant else direct

    @cached_property
    def held(self) -> np.ndarray:
        """Return a mask of the held-out rows, (rows,).

        Five trajectories or more: every fifth trajectory is held out. Fewer trajectories: time is divided into pieces, and
        every fifth piece is held out. Without `hold_out`, the mask is False everywhere.
        """
        return self._pieces % 5 == 4 if self.hold_out else np.zeros(len(self.targets), dtype=bool)

    @cached_property
    def _pieces(self) -> np.ndarray:
        """Return the number of the trajectory, or of the time piece, of each row.

        In short pieces, slow noise is the same in the held-out piece and in its neighbours. A pole that fits this noise then
        lowers the held-out error. So pieces have at least PIECE steps, if the record has at least FEWEST × PIECE steps.
        """
        rows = np.arange(self.samples * self.length)
        count = min(max(self.length // PIECE, FEWEST), MOST)
        pieces = rows // self.length if self.samples >= 5 else rows % self.length * count // self.length
        return pieces if self.moments is None else pieces[self._scored]

    def part(self, points: int) -> Projection:
        """Return the problem on about `points` points (samples × time).

        The points are the first trajectories, or the beginning of the first trajectory. A fifth of these data is held out.
        """
        count = max(points // self.inputs.shape[-1], 1)
        some = (slice(count), slice(None), slice(max(points, 2 * self.warmup) if count == 1 else None))
        moments = None if self.moments is None else self.moments[some[0], some[2]]
        return type(self)(self.inputs[some], self.outputs[some], self.step, self.hold, self.warmup, self.direct, moments,
                          constant=self.constant)  # fmt: skip

    def whole(self) -> Projection:
        """Return the problem with no data held out, for the final estimate and its covariance. `error` then has no meaning."""
        moved = type(self)(
            self.inputs, self.outputs, self.step, self.hold, self.warmup, self.direct, self.moments, hold_out=False,
            constant=self.constant,
        )
        moved.__dict__ |= {name: self.__dict__[name] for name in ("pieces", "targets", "fixed") if name in self.__dict__}
        return moved

    def rows(self, arrays: np.ndarray) -> np.ndarray:
        """Return arrays (samples, channels, time) as rows (samples × time, channels), one for each step that is scored."""
        rows = np.moveaxis(arrays[..., self.warmup :], 1, -1).reshape(-1, arrays.shape[1])
        return rows if self.moments is None else rows[self._scored]

    @cached_property
    def _scored(self) -> np.ndarray:
        """Return which rows (samples × time,) count in the error, for data with gaps."""
        assert self.moments is not None
        return self.moments[:, self.warmup :].ravel()

    def columns(self, poles: np.ndarray) -> np.ndarray:
        """Return the regression matrix (rows, columns)."""
        return self._matrix(poles, [self.values(pole) for pole in poles])

    def _matrix(self, poles: np.ndarray, responses: Sequence[np.ndarray]) -> np.ndarray:
        """Return the regression matrix (rows, columns) from the response of each pole."""
        blocks = [self.fixed]
        for pole, response in zip(poles, responses, strict=True):
            value = self.rows(response)
            blocks += [value.real] if pole.imag == 0 else [value.real, -value.imag]
        return np.concatenate(blocks, axis=1)

    def without_constant(self) -> Projection:
        """Return the problem without a constant in the outputs."""
        return type(self)(
            self.inputs, self.outputs, self.step, self.hold, self.warmup, self.direct, self.moments, self.hold_out
        )

    def solve(self, poles: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the linear coefficients (columns, outputs), and the relative L2 error on the held-out rows."""
        solution, missed = self._missed(poles)
        return solution, float(np.linalg.norm(missed) / (np.linalg.norm(self.targets[self.held]) or 1.0))

    def _missed(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the linear coefficients, and the errors (rows, outputs) on the held-out rows."""
        matrix = self.columns(poles)
        use = ~self.held
        size = np.linalg.norm(matrix[use], axis=0)
        size[size == 0] = 1.0
        solution = np.linalg.lstsq(matrix[use] / size, self.targets[use], rcond=1e-12)[0] / size[:, None]
        return solution, self.targets[self.held] - matrix[self.held] @ solution

    def gain(self, poles: np.ndarray, others: np.ndarray) -> float:
        """Return how much the squared held-out error falls from `poles` to `others`, in standard errors of this fall.

        The two errors are compared piece by piece. So a small gain is visible although the errors of the pieces differ much.
        With fewer than three held-out pieces, the result is 0.
        """
        pieces = self._pieces[self.held]
        order = np.unique(pieces, return_inverse=True)[1]
        before, after = (np.bincount(order, (self._missed(one)[1] ** 2).sum(1)) for one in (poles, others))
        fall = before - after
        if len(fall) < 3:
            return 0.0
        return float(fall.mean() / max(fall.std(ddof=1) / math.sqrt(len(fall)), 1e-300))

    def error(self, poles: np.ndarray) -> float:
        """Return the relative L2 error on the held-out rows."""
        return self.solve(poles)[1]

    def residual_basis(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residual of a fit with these poles to all rows, and an orthonormal basis of the regression columns."""
        basis = np.linalg.qr(self.columns(poles))[0]
        return self.targets - basis @ (basis.T @ self.targets), basis

    def refine(self, poles: np.ndarray) -> np.ndarray:
        """Return all poles after Gauss–Newton steps in log(−Re μ) and Im μ. Kaufman's Jacobian eliminates the residues."""
        if not len(poles):
            return poles
        oscillates = poles.imag != 0
        memory: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

        def unpack(unknown: np.ndarray) -> np.ndarray:
            found = -np.exp(unknown[: len(poles)]) + 0j
            found[oscillates] += 1j * unknown[len(poles) :]
            return found

        def evaluate(unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if unknown.tobytes() not in memory:
                memory.clear()
                memory[unknown.tobytes()] = self._linearise(unpack(unknown))
            return memory[unknown.tobytes()]

        start = np.concatenate([np.log(-poles.real), poles.imag[oscillates]])
        decay = (math.log(1e-3 / (self.step * self.length)), math.log(math.pi / self.step))
        low = np.concatenate([np.full(len(poles), decay[0]), np.full(oscillates.sum(), 1e-9)])
        high = np.concatenate([np.full(len(poles), decay[1]), np.full(oscillates.sum(), math.pi / self.step)])
        found = least_squares(
            lambda unknown: evaluate(unknown)[0],
            np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low)),
            lambda unknown: evaluate(unknown)[1],
            bounds=(low, high), x_scale="jac", max_nfev=40, ftol=1e-10, xtol=1e-10, gtol=1e-14,
        )  # fmt: skip
        return unpack(found.x)

    def covariance(self, poles: np.ndarray) -> np.ndarray:
        """Return the covariance (modes, 2, 2) of Re μ and Im μ of each pole. The noise may be coloured.

        Call this method on the result of `whole`. The Jacobian is with respect to log(−Re μ) and Im μ. Therefore the entries of
        Re μ are multiplied by d Re μ / d log(−Re μ) = Re μ.
        """
        covariance = np.zeros((len(poles), 2, 2))
        if not len(poles):
            return covariance
        residual, jacobian = self._linearise(poles)
        trajectories = self.samples if self.moments is None else 1
        shape = (trajectories, len(self.targets) // trajectories, self.targets.shape[1])
        found = coloured_covariance(jacobian.reshape(*shape, -1), residual.reshape(shape))
        swings = np.cumsum(poles.imag != 0) - 1 + len(poles)
        for n, pole in enumerate(poles):
            rows, factors = ([n], [pole.real]) if pole.imag == 0 else ([n, swings[n]], [pole.real, 1.0])
            block = found[np.ix_(rows, rows)] * np.outer(factors, factors)
            covariance[n, : len(rows), : len(rows)] = block
        return covariance

    def _linearise(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residual and the Jacobian on the rows that are not held out.

        Their shapes are (rows · outputs,) and (rows · outputs, parameters).

        The parameters are log(−Re μ) of all poles, then Im μ of the oscillations.
        """
        responses, slopes = zip(*map(self.respond, poles), strict=True)
        matrix = self._matrix(poles, responses)
        use = ~self.held
        basis, triangle = np.linalg.qr(matrix[use])
        targets = self.targets[use]
        solution = np.linalg.lstsq(triangle, basis.T @ targets, rcond=1e-13)[0]
        residual = targets - basis @ (basis.T @ targets)
        by_decay, by_frequency = [], []
        place, width = self.fixed.shape[1], self.inputs.shape[1]
        for pole, slope in zip(poles, slopes, strict=True):
            cosine = solution[place : place + width]
            sine = solution[place + width : place + 2 * width] if pole.imag else np.zeros_like(cosine)
            place += width if pole.imag == 0 else 2 * width
            change = self.rows(slope)[use] @ (cosine + 1j * sine)
            by_decay.append(change.real * pole.real)
            if pole.imag:
                by_frequency.append(-change.imag)
        moved = [part - basis @ (basis.T @ part) for part in by_decay + by_frequency]
        return residual.ravel(), -np.stack([part.ravel() for part in moved], axis=1)
