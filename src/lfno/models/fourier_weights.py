"""R: one channel matrix for each low Fourier mode, with optional zero padding beyond the window."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lfno.backends.fourier import from_modes, to_modes
from lfno.backends.mixing import mix_channels


def as_complex(pairs: Tensor) -> Tensor:
    """(…, 2) → complex (…), for any memory layout."""
    return torch.complex(pairs[..., 0], pairs[..., 1])


class FourierWeights(nn.Module):
    """R: one complex channel matrix for each kept mode, stored as real pairs (…, 2); shape (in, out, *kept).

    padding: the fraction of each axis by which a field is extended with zeros for R.
    signed: whether axes before the last have Fourier modes of both signs, or real modes.
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
        start = torch.zeros if zero else torch.randn  # zeros use no random numbers
        self.weight = nn.Parameter(start(channels_in, channels_out, *kept, 2) / math.sqrt(2 * channels_in))

    @property
    def matrix(self) -> Tensor:
        return as_complex(self.weight)

    def extended(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the number of points along each axis, with padding."""
        return tuple(n + math.ceil(share * n) for n, share in zip(shape, self.padding, strict=True))

    def forward(self, v: Tensor) -> Tensor:
        """Apply R to the low modes. All other modes become zero."""
        return self.answer(v, self.matrix, v.shape[2:])

    def answer(self, v: Tensor, response: Tensor, shape: Sequence[int], entered: Sequence[int] = ()) -> Tensor:
        """Apply one channel matrix per low Fourier mode to the zero-padded field and crop the result to the original grid."""
        return filtered(v, response, self.modes, shape, entered, self.extended(shape))


def extend(v: Tensor, extra: Sequence[int]) -> Tensor:
    """Add zeros after the last point of each axis. Fourier modes wrap around into them."""
    pairs = [n for count in reversed(extra) for n in (0, count)]
    return torch.nn.functional.pad(v, pairs) if any(pairs) else v


def crop(v: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the first points of each axis, which removes an extension."""
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
    """Apply one channel matrix for each mode to a field. The field is periodic with the length `shape`, or with `period`."""
    return from_modes(mix_channels(to_modes(v, modes, entered, period), response), shape, entered, period)
