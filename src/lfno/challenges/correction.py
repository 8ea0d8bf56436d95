"""A network in front of a known linear system: it answers with a correction of the system's input.

    correction of the output = H(s) · network(u, H(s) u)

H(s) is a frequency response that depends on the level s of the record. A nonlinear force inside a structure reaches the
output through the same resonances as the input does. H has them already, so the network only has to learn the force.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lfno.core.grid import Grid
from lfno.identification.periodic import PeriodicResponse
from lfno.models.lfno import LFNO, LFNOConfig


class InputCorrection(LFNO):
    """An LFNO in its steady pass, followed by a fixed frequency response.

    The inputs are those of the system and its linear answer, (batch, inputs + outputs, period). The answer is the correction
    of the outputs in units of `unit`.
    """

    response: Tensor
    level: Tensor

    def __init__(self, grid: Grid, config: LFNOConfig, response: PeriodicResponse, unit: float) -> None:
        super().__init__(grid, config)
        planes = np.stack([response.coefficients.real, response.coefficients.imag], -1) / unit
        self.register_buffer("response", torch.as_tensor(planes, dtype=torch.float32))
        self.register_buffer("level", torch.tensor(response.unit))

    def respond(self, x: Tensor, grid: Grid | None = None, transient: bool = True) -> Tensor:
        """(batch, inputs + outputs, period) → (batch, outputs, period); always the steady pass."""
        spectrum = torch.fft.rfft(super().respond(x, grid, transient=False))
        level = x[:, : spectrum.shape[1]].square().mean((1, 2)).sqrt() / self.level
        powers = level[:, None] ** torch.arange(len(self.response), device=x.device)
        total = torch.zeros((), dtype=spectrum.dtype, device=x.device)
        for k, term in enumerate(torch.view_as_complex(self.response)):
            total = total + powers[:, k, None, None] * torch.einsum("oif,bif->bof", term, spectrum)
        return torch.fft.irfft(total, x.shape[-1])
