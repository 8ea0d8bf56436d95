"""Two-dimensional incompressible flow on a torus in vorticity form, pseudo-spectral with 2/3 dealiasing, ETDRK4."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from threading import Event

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.solvers.etdrk4 import ETDRK4

#: largest dt · max|u| · max|k|; the classical fourth-order step is stable up to 2.8
_COURANT = 2.0
_GROUP = 8  # samples that a CPU core solves together


class VorticityFlow:
    """`w_t + u·∇w = ν Δw + g`, `Δψ = −w`, `u = (ψ_y, −ψ_x)` on [0, L)² with `size` points a side.

    A state is the Fourier series of w over `|k| ≤ (size − 1)/3`, shape `(batch, 2m + 1, m + 1)`: modes above are the
    ones that products of two fields would alias into, so they are not carried at all. The advection term is computed
    as `∇×∇·(u⊗u) = (∂_xx − ∂_yy)(uv) + ∂_xy(v² − u²)`, which takes four transforms instead of five.
    """

    def __init__(self, size: int, length: float, viscosity: float, device: torch.device | None = None) -> None:
        self.size, self.length, self.device = size, length, device or torch.device("cpu")
        self.kept = (size - 1) // 3
        if self.kept < 1:
            raise LfnoError(f"a flow on {size} points a side has no mode left after dealiasing: use at least 4")
        order = np.fft.fftfreq(2 * self.kept + 1, 1 / (2 * self.kept + 1))
        k = 2 * np.pi / length * torch.tensor(order, dtype=torch.float64, device=self.device)
        kx, ky = k[:, None], k[None, : self.kept + 1]
        squared = kx**2 + ky**2
        self.top = float(k.max())
        self.linear = -viscosity * squared
        inverse = torch.where(squared > 0, 1 / squared.clamp(min=1e-300), torch.zeros_like(squared))
        self.velocity = torch.stack([1j * ky * inverse, -1j * kx * inverse])[:, None]
        self.stress = torch.stack([kx**2 - ky**2, kx * ky])[:, None]

    def analyse(self, field: torch.Tensor) -> torch.Tensor:
        """Fourier series (kept modes only) of fields `(..., size, size)`."""
        series = torch.fft.rfft(field, dim=-1)[..., : self.kept + 1]
        series = torch.fft.fft(series, dim=-2, norm="backward")
        return torch.cat([series[..., : self.kept + 1, :], series[..., -self.kept :, :]], dim=-2) / self.size**2

    def synthesise(self, series: torch.Tensor, size: int | None = None) -> torch.Tensor:
        """Fields `(..., size, size)` of a series; `size` may be another than the solver's own."""
        size = size or self.size
        wide = series.new_zeros((*series.shape[:-2], size, self.kept + 1))
        wide[..., : self.kept + 1, :] = series[..., : self.kept + 1, :]
        wide[..., -self.kept :, :] = series[..., -self.kept :, :]
        return torch.fft.irfft(torch.fft.ifft(wide, dim=-2, norm="forward"), n=size, dim=-1, norm="forward")

    def advection(self, w: torch.Tensor) -> torch.Tensor:
        """`−u·∇w` of a state."""
        u, v = self.synthesise(self.velocity * w)
        products = self.analyse(torch.stack([u * v, (v - u) * (v + u)]))
        return (self.stress * products).sum(dim=0)

    def frames(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int = 1
    ) -> torch.Tensor:
        """Return the vorticity at `times` ≥ 0 on every `stride`-th point.

        initial: the vorticity at t = 0, (batch, size, size).
        dt: the longest time step. It is refined, with a warning, if the flow is too fast.

        The result is `(batch, size / stride, size / stride, len(times))`, a view of memory in which time comes first. A sample
        that is an eigenfunction of the Laplacian, `Δw = −κ w`, has no advection term. Without forcing it decays as e^{−νκt},
        and no time steps are needed.
        """
        rates = self._decay_rates(initial) if not forcing.any() else initial.new_full((len(initial),), math.nan)
        moving = rates.isnan()
        decay = torch.exp(-torch.from_numpy(times).to(initial)[:, None] * rates)
        answer = initial[:, ::stride, ::stride] * decay[:, :, None, None]
        if moving.any():
            answer[:, moving] = self._march_all(initial[moving], forcing, times, dt, stride)
        return answer.movedim(0, -1)

    def _decay_rates(self, initial: torch.Tensor) -> torch.Tensor:
        """Return ν κ if w is an eigenfunction up to rounding, else NaN; `(batch,)`."""
        energy = self.analyse(initial).abs() ** 2
        total = energy.sum(dim=(-2, -1)).clamp(min=1e-300)
        mean = (energy * -self.linear).sum(dim=(-2, -1)) / total
        spread = (energy * (self.linear + mean[:, None, None]) ** 2).sum(dim=(-2, -1)) / total
        cut = (initial - self.synthesise(self.analyse(initial))).abs().amax(dim=(-2, -1)) ** 2 / total
        return torch.where((spread <= 1e-22 * mean**2) & (cut <= 1e-22), mean, math.nan)

    def _march_all(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int
    ) -> torch.Tensor:
        """Solve the whole batch. On a CPU, each thread gets a group of samples that fits into its cache, which is fastest."""
        interrupted = Event()

        def march(group: torch.Tensor) -> torch.Tensor:
            frames = self._march(group, forcing, times, dt, stride)
            return torch.stack(list(takewhile(lambda frame: not interrupted.is_set(), frames)))

        workers = torch.get_num_threads()
        if self.device.type != "cpu":
            return march(initial)
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(workers) as pool:
                try:
                    return torch.cat(list(pool.map(march, initial.split(_GROUP))), dim=1)
                except BaseException:
                    interrupted.set()  # the pool waits for its threads
                    raise
        finally:
            torch.set_num_threads(workers)

    def _march(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int
    ) -> Iterator[torch.Tensor]:
        """Yield one frame after the other, each `(batch, points, points)`."""
        source, w = self.analyse(forcing), self.analyse(initial)
        steppers: dict[float, ETDRK4] = {}
        now, longest = 0.0, dt
        for then in times.tolist():
            speed = math.sqrt(float(self.synthesise(self.velocity * w).square_().sum(dim=0).max()))
            if not math.isfinite(speed):
                raise LfnoError(f"the flow is not finite at t = {now:g}: use a smaller input or more points")
            while longest * speed * self.top > _COURANT:
                longest /= 2
            steps = math.ceil((then - now) / longest - 1e-9)
            if steps:
                length = float(f"{(then - now) / steps:.12e}")  # steps that differ only by rounding share their coefficients
                step = steppers.setdefault(length, ETDRK4(self.linear, length))
                for _ in range(steps):
                    w = step(w, lambda state: self.advection(state) + source)
            yield (self.synthesise(w) if then > 0 else initial)[:, ::stride, ::stride]
            now = then
        if longest < dt:
            warnings.warn(f"the flow is too fast for a time step of {dt:g}; it was refined to {longest:g}", stacklevel=3)


def convective_flow(
    initial: np.ndarray, forcing: np.ndarray, length: float, viscosity: float, times: np.ndarray, dt: float
) -> np.ndarray:
    """Solve one sample with an independent method, for checks: `(size, size, len(times))`.

    The advection term is `u ∂_x w + v ∂_y w`. Time steps are classical fourth-order Runge–Kutta steps of `e^{ν|k|²t} ŵ`, in
    numpy, with the full transform.
    """
    size = len(initial)
    k = 2 * np.pi / length * np.fft.fftfreq(size, 1 / size)
    kx, ky = k[:, None], np.abs(k[None, : size // 2 + 1])
    squared = kx**2 + ky**2
    mask = (np.abs(kx) < 2 / 3 * np.abs(k).max()) & (ky < 2 / 3 * np.abs(k).max())
    source, w = np.fft.rfft2(forcing), np.fft.rfft2(initial)
    inverse = np.where(squared > 0, 1 / np.where(squared > 0, squared, 1), 0)
    gradients = mask * np.stack(np.broadcast_arrays(1j * ky * inverse, -1j * kx * inverse, 1j * kx, 1j * ky))

    def rate(w: np.ndarray) -> np.ndarray:
        u, v, along, across = np.fft.irfft2(gradients * w, s=(size, size))
        return source - mask * np.fft.rfft2(u * along + v * across)

    answer, now = np.empty((*initial.shape, len(times))), 0.0
    for n, then in enumerate(times.tolist()):
        steps = math.ceil((then - now) / dt - 1e-9)
        h = (then - now) / max(steps, 1)
        half = np.exp(-viscosity * squared * h / 2)
        for _ in range(steps):
            a = rate(w)
            b = rate(half * (w + h / 2 * a))
            c = rate(half * w + h / 2 * b)
            d = rate(half * (half * w + h * c))
            w = half * (half * (w + h / 6 * a) + h / 3 * (b + c)) + h / 6 * d
        answer[..., n], now = np.fft.irfft2(w, s=(size, size)), then
    return answer
