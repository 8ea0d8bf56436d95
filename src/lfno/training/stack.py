"""Compute a stack: many models of equal shape at once.

The parameters of the models are the rows of one matrix, and the forward pass is a `vmap`. R are the Fourier weights of a model
(`lfno.models.fourier_weights`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from lfno.models.operator import Operator
from lfno.training.labels import Respond

#: a function score(respond, samples, unit) → losses (batch,) of one run, such as `lfno.training.labels.sample_losses`
Score = Callable[[Respond, dict[str, Tensor], Tensor], Tensor]


class Stack:
    """Models of equal shape, one for each run.

    The parameters of run r are row r of `theta`, a real matrix (runs, parameters). The rows are independent, so each run gives
    the result that it would give alone.
    """

    def __init__(self, models: Sequence[Operator], device: torch.device) -> None:
        self.template = _Respond(deepcopy(models[0])).to(device)
        self.names = [name for name, _ in models[0].named_parameters()]
        parameters = [dict(model.named_parameters()) for model in models]
        self.shapes = [parameters[0][name].shape for name in self.names]
        rows = [torch.cat([own[name].detach().reshape(-1) for name in self.names]) for own in parameters]
        self.theta = torch.stack(rows).to(device)
        buffers = [dict(model.named_buffers()) for model in models]
        self.buffers = {name: torch.stack([own[name] for own in buffers]).to(device) for name in buffers[0]}

    def decay(self, general: float, steady: Sequence[float]) -> Tensor:
        """Return the weight decay of every parameter, (runs, parameters).

        general: the weight decay of all parameters except R and the poles.
        steady: the weight decay of R, one value per run.

        A module lists the names of its poles, which have no weight decay, in `undecayed`. It lists R in `free_parameters`.
        """
        rates = {}
        for prefix, module in self.template.model.named_modules():
            for name, _ in module.named_parameters(recurse=False):
                own = [0.0] * len(self) if name in getattr(module, "undecayed", ()) else [general] * len(self)
                own = list(steady) if name in getattr(module, "free_parameters", ()) else own
                rates[f"{prefix}.{name}".removeprefix(".")] = own
        columns = [torch.tensor(rates[name])[:, None].expand(-1, shape.numel()) for name, shape in self.layout()]
        return torch.cat(columns, 1).to(self.theta)

    def layout(self) -> list[tuple[str, torch.Size]]:
        """Return (name, shape) of each parameter of a model, in the order of the columns of `theta`."""
        return list(zip(self.names, self.shapes, strict=True))

    def __len__(self) -> int:
        return self.theta.shape[0]

    @property
    def unit(self) -> Tensor:
        """The scale of each output channel, (runs, outputs, 1, …).

        Losses divide outputs by this scale, so that channels with different units have equal weight. Without this division, a
        constant such as TINY in the losses would be too large for outputs of 1e-9 m.
        """
        scale = self.buffers["output_scale"]
        return scale.reshape(*scale.shape, *(1 for _ in self.template.model.grid.axes))

    def respond(self, theta: Tensor, x: Tensor) -> Tensor:
        """Return the predictions of all runs, (runs, batch, outputs, *grid).

        theta: the parameters, (runs, parameters).
        x: the inputs, (runs, batch, inputs, *grid).
        """
        return self.losses(theta, {"x": x}, lambda respond, samples, unit: respond(samples["x"], True))

    def losses(self, theta: Tensor, samples: dict[str, Tensor], score: Score) -> Tensor:
        """Return the losses of all runs, (runs, batch).

        theta: the parameters, (runs, parameters).
        samples: name -> tensor (runs, batch, …).
        score: the loss of one run.
        """

        def one(state: dict[str, Tensor], samples: dict[str, Tensor], unit: Tensor) -> Tensor:
            def respond(x: Tensor, transient: bool) -> Tensor:
                return functional_call(self.template, state, (x, transient))

            return score(respond, samples, unit)

        parts = theta.split([shape.numel() for shape in self.shapes], dim=1)
        state = {
            f"model.{name}": part.unflatten(1, shape) if shape else part[:, 0]
            for (name, shape), part in zip(self.layout(), parts, strict=True)
        }
        state |= {f"model.{name}": value for name, value in self.buffers.items()}
        if len(self) == 1:  # vmap is not needed, and would make a small step on a CPU a third slower
            alone = [{name: value.squeeze(0) for name, value in own.items()} for own in (state, samples)]
            return one(alone[0], alone[1], self.unit[0])[None]
        return vmap(one, randomness="error")(state, samples, self.unit)

    def write(self, theta: Tensor, models: Sequence[Operator]) -> None:
        """Copy the rows of a parameter matrix (runs, parameters) into models, one row into each model."""
        for row, model in zip(theta.detach().cpu(), models, strict=True):
            parts = row.split([shape.numel() for shape in self.shapes])
            own = dict(model.named_parameters())
            with torch.no_grad():
                for (name, shape), part in zip(self.layout(), parts, strict=True):
                    own[name].copy_(part.reshape(shape))


class _Respond(nn.Module):
    """A module whose `forward` calls `respond` of a model. `functional_call` needs such a module."""

    def __init__(self, model: Operator) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, transient: bool) -> Tensor:
        return self.model.respond(x, transient=transient)
