"""Maps that act on each grid point alone: activation, channel map, gate and projection.

act is an activation function. W, A, B are matrices that map channels to channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from lfno.backends import fused

#: largest number of channels for the GPU kernel of gates: three matrices and their gradients must fit into a multiprocessor
WIDEST = 32


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """Return the activation function with this name."""
    return torch.sin if name == "sin" else getattr(torch.nn.functional, name)


class Pointwise(nn.Module):
    """The map v → act(W v + b + Σ terms) + v at every grid point: (batch, in, *grid) → (batch, out, *grid).

    terms: fields in the shape of the output; without terms, the sum is zero.
    act: the name of the activation; empty for no activation.
    skip: whether v is added after the activation.
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
    """The map u → (A u + a) sigmoid(B u + b) at every grid point. The sigmoid is the gate.

    A gate makes products of responses. Sums of responses cannot describe a system whose frequency depends on the amplitude,
    such as a stiffening spring. Products can.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = Pointwise(width, 2 * width)

    def forward(self, u: Tensor) -> Tensor:
        return torch.nn.functional.glu(self.both(u), 1)


def gated(v: Tensor, pointwise: Pointwise, gate: Gate, terms: Sequence[Tensor], act: str) -> Tensor:
    """Return v + gate(u) with u = act(W v + b + Σ terms), (batch, C, *grid)."""
    if fused(v) and v.shape[1] <= WIDEST:
        from lfno.backends.gated import update_with_gate

        return update_with_gate(v, pointwise.weight, pointwise.bias, gate.both.weight, gate.both.bias, terms, act)
    return v + gate(pointwise(v, terms, act))


def project(v: Tensor, hidden: Pointwise, last: Pointwise, act: str) -> Tensor:
    """Return W₂ act(W₁ v + b₁) + b₂ at every grid point, (batch, out, *grid). `hidden` is W₁ and b₁, `last` is W₂ and b₂."""
    if fused(v):
        from lfno.backends.perceptron import perceptron

        return perceptron(v, hidden.weight, hidden.bias, last.weight, last.bias, act)
    return last(hidden(v, act=act))
