"""Fast fits of block structures: a front filter, a static nonlinearity, and a back filter.

    x′ = F x + b u,   z = e x,     ξ′ = G ξ + g n(z),   y = c ξ + offset          (Wiener–Hammerstein)

For known poles and known e, the outputs are linear in all other parameters: with n(z) = Σ_d a_d h_d(z), they are sums of the
responses of the back poles to the signals h_d(z). So only the poles and e are searched. Linear least squares gives the rest.
No signal returns to the front filter, so a simulation needs one recursion for each pole and no loop over time in Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from lfno.identification.feedback.hold import AFTER, moments, pieces
from lfno.identification.feedback.law import split
from lfno.identification.feedback.windows import Windows

#: places of the rounded corners of the curves h_d, in standard deviations of z
CORNERS = (-1.6, -0.8, 0.0, 0.8, 1.6)
#: steepness of the rounded corners, in 1 / standard deviation of z
STEEP = 2.0
#: part of each window that does not count in the error, because the initial state of the window is unknown
WARMUP = 0.2
#: number of samples in the search
SAMPLES = 8000
#: step of the finite differences, relative to the parameters
NUDGE = 1e-5
#: damping above which the Gauss–Newton steps stop
MOST_DAMPING = 1e6
#: relative decrease of the squared error below which the Gauss–Newton steps stop
UNCHANGED = 1e-3


@dataclass(frozen=True)
class Blocks:
    """The parameters of the search.

    front: poles of the front filter, decays first.
    mix: e, (states of the front filter,). Its largest entry is fixed.
    back: poles of the back filter, decays first.
    """

    front: np.ndarray
    mix: np.ndarray
    back: np.ndarray

    @property
    def poles(self) -> np.ndarray:
        """Return the poles of both filters, (poles,)."""
        return np.concatenate([self.front, self.back])

    @property
    def fixed(self) -> int:
        """Return the index of the fixed entry of e."""
        return int(np.abs(self.mix).argmax())

    def pack(self) -> np.ndarray:
        """Return the vector of parameters: log(−Re μ) and Im μ of the poles, and the free entries of e."""
        poles = self.poles
        return np.concatenate([np.log(-poles.real), poles.imag[poles.imag > 0], np.delete(self.mix, self.fixed)])

    def unpack(self, vector: np.ndarray) -> Blocks:
        """Return the blocks with other parameters. A pole keeps its kind, decay or oscillation."""
        count, swings = len(self.poles), self.poles.imag > 0
        poles = -np.exp(np.clip(vector[:count], -50, 50)) + 0j
        poles[swings] += 1j * np.maximum(np.abs(vector[count : count + swings.sum()]), 1e-9)
        mix = np.insert(vector[count + swings.sum() :], self.fixed, self.mix[self.fixed])
        return Blocks(poles[: len(self.front)], mix, poles[len(self.front) :])


def units(poles: np.ndarray) -> np.ndarray:
    """Return the entries of b or g, one for each pole, that make the modal coordinates of order one."""
    return np.asarray(np.sqrt(np.abs(poles.real) + 0.1 * np.abs(poles)))


def curves(z: np.ndarray) -> np.ndarray:
    """Return the curves h_d(z), (…, d): z itself, and a smooth corner at each of CORNERS. z has the standard deviation one.

    All curves vanish at z = 0. Otherwise a motion from rest would begin with a false transient.
    """
    bent, still = STEEP * (z[..., None] - np.array(CORNERS)), STEEP * np.array(CORNERS)
    corners = (np.logaddexp(bent, -bent) - np.logaddexp(still, -still)) / STEEP
    return np.concatenate([z[..., None], corners], axis=-1)


class Screen:
    """Fast fits of block structures to some windows. Only the input with the index `channel` drives the front filter."""

    def __init__(self, windows: Windows, channel: int = 0) -> None:
        self.channel = channel
        count = max(min(len(windows), SAMPLES // len(windows.inputs)), 1)
        rows = np.linspace(0, len(windows) - 1, count).round().astype(int)
        self.windows = windows.chosen(rows).held("centred")
        size = len(windows.inputs)
        compared = np.arange(size) >= WARMUP * size * (not self.windows.rest.all())
        compared[-AFTER:] = False  # the interpolation of h_d(z) needs samples of z beyond the window
        self.compared = compared[:, None] & self.windows.weights.all(axis=2)
        self.targets = self.windows.targets[self.compared]

    def signal(self, blocks: Blocks) -> tuple[np.ndarray, float]:
        """Return z (time, windows) with the standard deviation one, and the standard deviation of z with the given e."""
        own = self.windows.pieces[:, :, self.channel : self.channel + 1]
        z = self._respond(blocks.front, own)[:, :, 0] @ blocks.mix
        size = float(z[self.compared].std()) or 1.0
        return z / size, size

    def columns(self, blocks: Blocks) -> np.ndarray:
        """Return the signals that make up the outputs, (compared samples, states of the back filter × curves + 1)."""
        fed = np.moveaxis(curves(self.signal(blocks)[0]), 0, -1)
        parts = np.moveaxis(pieces(fed, self.windows.step, "centred"), 2, 0)
        responses = self._respond(blocks.back, parts)[self.compared]
        return np.concatenate([responses.swapaxes(1, 2).reshape(len(responses), -1), np.ones((len(responses), 1))], axis=1)

    def residual(self, vector: np.ndarray, like: Blocks) -> np.ndarray:
        """Return the residual of the linear least squares. `vector` are parameters of blocks of the same kind as `like`."""
        with np.errstate(over="ignore", invalid="ignore"):
            basis = np.linalg.qr(self.columns(like.unpack(vector)))[0]
            return np.asarray((self.targets - basis @ (basis.T @ self.targets)).ravel())

    def error(self, blocks: Blocks) -> float:
        """Return the relative error on the windows."""
        return float(np.sqrt((self.residual(blocks.pack(), blocks) ** 2).mean()))

    def refined(self, blocks: Blocks, steps: int) -> tuple[float, Blocks]:
        """Return the error and the blocks after at most `steps` damped Gauss–Newton steps, with finite differences."""
        vector, damping = blocks.pack(), 1e-3
        residual = self.residual(vector, blocks)
        for _ in range(steps):
            nudges = NUDGE * np.maximum(np.abs(vector), 0.1)
            changes = [self.residual(vector + nudge, blocks) - residual for nudge in np.diag(nudges)]
            slope = np.stack(changes, axis=1) / nudges
            normal, right, before = slope.T @ slope, slope.T @ residual, float(residual @ residual)
            if not np.isfinite(normal).all():
                break
            while damping < MOST_DAMPING:
                ridge = damping * np.diag(np.diag(normal) + 1e-12 * np.trace(normal))
                step = np.linalg.lstsq(normal + ridge, right, rcond=None)[0]
                trial = self.residual(vector - step, blocks)
                if float(trial @ trial) < before:
                    break
                damping *= 6
            else:
                break
            vector, residual, damping = vector - step, trial, damping / 8
            if float(residual @ residual) > (1 - UNCHANGED) * before:
                break
        return float(np.sqrt((residual**2).mean())), blocks.unpack(vector)

    def curve(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return c (outputs, states of the back filter), and points z and n(z) of the nonlinearity, each (points,).

        The scale of z is the scale that the entries of e define. The rank-one approximation of the least-squares coefficients
        separates c from n.
        """
        z, size = self.signal(blocks)
        found = np.linalg.lstsq(self.columns(blocks), self.targets, rcond=1e-10)[0][:-1]
        states, outputs = len(found) // (len(CORNERS) + 1), found.shape[1]
        table = np.moveaxis(found.reshape(states, -1, outputs), 2, 0).reshape(outputs * states, -1)
        # the curves are not orthogonal: weigh the coefficients by the size of their curves
        points = np.quantile(z[self.compared], np.linspace(0.0005, 0.9995, 400))
        values = curves(points)
        left, sizes, right = np.linalg.svd(table @ (values - values.mean(0)).T, full_matrices=False)
        read = left[:, 0].reshape(outputs, states)
        return read, size * points, sizes[0] * right[0]

    def _respond(self, poles: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return real states (time, windows, channels, n) for coefficients of inputs (time − 1, windows, channels, powers)."""
        step = self.windows.step
        push = parts @ (moments(poles, step, parts.shape[-1])[0] * units(poles))
        states = np.zeros((len(parts) + 1, *push.shape[1:]), complex)
        for mode, pole in enumerate(poles):
            states[1:, ..., mode] = lfilter([1.0], [1.0, -np.exp(pole * step)], push[..., mode], axis=0)
        return split(states, int((poles.imag == 0).sum()))
