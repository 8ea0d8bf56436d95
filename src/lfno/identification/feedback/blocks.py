"""Block-structured systems: a filter, a static nonlinearity, and a second filter.

    x′ = F x + b u,   z = e x,     ξ′ = G ξ + γ n(z),   y = c ξ          (Wiener–Hammerstein)

Given the poles of both filters and e, the output is linear in the other parameters: with n(z) = Σ_d a_d h_d(z), the output is a
sum of the responses of the poles of G to the signals h_d(z). So only the poles and e are searched, and a linear least-squares
problem gives the rest. The search costs little, because the front filter needs no feedback: one recursion for each pole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.optimize import least_squares
from scipy.signal import lfilter

from lfno.identification.feedback.hold import moments, pieces
from lfno.identification.feedback.windows import Windows

#: number of polynomials of z in the nonlinearity of the search
DEGREE = 4
KNOTS=(-1.6,-.8,0.,.8,1.6)
STEEP=2.
#: part of each window that is left out, because its initial state is unknown
WARMUP = 0.2


@dataclass(frozen=True)
class Blocks:
    """The parameters of the search: complex poles of the front filter, real e for its states, complex poles of the back filter."""

    front: np.ndarray
    mix: np.ndarray
    back: np.ndarray

    def pack(self) -> np.ndarray:
        poles = np.concatenate([self.front, self.back])
        return np.concatenate([np.log(-poles.real), poles.imag[poles.imag > 0], np.delete(self.mix, abs(self.mix).argmax())])

    def unpack(self, vector: np.ndarray) -> Blocks:
        poles = np.concatenate([self.front, self.back])
        swings = poles.imag > 0
        found = -np.exp(vector[: len(poles)]) + 0j
        found[swings] += 1j * np.abs(vector[len(poles) : len(poles) + swings.sum()])
        at = abs(self.mix).argmax()
        mix = np.insert(vector[len(poles) + swings.sum() :], at, self.mix[at])
        return Blocks(found[: len(self.front)], mix, found[len(self.front) :])


def real_states(poles, states):
    """(…, modes) complex → list of real columns."""
    return np.concatenate([np.stack([states[..., m].real, states[..., m].imag], -1) if p.imag > 0 else states[..., m].real[..., None]
                           for m, p in enumerate(poles)], -1)


class Screen:
    def __init__(self, windows: Windows, limit=8000):
        count = max(1, min(len(windows), limit // len(windows.inputs)))
        rows = np.linspace(0, len(windows) - 1, count).round().astype(int)
        self.w = w = windows.chosen(rows).held("centred")
        size = len(w.inputs)
        keep = np.zeros((size, len(w)), bool)
        keep[int(WARMUP * size):-2] = True
        self.keep = keep & (w.weights.all(2) > 0)
        self.y = w.targets[self.keep]
        self.pieces = w.pieces
        self.step = w.step

    def respond(self, poles, parts):
        """parts (time-1, W, channels, powers) → complex (time, W, channels, modes)"""
        table, _ = moments(poles, self.step, parts.shape[-1])
        push = parts @ table  # (t, W, c, m)
        out = np.zeros((len(parts) + 1, *push.shape[1:]), complex)
        for m, pole in enumerate(poles):
            out[1:, ..., m] = lfilter([1.0], [1.0, -np.exp(pole * self.step)], push[..., m], axis=0)
        return out

    def signal(self, blocks):
        unit = np.sqrt(-blocks.front.real + .1 * abs(blocks.front))
        states = real_states(blocks.front, self.respond(blocks.front, self.pieces)[:, :, 0] * unit)
        z = states @ blocks.mix
        size = z[self.keep].std()
        mean = 0.0
        return z / size, size

    def columns(self, blocks):
        z, _ = self.signal(blocks)
        if KNOTS is None:
            h = np.stack([hermeval(np.clip(z,-5,5), np.eye(DEGREE + 1)[d]) for d in range(1, DEGREE + 1)], -1)
        else:
            h = np.stack([z]+[np.logaddexp(STEEP*(z-c),-STEEP*(z-c))/STEEP for c in KNOTS], -1)
        parts = np.moveaxis(pieces(np.moveaxis(h, 0, -1), self.step, "linear"), 2, 0)
        unit = np.sqrt(-blocks.back.real + .1 * abs(blocks.back))
        x = self.respond(blocks.back, parts) * unit
        x = real_states(blocks.back, x)
        flat = x[self.keep].reshape(len(self.y), -1)
        return np.concatenate([flat, np.ones((len(flat), 1))], 1)

    def residual(self, vector, like):
        A = self.columns(like.unpack(vector))
        q, r = np.linalg.qr(A)
        return (self.y - q @ (q.T @ self.y)).ravel()

    def refine(self, blocks, most=15):
        f = least_squares(self.residual, blocks.pack(), args=(blocks,), method="lm", max_nfev=most * (1 + len(blocks.pack())), diff_step=1e-5)
        return blocks.unpack(f.x), np.sqrt((f.fun ** 2).mean())
