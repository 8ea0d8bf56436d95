"""The matrices with which a recurrence runs in chunks. They are real: a complex number is a pair of planes (re, im)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import HOLDS, impulse_response, powers

#: samples in a chunk. The Toeplitz product costs 2·in·out·L flops per sample, the chunk states cost about 1/L.
CHUNK = 16
#: chunks in a group, and groups in a larger group
GROUP = 16


class Level(NamedTuple):
    """The matrices that carry ξ through a group of T chunks. The planes (re | im) of complex matrices are side by side.

    inside: (…, M, T, 2T), from the contribution of every chunk to ξ before every chunk of the group.
    total: (…, M, T, 2), from the contribution of every chunk to ξ after the group.
    onward: (…, M, 1, 2T), from ξ before the group to ξ before every chunk of the group.
    """

    inside: Tensor
    total: Tensor
    onward: Tensor


class Tables(NamedTuple):
    """P is 1 for a real input and 2 for a complex one, whose planes are stacked. q samples before a chunk reach into it.

    `pairs` is nothing for shared poles and (in, out) for poles of pairs.

    toeplitz: (*modes, P·L·out, P·L·in): from the samples of a chunk to the response that they cause in it.
    toeplitz_past: (*modes, P·L·out, P·q·in): the same from the q samples before the chunk, beyond what ξ knows of them.
    excite, excite_past: (*pairs, 2M, P·L) and (*pairs, 2M, P·q): what these samples add to ξ after the chunk.
    first: (*pairs, 2M, P): from the first sample to ξ at rest, −b_0 u[0].
    mix: (*modes, M, 2·out, 2·in), or (*modes, in, out, M, 2, 2) for poles of pairs: the residues.
    ring: (*pairs, P·L, 2M): from the mixed ξ to the response that it causes in a chunk.
    levels: chunks in groups, groups in larger groups, up to one group.
    response, decay: complex128 (*pairs, M, L + q + 1) and (*pairs, M, L + 1): impulse response h[k] and e^{lz}.
    """

    toeplitz: Tensor
    toeplitz_past: Tensor
    excite: Tensor
    excite_past: Tensor
    first: Tensor
    mix: Tensor
    ring: Tensor
    levels: tuple[Level, ...]
    response: Tensor
    decay: Tensor

    @property
    def paired(self) -> bool:
        """Whether the poles belong to pairs of channels."""
        return self.excite.ndim == 4

    @property
    def reach(self) -> int:
        """q, the samples before a chunk that reach into it."""
        return self.response.shape[-1] - self.decay.shape[-1]


def make_tables(
    poles: Tensor, residues: Tensor, dt: float, hold: str, size: int, field: bool, chunk: int = CHUNK
) -> Tables:
    """The matrices for `size` samples of a real input, or of the complex input of a `field`.

    They are computed in double precision and rounded to that of the residues. Shapes are those of `lfno.spectral.recurrence`.
    """
    q, single = len(HOLDS[hold]) - 2, residues.real.dtype
    paired = poles.ndim == 3
    response = impulse_response(poles, dt, hold, chunk + q + 1)
    decay = powers(poles, dt, torch.arange(chunk + 1, device=poles.device))
    late = past_response(response, decay)

    # the effect of a lag k on the outputs, (in, out, *modes, …)
    between = (1,) * (residues.ndim - 3)
    weight = residues.to(torch.complex128)[..., None, :]
    kernel = (weight @ _amid(response[..., :chunk], between, paired))[..., 0, :]
    kernel_past = (weight @ _amid(late[..., :chunk, :].flatten(-2), between, paired))[..., 0, :].unflatten(-1, (chunk, q))
    block = (kernel @ _shifts(chunk, chunk, 0, kernel)).unflatten(-1, (chunk, chunk))

    beta = residues.movedim((0, 1), (-1, -2)) if not paired else residues.movedim((0, 1), (-3, -2))[..., None, None]
    return Tables(
        toeplitz=_blocks(block, field).to(single),
        toeplitz_past=_blocks(kernel_past, field).to(single),
        excite=_rows(response[..., 1 : chunk + 1].flip(-1), field).to(single),
        excite_past=_rows(late[..., chunk, :], field).to(single),
        first=_rows(-response[..., :1], field).to(single),
        mix=_planes(beta),
        ring=_columns(decay[..., :chunk].mT, field).to(single),
        levels=_levels(poles, dt, chunk, -(-size // chunk), single),
        response=response,
        decay=decay,
    )


def past_response(response: Tensor, decay: Tensor) -> Tensor:
    """h[l+k] − e^{lz} h[k]: the effect of u[−k] on sample l that ξ does not include; (…, M, L+1, q), the oldest sample first.
    """
    steps, q = decay.shape[-1], response.shape[-1] - decay.shape[-1]
    late = [response[..., k : k + steps] - decay * response[..., k : k + 1] for k in range(q, 0, -1)]
    return torch.stack(late, -1) if late else response.new_zeros(*decay.shape, 0)


def _levels(poles: Tensor, dt: float, span: int, count: int, dtype: torch.dtype) -> tuple[Level, ...]:
    """One level for each size of group; `span` is the number of samples from one chunk, or group, to the next."""
    levels = []
    while True:
        size = min(GROUP, count)
        steps = powers(poles, dt, span * torch.arange(size, device=poles.device))
        inside = (steps @ _shifts(size, size, 1, steps)).unflatten(-1, (size, size)).mT
        given = inside, steps.flip(-1)[..., None], steps[..., None, :]
        levels.append(Level(*(torch.cat((matrix.real, matrix.imag), -1).to(dtype) for matrix in given)))
        if count <= size:
            return tuple(levels)
        span, count = span * size, -(-count // size)


def _shifts(rows: int, columns: int, least: int, like: Tensor) -> Tensor:
    """(lags, rows·columns): one where row − column − least is the lag. A vector of values times this matrix is a Toeplitz
    matrix.
    """
    row, column = torch.arange(rows, device=like.device)[:, None], torch.arange(columns, device=like.device)
    lag = torch.arange(max(rows, columns), device=like.device)[:, None, None]
    return (row - column - least == lag).to(like.dtype).flatten(1)


def _amid(values: Tensor, between: tuple[int, ...], paired: bool) -> Tensor:
    """Insert axes for the modes after the pairs: (*pairs, M, …)."""
    return values.reshape(*values.shape[:2], *between, *values.shape[2:]) if paired else values


def _planes(matrix: Tensor) -> Tensor:
    """Complex (…, r, c) → real (…, 2r, 2c) [[re, −im], [im, re]], which multiplies stacked planes."""
    real, imaginary = matrix.real, matrix.imag
    return torch.cat((torch.cat((real, -imaginary), -1), torch.cat((imaginary, real), -1)), -2)


def _blocks(matrix: Tensor, field: bool) -> Tensor:
    """Complex (in, out, *modes, l, k) → real (*modes, P·l·out, P·k·in)."""
    ordered = matrix.movedim((0, 1), (-1, -3)).flatten(-4, -3).flatten(-2)
    return _planes(ordered) if field else ordered.real


def _rows(matrix: Tensor, field: bool) -> Tensor:
    """Complex (…, M, k) → real (…, 2M, P·k), the planes of a pole side by side."""
    both = torch.stack((matrix.real, matrix.imag), -2)
    if field:
        both = torch.cat((both, torch.stack((-matrix.imag, matrix.real), -2)), -1)
    return both.flatten(-3, -2)


def _columns(matrix: Tensor, field: bool) -> Tensor:
    """Complex (…, l, M) → real (…, P·l, 2M), the planes of a pole side by side."""
    both = torch.stack((matrix.real, -matrix.imag), -1)
    if field:
        both = torch.cat((both, torch.stack((matrix.imag, matrix.real), -1)), -3)
    return both.flatten(-2)
