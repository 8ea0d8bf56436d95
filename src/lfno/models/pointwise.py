"""Maps that act on each grid point alone: activation, channel map, gate and projection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from lfno.backends import fused

WIDEST = 32  # largest width of the GPU kernel: three matrices and their gradients must fit into one processor


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """Return the activation function of that name."""
    return torch.sin if name == "sin" else getattr(torch.nn.functional, name)


class Pointwise(nn.Module):
    """act(W v + b + Σ terms) + v at every grid point: (batch, in, *grid) → (batch, out, *grid).

    Terms, activation and the last v are optional. Terms have the shape of the output.
    """

    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(channels_in)
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(channels_out).uniform_(-bound, bound))

    def forward(self, v: Tensor, terms: Sequence[Tensor] = (), act: str = "", skip: bool = False) -> Tensor:
        if fused(v):
            from lfno.backends.update import update

            return update(v, self.weight, self.bias, terms, act, skip)
        out = torch.baddbmm(self.bias[:, None], self.weight.expand(v.shape[0], -1, -1), v.flatten(2))
        out = out.unflatten(2, v.shape[2:])
        for term in terms:
            out = out + term
        out = activation(act)(out) if act else out
        return v + out if skip else out


class Gate(nn.Module):
    """(A u + a) sigmoid(B u + b) at every grid point: the output of a layer, multiplied by a gate.

    Sums of responses cannot express a frequency that depends on the amplitude, as that of a stiffening spring. Products can.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = Pointwise(width, 2 * width)

    def forward(self, u: Tensor) -> Tensor:
        return torch.nn.functional.glu(self.both(u), 1)


def gated(v: Tensor, pointwise: Pointwise, gate: Gate, terms: Sequence[Tensor], act: str) -> Tensor:
    """v + gate(u) with u = act(W v + b + Σ terms)."""
    if fused(v) and v.shape[1] <= WIDEST:
        from lfno.backends.gated import update_with_gate

        return update_with_gate(v, pointwise.weight, pointwise.bias, gate.both.weight, gate.both.bias, terms, act)
    return v + gate(pointwise(v, terms, act))


def project(v: Tensor, hidden: Pointwise, last: Pointwise, act: str) -> Tensor:
    """W₂ act(W₁ v + b₁) + b₂ at every grid point."""
    if fused(v):
        from lfno.backends.perceptron import perceptron

        return perceptron(v, hidden.weight, hidden.bias, last.weight, last.bias, act)
    return last(hidden(v, act=act))
