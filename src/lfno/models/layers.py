"""One layer: its linear response, a channel map at every point, an activation and an optional gate."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from lfno.core.errors import LfnoError
from lfno.models.pointwise import Gate, Pointwise, gated
from lfno.models.recurrences import Recurrence
from lfno.models.responses import Response
from lfno.spectral.recurrence import State


class Block(nn.Module):
    """v + u with u = act(response(v) + W v + b). Without `skip`, the output is u alone. A gate multiplies u, see `Gate`.

    `kernel` and `weights` are the modules of the response, or None.
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
        response = self.response
        if transient and isinstance(response, Recurrence) and response.fits_kernel(v):
            return response.layer(v, steps[-1], self.pointwise, self.gate, act, skip)
        return self._finish(v, response(v, steps, transient), act, skip)

    def in_chunks(self, v: Tensor, batch: int, size: int, step: float, act: str, skip: bool) -> Tensor:
        """Apply the layer to signals of `size` samples in chunks of L samples. v and the output are (batch · L, C, K).

        In this layout the response consists of matrix products without copies. Channel maps act on each point and need no
        change.
        """
        assert isinstance(self.response, Recurrence)
        y = self.response.in_chunks(v.unflatten(0, (batch, -1)), size, step).flatten(0, 1)
        return self._finish(v, [y], act, skip)

    def advance(self, v: Tensor, step: float, act: str, skip: bool, state: State | None) -> tuple[Tensor, State]:
        """Return the output for the next samples of a signal after `state`, and the new state. Without a state, start from
        rest.
        """
        if not isinstance(self.response, Recurrence) or self.response.R:
            raise LfnoError("this layer sees a whole window at once; only exact layers as recurrences run in blocks")
        y, state = self.response.advance(v, step, state)
        return self._finish(v, [y], act, skip), state

    def _finish(self, v: Tensor, terms: Sequence[Tensor], act: str, skip: bool) -> Tensor:
        if self.gate is None:
            return self.pointwise(v, terms, act, skip)
        return gated(v, self.pointwise, self.gate, terms, act)
