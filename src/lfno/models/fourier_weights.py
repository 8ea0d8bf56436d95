"""The Fourier weights R: one learned channel matrix for each low Fourier mode, with optional zero padding of the field."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lfno.backends.fourier import from_modes, to_modes
from lfno.backends.mixing import mix_channels


def as_complex(pairs: Tensor) -> Tensor:
    """Return pairs of real and imaginary parts (…, 2) as complex numbers (…), for any memory layout."""
    return torch.complex(*pairs.unbind(-1))  # the gradient of `unbind` is one copy; two indices would need five operations


class FourierWeights(nn.Module):
    """R: one complex channel matrix for each kept mode, (in, out, *kept), stored as real pairs (…, 2).

    modes: each axis keeps the modes |l| < modes.
    zero: whether R is zero before training. If False, R is random.
    padding: the fraction of each axis by which R extends a field with zeros.
    signed: whether axes before the last keep Fourier modes of both signs. If False, they keep modes l ≥ 0 of a real basis.
    """

    complex_parameters = ("weight",)
    free_parameters = ("weight",)  # parameters with a separate weight decay

    def __init__(
        self,
        channels_in: int,
        channels_out: int,
        modes: Sequence[int],
        zero: bool = False,
        padding: Sequence[float] = (),
        signed: bool = True,
    ) -> None:
        super().__init__()
        kept = [*(2 * k - 1 if signed else k for k in modes[:-1]), modes[-1]]
        self.modes = tuple(modes)
        self.padding = tuple(padding) or (0.0,) * len(modes)
        # zeros draw no random numbers, so networks with R = 0 and without R have the same other parameters for one seed
        start = torch.zeros if zero else torch.randn
        self.weight = nn.Parameter(start(channels_in, channels_out, *kept, 2) / math.sqrt(2 * channels_in))

    @property
    def matrix(self) -> Tensor:
        """R, complex (in, out, *kept)."""
        return as_complex(self.weight)

    def extended(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the number of points along each axis of a grid with this shape, including padding."""
        return tuple(n + math.ceil(share * n) for n, share in zip(shape, self.padding, strict=True))

    def forward(self, v: Tensor) -> Tensor:
        """Apply R to the low modes of a field (batch, in, *grid). All other modes of the result are zero."""
        return self.answer(v, self.matrix, v.shape[2:])

    def answer(self, v: Tensor, response: Tensor, shape: Sequence[int], entered: Sequence[int] = ()) -> Tensor:
        """Pad a field with zeros, apply a channel matrix to each low Fourier mode, and crop the result to the original grid.

        response: the channel matrices, (in, out, *kept).
        shape: the shape of the grid.
        entered: axes of v that are already in Fourier modes; see `lfno.spectral.fourier.enter`.
        """
        return filtered(v, response, self.modes, shape, entered, self.extended(shape))


def extend(v: Tensor, extra: Sequence[int]) -> Tensor:
    """Add `extra` zeros after the last point of each axis of a field (batch, channels, *grid)."""
    pairs = [n for count in reversed(extra) for n in (0, count)]
    return torch.nn.functional.pad(v, pairs) if any(pairs) else v


def crop(v: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the first points of each axis of a field, up to `shape`. This removes what `extend` added."""
    for d, size in enumerate(shape):
        v = v.narrow(2 + d, 0, size)
    return v


def filtered(
    v: Tensor,
    response: Tensor,
    modes: Sequence[int | None],
    shape: Sequence[int],
    entered: Sequence[int] = (),
    period: Sequence[int] = (),
) -> Tensor:
    """Apply one channel matrix for each kept Fourier mode to a field, and return the field (batch, out, *grid).

    response: the channel matrices, (in, out, *kept).
    modes: the number of kept modes of each axis; None keeps all modes.
    shape: the shape of the grid.
    entered: axes of v that are already in Fourier modes; see `lfno.spectral.fourier.enter`.
    period: the period of each axis in points, by default `shape`. A longer period adds zeros.
    """
    return from_modes(mix_channels(to_modes(v, modes, entered, period), response), shape, entered, period)
