"""Convert a model on one grid to real matrix products with constant matrices.

The converted model has no complex numbers and no Fourier transforms, so every program that has matrix products
can run it. `lfno.models.terms` writes one layer as matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lfno.core.grid import Grid
from lfno.models.fourier_weights import crop, extend
from lfno.models.lfno import LFNO
from lfno.models.lno import LNO
from lfno.models.operator import Operator, _column
from lfno.models.responses import Response
from lfno.models.terms import forget


def clone(model: Operator) -> Operator:
    """Return a copy of the model with its own weights, on the CPU."""
    copy = type(model)(model.grid, model.config).to(model.lift.weight.dtype)
    copy.load_state_dict({name: value.detach().cpu() for name, value in model.state_dict().items()})
    return copy.eval()


class Frozen(nn.Module):
    """A model on one grid as real float32 matrix products: (batch, in, *grid) → (batch, out, *grid), in physical units."""

    input_offset: Tensor
    input_scale: Tensor
    output_offset: Tensor
    output_scale: Tensor
    coordinates: Tensor

    def __init__(self, model: Operator, grid: Grid) -> None:
        super().__init__()
        model = clone(model).double()
        self.activation, self.extension, self.sizes = model.activation, model._extension(grid), grid.shape
        shape = [n + extra for n, extra in zip(grid.shape, self.extension, strict=True)]
        steps = model.steps(grid)
        self.branches = nn.ModuleList(
            nn.ModuleList(_Layer(part, shape, steps) for part in branch) for branch in _branches(model)
        )
        forget()
        # branches apply the activation to the input of each layer except the first, other models to the output of a layer
        self.before = isinstance(model, LFNO) and model.config.layout == "branches"
        self.skip = bool(getattr(model.config, "skip", False))
        self.last = self.skip or isinstance(model, LNO)  # whether the last layer has an activation
        self.lift, self.hidden, self.project = model.lift.float(), model.hidden.float(), model.project.float()
        for name in ("input_offset", "input_scale", "output_offset", "output_scale"):
            self.register_buffer(name, getattr(model, name).float())
        if model.coordinate_axes:
            self.register_buffer("coordinates", model._coordinates(grid, torch.zeros(1)).float())

    def forward(self, x: Tensor) -> Tensor:
        v = (x - _column(self.input_offset, x)) / _column(self.input_scale, x)
        if hasattr(self, "coordinates"):
            v = torch.cat((v, self.coordinates.expand(x.shape[0], *self.coordinates.shape[1:])), 1)
        v = extend(self.lift(v), self.extension)
        out = [self._branch(v, branch) for branch in self.branches]
        v = crop(out[0] if len(out) == 1 else out[0] + out[1], self.sizes)
        u = self.project(self.activation(self.hidden(v)))
        return u * _column(self.output_scale, u) + _column(self.output_offset, u)

    def _branch(self, v: Tensor, layers: Any) -> Tensor:
        """Return the output of all layers of one branch."""
        for depth, layer in enumerate(layers):
            if self.before:
                v = layer(self.activation(v) if depth else v)
                continue
            update = layer(v)
            update = self.activation(update) if self.last or depth < len(layers) - 1 else update
            update = update if layer.gate is None else layer.gate(update)
            v = v + update if self.skip else update
        return v


@dataclass(frozen=True)
class _Part:
    """One layer of the model. `transient` says whether the response includes its transient part."""

    response: Response
    pointwise: nn.Module | None = None
    gate: nn.Module | None = None
    transient: bool = True


def _branches(model: Any) -> list[list[_Part]]:
    """Return the layers of each branch. The outputs of all branches are added. Most models have one branch."""
    if not (isinstance(model, LFNO) and model.config.layout == "branches"):
        return [[_Part(block.response, block.pointwise, block.gate) for block in model.blocks]]
    transient = [_Part(decay, pointwise) for decay, pointwise in zip(model.decays, model.pointwise, strict=True)]
    steady = [_Part(response, transient=False) for response in model.steadies]
    return [branch for branch in (transient, steady) if branch]


class _Layer(nn.Module):
    """The response of a layer plus its channel map W v + b, as matrix products."""

    def __init__(self, part: _Part, shape: Sequence[int], steps: Sequence[float]) -> None:
        super().__init__()
        self.pointwise = None if part.pointwise is None else part.pointwise.float()
        self.gate = None if part.gate is None else part.gate.float()
        self.terms = nn.ModuleList(part.response.terms(shape, steps, part.transient))

    def forward(self, v: Tensor) -> Tensor:
        parts = [term(v) for term in self.terms] + ([] if self.pointwise is None else [self.pointwise(v)])
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
