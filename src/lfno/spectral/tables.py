"""The matrices for a recurrence in chunks of L samples. `lfno.spectral.recurrence` has the formulas.

The matrices are real: a complex number is a pair of planes (re, im). Only `Tables.response` and `Tables.decay` are complex.

Symbols: M poles μ; z = μ dt; the impulse response h of a pole; the state ξ; the coefficient b_0 of the newest sample in the
hold; q, the number of samples before a chunk that act on it directly (0 for the linear hold, 2 for the cubic hold). P is 1 for
a real input. P is 2 for a complex input, whose planes are stacked.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.hold import HOLDS, impulse_response, powers

#: number L of samples in a chunk. The Toeplitz product costs 2·in·out·L operations per sample. The cost of the states per
#: sample is proportional to 1/L
CHUNK = 16
#: largest number of chunks in a group, and of groups in a larger group
GROUP = 16


class Level(NamedTuple):
    """The matrices for ξ in a group of T chunks, or of T smaller groups. The planes (re, im) of a matrix are side by side.

    inside: maps what each chunk adds to ξ before each chunk of the group, (…, M, T, 2T).
    total: maps what each chunk adds to ξ after the group, (…, M, T, 2).
    onward: maps ξ before the group to ξ before each chunk of the group, (…, M, 1, 2T).
    """

    inside: Tensor
    total: Tensor
    onward: Tensor


class Tables(NamedTuple):
    """All matrices of a recurrence.

    If each pair of channels has its own poles, `pairs` is (in, out). If all channels share the poles, these axes are missing.

    toeplitz: maps samples of a chunk to their response in this chunk, (*modes, P·L·out, P·L·in).
    toeplitz_past: maps the q samples before a chunk to the part of their response that is not in ξ, (*modes, P·L·out, P·q·in).
    excite: maps samples of a chunk to their part of ξ after the chunk, (*pairs, 2M, P·L).
    excite_past: maps the q samples before a chunk to their part of ξ after the chunk, (*pairs, 2M, P·q).
    first: maps the first sample of a signal to the initial ξ, −b_0 u[0], (*pairs, 2M, P).
    mix: the residues, (*modes, M, 2·out, 2·in), or (*modes, in, out, M, 2, 2) if each pair has its own poles.
    ring: maps the product of residues and ξ to the response in a chunk, (*pairs, P·L, 2M).
    levels: one level for groups of chunks, one for groups of groups, and so on, up to a single group.
    response: h[k], complex128 (*pairs, M, L + q + 1).
    decay: e^{lz} for l = 0 … L, complex128 (*pairs, M, L + 1).
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
        """Whether each pair of channels has its own poles."""
        return self.excite.ndim == 4

    @property
    def reach(self) -> int:
        """q, the number of samples before a chunk that act on it directly."""
        return self.response.shape[-1] - self.decay.shape[-1]


def make_tables(
    poles: Tensor, residues: Tensor, dt: float, hold: str, size: int, field: bool, chunk: int = CHUNK
) -> Tables:
    """Return the matrices for signals of `size` samples.

    poles: complex (M,), or (in, out, M).
    residues: complex (in, out, *modes, M).
    dt: the sampling step.
    hold: "linear" or "cubic".
    field: whether the input is complex, as a field in spatial Fourier modes.
    chunk: L.

    Matrices are computed in double precision and rounded to the precision of the residues.
    """
    q, single = len(HOLDS[hold]) - 2, residues.real.dtype
    paired = poles.ndim == 3
    response = impulse_response(poles, dt, hold, chunk + q + 1)
    decay = powers(poles, dt, torch.arange(chunk + 1, device=poles.device))
    late = past_response(response, decay)

    # the response of every output k samples after an impulse at every input, (in, out, *modes, …)
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
    """Return h[l+k] − e^{lz} h[k], (…, M, L+1, q): the part of the response to u[−k] at sample l that is not in ξ.

    The last axis has k = q … 1, the oldest sample first.
    """
    steps, q = decay.shape[-1], response.shape[-1] - decay.shape[-1]
    late = [response[..., k : k + steps] - decay * response[..., k : k + 1] for k in range(q, 0, -1)]
    return torch.stack(late, -1) if late else response.new_zeros(*decay.shape, 0)


def _levels(poles: Tensor, dt: float, span: int, count: int, dtype: torch.dtype) -> tuple[Level, ...]:
    """Return the levels, from groups of chunks to a single group.

    span: number of samples from one chunk to the next.
    count: number of chunks.
    """
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
    """Return a matrix (lags, rows · columns) with ones where row − column − least equals the lag, and zeros elsewhere.

    A vector with one value for each lag, multiplied by this matrix, is a Toeplitz matrix.
    """
    row, column = torch.arange(rows, device=like.device)[:, None], torch.arange(columns, device=like.device)
    lag = torch.arange(max(rows, columns), device=like.device)[:, None, None]
    return (row - column - least == lag).to(like.dtype).flatten(1)


def _amid(values: Tensor, between: tuple[int, ...], paired: bool) -> Tensor:
    """Insert axes of length 1 for the modes after the axes of channel pairs. Without axes of pairs, return `values`."""
    return values.reshape(*values.shape[:2], *between, *values.shape[2:]) if paired else values


def _planes(matrix: Tensor) -> Tensor:
    """Return a complex matrix (…, r, c) as the real matrix [[re, −im], [im, re]], (…, 2r, 2c), for stacked planes."""
    real, imaginary = matrix.real, matrix.imag
    return torch.cat((torch.cat((real, -imaginary), -1), torch.cat((imaginary, real), -1)), -2)


def _blocks(matrix: Tensor, field: bool) -> Tensor:
    """Return complex values (in, out, *modes, l, k) as real matrices (*modes, P·l·out, P·k·in)."""
    ordered = matrix.movedim((0, 1), (-1, -3)).flatten(-4, -3).flatten(-2)
    return _planes(ordered) if field else ordered.real


def _rows(matrix: Tensor, field: bool) -> Tensor:
    """Return complex values (…, M, k) as real matrices (…, 2M, P·k). Rows are ordered by pole, then by plane."""
    both = torch.stack((matrix.real, matrix.imag), -2)
    if field:
        both = torch.cat((both, torch.stack((-matrix.imag, matrix.real), -2)), -1)
    return both.flatten(-3, -2)


def _columns(matrix: Tensor, field: bool) -> Tensor:
    """Return complex values (…, l, M) as real matrices (…, P·l, 2M). Columns are ordered by pole, then by plane."""
    both = torch.stack((matrix.real, -matrix.imag), -1)
    if field:
        both = torch.cat((both, torch.stack((matrix.imag, matrix.real), -1)), -3)
    return both.flatten(-2)
