"""A linear model on a window of fixed size as a torch module, for exports of whole windows.

The output y of the sampled system is a convolution of the input u with the impulse response h, y_t = Σ_j h_{t−j} u_j. The first
and the last samples of the window are an exception, because the interpolation of the input has no neighbour on one side. For
these samples, the difference of the responses is added as a correction.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from lfno.core.grid import Grid
from lfno.identification.modal import ModalModel

#: number of corrected samples at each end; the influence of the end of a cubic spline falls by a factor of 0.27 per sample
ENDS = 24


class LinearWindow(nn.Module):
    """The response of a linear model from rest on one grid: (batch, inputs, time) → (batch, outputs, time).

    >>> from lfno.identification.identify import Modes
    >>> decay = Modes(np.array([-1.0 + 2j]), np.ones((1, 1, 1)), np.zeros((1, 1)), np.ones(1), 0.0, "cubic")
    >>> model = ModalModel(decay, np.zeros(1), np.full(1, 3.0), Grid.line(128, 0.1))
    >>> force = np.random.default_rng(0).normal(size=(2, 1, 128))
    >>> answer = LinearWindow(model, model.grid)(torch.as_tensor(force)).numpy()
    >>> bool(np.abs(answer - model.predict(force)).max() < 1e-9)
    True
    """

    kernel: Tensor
    correction: Tensor
    input_offset: Tensor
    output_offset: Tensor

    def __init__(self, model: ModalModel, grid: Grid) -> None:
        super().__init__()
        size = grid.shape[-1]
        ends = min(ENDS, size // 2)
        places = np.concatenate([np.arange(ends), np.arange(size - ends, size)])
        kernel = _impulses(model, grid, np.array([2 * ends]), size + 2 * ends)[..., 0, ends:]  # lags −ends … size − 1
        own = _impulses(model, grid, places, size)
        lags = np.arange(size) - places[:, None] + ends
        shifted = np.where(lags >= 0, kernel[..., np.clip(lags, 0, None)], 0.0)
        self.ends, self.size = ends, size
        self.register_buffer("kernel", torch.as_tensor(kernel[..., ::-1].copy()))
        self.register_buffer("correction", torch.as_tensor((own - shifted).transpose(1, 2, 0, 3).reshape(-1, *own.shape[::3])))
        self.register_buffer("input_offset", torch.as_tensor(model.input_offset[:, None]))
        self.register_buffer("output_offset", torch.as_tensor(model.output_offset[:, None]))

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs (batch, outputs, time) for inputs (batch, inputs, time)."""
        u = x - self.input_offset.to(x)
        padded = nn.functional.pad(u, (self.size - 1, self.ends))
        y = nn.functional.conv1d(padded, self.kernel.to(x))[..., : self.size]
        outer = torch.cat([u[..., : self.ends], u[..., self.size - self.ends :]], -1).flatten(1)
        return y + torch.einsum("bk,kot->bot", outer, self.correction.to(x)) + self.output_offset.to(x)


def _impulses(model: ModalModel, grid: Grid, places: np.ndarray, size: int) -> np.ndarray:
    """Return the responses (outputs, inputs, places, size) to a unit impulse at each of the samples `places`."""
    inputs, outputs = model.channels
    step = grid.steps[-1]
    force = np.zeros((inputs * len(places), inputs, size))
    for k in range(inputs):
        force[np.arange(k * len(places), (k + 1) * len(places)), k, places] = 1.0
    line = Grid.line(size, step)
    answers = model.predict(force + model.input_offset[:, None], line) - model.output_offset[:, None]
    return answers.reshape(inputs, len(places), outputs, size).transpose(2, 0, 1, 3)
