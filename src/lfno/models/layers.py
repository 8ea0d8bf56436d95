"""One layer: its linear response, a channel map at every point, an activation and an optional gate."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lfno.backends.cache import cached
from lfno.backends.chunk_products import Layer, prepare
from lfno.core.errors import LfnoError
from lfno.models.fourier_weights import as_complex
from lfno.models.pointwise import Gate, Pointwise, activation, gated
from lfno.models.recurrences import Recurrence
from lfno.models.responses import Response
from lfno.spectral.recurrence import State


class Block(nn.Module):
    """A layer: v → v + u with u = act(response(v) + W v + b), (batch, width, *grid) → (batch, width, *grid).

    Without `skip`, the output is u alone. With a gate, `Gate` maps u to a new u.

    width: the number of channels.
    response: the linear response of the layer. Its parameters are the modules `kernel` and `weights`; each may be None.
    gate: whether the layer has a gate.
    """

    def __init__(self, width: int, response: Response, gate: bool = False) -> None:
        super().__init__()
        self.kernel, self.weights = response.kernel, response.weights
        self.response = response
        self.pointwise = Pointwise(width, width)
        self.gate = Gate(width) if gate else None

    def forward(
        self, v: Tensor, steps: Sequence[float], act: str = "", skip: bool = False, transient: bool = True
    ) -> Tensor:
        """Return the output of the layer.

        steps: the distances between points of the grid, in the units of the layers.
        act: the name of the activation; empty for no activation.
        skip: whether v is added.
        transient: whether the response starts from rest. If False, the response is in its periodic steady state.
        """
        response = self.response
        if transient and isinstance(response, Recurrence) and response.fits_kernel(v):
            return response.layer(v, steps[-1], self.pointwise, self.gate, act, skip)
        return self._finish(v, response(v, steps, transient), act, skip)

    def in_chunks(self, v: Tensor, batch: int, size: int, step: float, layer: Layer, act: str, skip: bool) -> Tensor:
        """Return the output for signals in chunks. `lfno.backends.chunk_products` defines this layout.

        batch: the number of signals.
        size: the number of samples of a signal.
        step: the time step, in the units of the layers.
        layer: the matrices from `prepared`.
        """
        assert isinstance(self.response, Recurrence)
        total = self.response.in_chunks(v, batch, size, step, layer, self.pointwise.bias)
        u = activation(act)(total) if act else total
        u = u if self.gate is None else self.gate(u)
        return v + u if skip else u

    def advance(self, v: Tensor, step: float, act: str, skip: bool, state: State | None) -> tuple[Tensor, State]:
        """Return the output for the next samples of a signal after `state`, and the new state.

        Without a state, the signal starts from rest.
        """
        if not isinstance(self.response, Recurrence) or self.response.R:
            raise LfnoError("this layer needs the whole window at once; only a recurrence without R can run block by block")
        y, state = self.response.advance(v, step, state)
        return self._finish(v, [y], act, skip), state

    def _finish(self, v: Tensor, terms: Sequence[Tensor], act: str, skip: bool) -> Tensor:
        """Return the output of the layer. terms: summands of the response."""
        if self.gate is None:
            return self.pointwise(v, terms, act, skip)
        return gated(v, self.pointwise, self.gate, terms, act)


def prepared(owner: nn.Module, blocks: Sequence[Block], step: float, groups: tuple[int, int]) -> tuple[Layer, ...]:
    """Return the matrices of all layers for signals in chunks.

    groups: the numbers of groups and of chunks in a group, from `lfno.backends.chunk_products.group_samples`.

    The matrices of all layers are computed together, which is faster, and cached for the network `owner`.
    """
    kernels = [block.response.kernel for block in blocks if isinstance(block.response, Recurrence)]

    def make() -> tuple[Layer, ...]:
        poles = torch.stack([kernel.time_poles() for kernel in kernels])
        residues = torch.stack([as_complex(kernel.residues) for kernel in kernels])
        return prepare(poles, residues, torch.stack([block.pointwise.weight for block in blocks]), step, groups)

    stored = [part for kernel in kernels for part in kernel.stored]
    return cached(owner, [*stored, *(block.pointwise.weight for block in blocks)], (groups, step), make)
