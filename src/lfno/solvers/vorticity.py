"""Two-dimensional incompressible flow on a torus: pseudo-spectral in space with 2/3 dealiasing, ETDRK4 in time."""

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

# largest value of dt · max|u| · max|k|; RK4 is stable up to 2.8
_COURANT = 2.0
# number of samples that one CPU thread solves together
_GROUP = 8


class VorticityFlow:
    """The equation w_t + u·∇w = ν Δw + g on [0, L)², with Δψ = −w and u = (ψ_y, −ψ_x).

    w is the vorticity, ψ the stream function, u the velocity, g a source of vorticity.

    size: the number of points on each side.
    length: L.
    viscosity: ν.

    A state is the Fourier series of w, (batch, 2m + 1, m + 1), with the modes |k| ≤ m = ⌊(size − 1)/3⌋. Higher modes are left
    out, because products of two fields would give wrong values there (aliasing). The advection term is computed as
    ∇×∇·(u⊗u) = (∂_xx − ∂_yy)(uv) + ∂_xy(v² − u²), which needs four transforms instead of five.
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
        """Return the Fourier series (…, 2m + 1, m + 1) of fields (…, size, size)."""
        series = torch.fft.rfft(field, dim=-1)[..., : self.kept + 1]
        series = torch.fft.fft(series, dim=-2, norm="backward")
        return torch.cat([series[..., : self.kept + 1, :], series[..., -self.kept :, :]], dim=-2) / self.size**2

    def synthesise(self, series: torch.Tensor, size: int | None = None) -> torch.Tensor:
        """Return fields (…, size, size) from their Fourier series. size: points on each side, by default `self.size`."""
        size = size or self.size
        wide = series.new_zeros((*series.shape[:-2], size, self.kept + 1))
        wide[..., : self.kept + 1, :] = series[..., : self.kept + 1, :]
        wide[..., -self.kept :, :] = series[..., -self.kept :, :]
        return torch.fft.irfft(torch.fft.ifft(wide, dim=-2, norm="forward"), n=size, dim=-1, norm="forward")

    def advection(self, w: torch.Tensor) -> torch.Tensor:
        """Return the Fourier series of −u·∇w from the Fourier series of w."""
        u, v = self.synthesise(self.velocity * w)
        products = self.analyse(torch.stack([u * v, (v - u) * (v + u)]))
        return (self.stress * products).sum(dim=0)

    def frames(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int = 1
    ) -> torch.Tensor:
        """Return the vorticity at increasing `times` ≥ 0 on every `stride`-th point: (batch, points, points, times).

        points is size / stride, rounded up.
        initial: the vorticity at t = 0, (batch, size, size).
        forcing: g, (size, size).
        dt: the longest time step. It is refined, with a warning, if the flow is too fast.

        Some samples need no time steps: if w is an eigenfunction of the Laplacian, Δw = −κ w, the advection term is zero.
        Without forcing, w then decays as e^{−νκt}.
        """
        rates = self._decay_rates(initial) if not forcing.any() else initial.new_full((len(initial),), math.nan)
        moving = rates.isnan()
        decay = torch.exp(-torch.from_numpy(times).to(initial)[:, None] * rates)
        answer = initial[:, ::stride, ::stride] * decay[:, :, None, None]
        if moving.any():
            answer[:, moving] = self._march_all(initial[moving], forcing, times, dt, stride)
        return answer.movedim(0, -1)

    def _decay_rates(self, initial: torch.Tensor) -> torch.Tensor:
        """Return ν κ for each sample whose w is an eigenfunction up to rounding errors, else NaN; (batch,)."""
        energy = self.analyse(initial).abs() ** 2
        total = energy.sum(dim=(-2, -1)).clamp(min=1e-300)
        mean = (energy * -self.linear).sum(dim=(-2, -1)) / total
        spread = (energy * (self.linear + mean[:, None, None]) ** 2).sum(dim=(-2, -1)) / total
        cut = (initial - self.synthesise(self.analyse(initial))).abs().amax(dim=(-2, -1)) ** 2 / total
        return torch.where((spread <= 1e-22 * mean**2) & (cut <= 1e-22), mean, math.nan)

    def _march_all(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int
    ) -> torch.Tensor:
        """Solve all samples with time steps. Return (times, batch, points, points).

        On a CPU, each thread solves small groups of samples, which fit into its cache.
        """
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
                    interrupted.set()  # stop all threads, because the pool waits for them
                    raise
        finally:
            torch.set_num_threads(workers)

    def _march(
        self, initial: torch.Tensor, forcing: torch.Tensor, times: np.ndarray, dt: float, stride: int
    ) -> Iterator[torch.Tensor]:
        """Yield the vorticity at each time, (batch, points, points)."""
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
                length = float(f"{(then - now) / steps:.12e}")  # steps that differ only by rounding errors share a stepper
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
    """Solve one sample with an independent method, for checks. Return the vorticity, (size, size, times).

    The arguments are those of `VorticityFlow` and `VorticityFlow.frames`. The advection term is u ∂_x w + v ∂_y w. Time steps
    are RK4 steps of e^{ν|k|²t} ŵ, where ŵ is the Fourier transform of w with all modes.
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
