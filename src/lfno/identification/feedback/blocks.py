"""Fast fits of block structures: a front filter, static nonlinearities, and a back filter.

    x′ = F x + b u,   zᵢ = eᵢ x,     y = Σᵢ (response of the back poles to nᵢ(zᵢ)) + offset

x is the state of the front filter, u is the input, and y is the output. Branch i has the signal zᵢ and the nonlinearity nᵢ. A
structure with one signal z is a Wiener–Hammerstein system. With several signals it has parallel branches, which share the back
poles but not the residues.

For known poles and known e, the outputs are linear in all other parameters. Each nonlinearity is a sum nᵢ(z) = Σ_d a_d h_d(z)
of known curves h_d. Then the outputs are linear combinations of the responses of the back poles to the signals h_d(zᵢ). So the
search changes only the poles and e, and linear least squares gives the rest. No signal returns to the front filter. So a
simulation needs one recursion for each pole, and no loop over time in Python.
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
#: part of each window, at its beginning, that does not count in the error if the initial state of any window is unknown
WARMUP = 0.2
#: approximate number of samples in the search
SAMPLES = 8000
#: number of rounds in which the factors c and a of every branch are fitted in turn; see `_separate`
TURNS = 10
#: smallest singular value in the least squares of several branches, relative to the largest. The data hardly determine how the
#: linear parts are shared between branches, so the coefficients would be huge without this limit
SHARED = 1e-3
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
    mix: e, (branches, states of the front filter). The largest entry of each row is fixed.
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
    def fixed(self) -> np.ndarray:
        """Return the indices of the fixed entries of e, as a flat array (branches,)."""
        branches, states = self.mix.shape
        return np.arange(branches) * states + np.abs(self.mix).argmax(axis=1)

    def pack(self) -> np.ndarray:
        """Return the vector of parameters: log(−Re μ) and Im μ of the poles, and the free entries of e."""
        poles = self.poles
        return np.concatenate([np.log(-poles.real), poles.imag[poles.imag > 0], np.delete(self.mix.ravel(), self.fixed)])

    def unpack(self, vector: np.ndarray) -> Blocks:
        """Return the blocks with other parameters. A pole keeps its kind, decay or oscillation."""
        count, swings = len(self.poles), self.poles.imag > 0
        poles = -np.exp(np.clip(vector[:count], -50, 50)) + 0j
        poles[swings] += 1j * np.maximum(np.abs(vector[count : count + swings.sum()]), 1e-9)
        mix = self.mix.ravel().copy()
        mix[np.delete(np.arange(len(mix)), self.fixed)] = vector[count + swings.sum() :]
        return Blocks(poles[: len(self.front)], mix.reshape(self.mix.shape), poles[len(self.front) :])


def units(poles: np.ndarray) -> np.ndarray:
    """Return the input gain for each pole that makes its modal coordinate of order one."""
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

    def signal(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """Return z (time, windows, branches), scaled to standard deviation one, and the standard deviations before scaling."""
        own = self.windows.pieces[:, :, self.channel : self.channel + 1]
        z = self._respond(blocks.front, own)[:, :, 0] @ blocks.mix.T
        size = z[self.compared].std(axis=0)
        size[~(size > 0)] = 1.0
        return z / size, size

    def bent(self, blocks: Blocks) -> np.ndarray:
        """Return the curves of all branches, (time, windows, branches × curves)."""
        fed = curves(self.signal(blocks)[0])
        return fed.reshape(*fed.shape[:2], -1)

    def columns(self, blocks: Blocks) -> np.ndarray:
        """Return the columns of the linear least squares, (compared samples, back states × branches × curves + 1).

        The columns are the responses of the back poles to all curves, and a constant.
        """
        responses = self._respond(blocks.back, self._held(self.bent(blocks)))[self.compared]
        return np.concatenate([responses.swapaxes(1, 2).reshape(len(responses), -1), np.ones((len(responses), 1))], axis=1)

    def residual(self, vector: np.ndarray, like: Blocks) -> np.ndarray:
        """Return the residual of the linear least squares. `vector`: parameters of blocks with the structure of `like`."""
        with np.errstate(over="ignore", invalid="ignore"):
            basis = np.linalg.qr(self.columns(like.unpack(vector)))[0]
            return np.asarray((self.targets - basis @ (basis.T @ self.targets)).ravel())

    def error(self, blocks: Blocks) -> float:
        """Return the rms of the residual on the windows, relative to the standard deviation of the outputs."""
        return float(np.sqrt((self.residual(blocks.pack(), blocks) ** 2).mean()))

    def slopes(self, vector: np.ndarray, like: Blocks) -> np.ndarray:
        """Return ∂residual/∂vector, (rows, parameters), in Kaufman's approximation.

        The linear coefficients stay constant while one parameter changes by a small step. The projection onto the complement
        of the columns accounts for the change of the coefficients.
        """
        here = like.unpack(vector)
        columns = self.columns(here)
        basis, found = np.linalg.qr(columns)[0], np.linalg.lstsq(columns, self.targets, rcond=1e-12)[0][:-1]
        now, nudges = columns[:, :-1] @ found, NUDGE * np.maximum(np.abs(vector), 0.1)
        bent, behind, slopes = self.bent(here), self._behind(like), []
        for nudge, back in zip(np.diag(nudges), behind, strict=True):
            near = like.unpack(vector + nudge)
            change = (self._answer(near, bent if back else self.bent(near), found) - now) / nudge.max()
            slopes.append(-(change - basis @ (basis.T @ change)).ravel())
        return np.stack(slopes, axis=1)

    def refined(self, blocks: Blocks, steps: int) -> tuple[float, Blocks]:
        """Return the error and the blocks after at most `steps` damped Gauss–Newton steps."""
        vector, damping = blocks.pack(), 1e-3
        residual = self.residual(vector, blocks)
        for _ in range(steps):
            with np.errstate(over="ignore", invalid="ignore"):
                slope = self.slopes(vector, blocks)
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

    def curve(self, blocks: Blocks) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return for each branch its output matrix c (outputs, back states), points z, and the values n(z), each (points,).

        z = e x without further scaling. The rank-one approximation of the least-squares coefficients separates c from n.
        """
        signals, sizes = self.signal(blocks)
        columns = self.columns(blocks)
        found = np.linalg.lstsq(columns, self.targets, rcond=SHARED if len(sizes) > 1 else 1e-10)[0][:-1]
        count, outputs = len(CORNERS) + 1, found.shape[1]
        tables = found.reshape(-1, len(sizes), count, outputs)
        places = [np.quantile(signals[..., n][self.compared], np.linspace(0.0005, 0.9995, 400)) for n in range(len(sizes))]
        reads, weights = [], []
        for branch, points in enumerate(places):
            table = np.moveaxis(tables[:, branch], 2, 0).reshape(-1, count)
            # the curves are not orthogonal: weigh the coefficients by the size of their curves
            values = curves(points)
            left = np.linalg.svd(table @ (values - values.mean(0)).T, full_matrices=False)[0][:, 0]
            reads.append(left.reshape(outputs, -1))
            weights.append(left @ table)
        if len(sizes) > 1:
            self._separate(columns, reads, weights)
        return [(read, size * points, curves(points) @ weight)
                for read, size, points, weight in zip(reads, sizes, places, weights, strict=True)]  # fmt: skip

    def _separate(self, columns: np.ndarray, reads: list[np.ndarray], weights: list[np.ndarray]) -> None:
        """Improve c and the coefficients of the curves of several branches with one output, in place.

        The coefficients of the least squares need not be products of c, the output matrix, and a, the coefficients of the
        curves. Here c and a are fitted in turn.
        """
        c, a = np.stack([read[0] for read in reads]), np.stack(weights)
        table = columns[:, :-1].reshape(len(columns), -1, *a.shape)
        one = np.ones((len(columns), 1))
        for _ in range(TURNS):
            seen = np.einsum("pnbd,bd->pbn", table, a, optimize=True).reshape(len(columns), -1)
            c = np.linalg.lstsq(np.concatenate([seen, one], axis=1), self.targets[:, 0], rcond=1e-10)[0][:-1].reshape(c.shape)
            c = c / np.linalg.norm(c, axis=1, keepdims=True)
            seen = np.einsum("pnbd,bn->pbd", table, c, optimize=True).reshape(len(columns), -1)
            a = np.linalg.lstsq(np.concatenate([seen, one], axis=1), self.targets[:, 0], rcond=1e-10)[0][:-1].reshape(a.shape)
        reads[:], weights[:] = list(c[:, None]), list(a)

    def _behind(self, blocks: Blocks) -> np.ndarray:
        """Return for each entry of the vector whether it belongs to a pole of the back filter."""
        back = np.arange(len(blocks.poles)) >= len(blocks.front)
        more = len(blocks.pack()) - len(back) - int((blocks.poles.imag > 0).sum())
        return np.concatenate([back, back[blocks.poles.imag > 0], np.zeros(more, bool)])

    def _answer(self, blocks: Blocks, bent: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Return the outputs (compared samples, outputs) for linear coefficients `found`, without the offset."""
        poles, decays = blocks.back, int((blocks.back.imag == 0).sum())
        table = found.reshape(-1, bent.shape[-1], found.shape[-1])
        pairs = table[decays::2] - 1j * table[decays + 1 :: 2]  # Re((a − i b) w) = a Re w + b Im w
        weights = np.concatenate([table[:decays] + 0j, pairs])
        # the curves are summed before the recursion, so that there is one recursion for each pole and output
        answer = np.zeros((*bent.shape[:2], found.shape[-1]))
        for pole, weight in zip(poles, weights, strict=True):
            parts = self._held(bent @ weight)
            push = parts @ self._weights(np.array([pole]), parts.shape[-1])[:, 0]
            answer[1:] += self._recursion(pole, push).real
        return answer[self.compared]

    def _held(self, fed: np.ndarray) -> np.ndarray:
        """Return signals (time, windows, channels) as polynomials between samples, (time − 1, windows, channels, powers)."""
        return np.moveaxis(pieces(np.moveaxis(fed, 0, -1), self.windows.step, "centred"), 2, 0)

    def _respond(self, poles: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return the real states (time, windows, channels, n) of a filter with these poles, from rest.

        parts: the inputs as polynomials between samples, (time − 1, windows, channels, powers).
        """
        push = parts @ self._weights(poles, parts.shape[-1])
        states = np.zeros((len(parts) + 1, *push.shape[1:]), complex)
        for mode, pole in enumerate(poles):
            states[1:, ..., mode] = self._recursion(pole, push[..., mode])
        return split(states, int((poles.imag == 0).sum()))

    def _weights(self, poles: np.ndarray, powers: int) -> np.ndarray:
        """Return the response over one step to each power of time, (powers, poles)."""
        return np.asarray(moments(poles, self.windows.step, powers)[0] * units(poles))

    def _recursion(self, pole: complex, push: np.ndarray) -> np.ndarray:
        return np.asarray(lfilter([1.0], [1.0, -np.exp(pole * self.windows.step)], push, axis=0))
