"""Two-dimensional incompressible flow on a torus in vorticity form, pseudo-spectral with 2/3 dealiasing, ETDRK4."""

from __future__ import annotations

import logging
import math

import numpy as np
import torch

from lfno.errors import LfnoError
from lfno.solvers.etdrk4 import ETDRK4

_log = logging.getLogger(__name__)
#: dt · max|u| · max|k| beyond which the classical fourth-order step is no longer trusted; its stability ends at 2.8
_COURANT = 2.0


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
        self, initial: torch.Tensor, forcing: torch.Tensor, interval: float, count: int, dt: float
    ) -> torch.Tensor:
        """Vorticity `(batch, size, size, count)` at `interval, 2 interval, …` from `initial` (batch, size, size).

        `dt` is the longest step; it is refined, with a message, where the flow is too fast for it.
        """
        source = self.analyse(forcing)
        w = self.analyse(initial)
        answer = torch.empty((len(initial), self.size, self.size, count), dtype=torch.float64, device=self.device)
        steppers: dict[int, ETDRK4] = {}
        steps = max(1, math.ceil(interval / dt - 1e-9))
        for n in range(count):
            speed = float(torch.linalg.vector_norm(self.synthesise(self.velocity * w), dim=0).max())
            if not math.isfinite(speed):
                raise LfnoError(f"the flow is not finite at t = {n * interval:g}: use a smaller input or more points")
            while interval / steps * speed * self.top > _COURANT:
                steps *= 2
                _log.info("flow of speed %.3g: step refined to %.3g at t = %g", speed, interval / steps, n * interval)
            step = steppers.setdefault(steps, ETDRK4(self.linear, interval / steps))
            for _ in range(steps):
                w = step(w, lambda state: self.advection(state) + source)
            answer[..., n] = self.synthesise(w)
        return answer
