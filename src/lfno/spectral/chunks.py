"""A recurrence along time in chunks of L samples, with the matrices of `lfno.spectral.tables`.

Signals in chunks have the shape (batch, *modes, P·L, channels, chunks): samples come before channels. In this layout every
step of the recurrence is a matrix product without copies. `*modes` are the axes of the spatial modes of a field. Signals over
time only have none of these axes.

P is the number of real planes: 1 for real values, 2 (re, im) for complex values. M is the number of poles. ξ is the state of
the recurrence (see `lfno.spectral.recurrence`). q is the number of samples before a chunk that act on it directly: 0 for the
linear hold, 2 for the cubic hold (see `lfno.spectral.hold`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from lfno.spectral.tables import CHUNK, Level, Tables


def fold(u: Tensor, chunk: int = CHUNK) -> Tensor:
    """Cut signals (batch, channels, *modes, time) into chunks (batch, *modes, P·L, channels, chunks).

    Zeros after the last sample fill the last chunk.
    """
    return fold_planes(torch.stack((u.real, u.imag), -2) if u.is_complex() else u[..., None, :], chunk)


def fold_planes(planes: Tensor, chunk: int = CHUNK) -> Tensor:
    """Return the result of `fold` for signals whose planes are an axis: (batch, channels, *modes, P, time)."""
    count = -(-planes.shape[-1] // chunk)
    missing = count * chunk - planes.shape[-1]
    planes = torch.nn.functional.pad(planes, (0, missing)) if missing else planes
    return planes.unflatten(-1, (count, chunk)).movedim((1, -2), (-2, -1)).flatten(-4, -3)


def unfold(chunks: Tensor, size: int, field: bool) -> Tensor:
    """Return the first `size` samples of chunked signals: the inverse of `fold`. field: whether the values are complex."""
    planes = unfold_planes(chunks, size, field)
    return torch.complex(*planes.unbind(-2)) if field else planes.squeeze(-2)


def unfold_planes(chunks: Tensor, size: int, field: bool) -> Tensor:
    """Return the first `size` samples of chunked signals, with planes as an axis: the inverse of `fold_planes`."""
    return chunks.unflatten(-3, (2 if field else 1, -1)).movedim((-2, -1), (1, -2)).flatten(-2)[..., :size]


def at_rest(chunks: Tensor, tables: Tables) -> tuple[Tensor, Tensor]:
    """Return (the initial ξ, the past) of signals that start from rest.

    ξ: planes (…, M, 2, in), or (…, in, out, M, 2, 1) if each pair of channels has its own poles.
    past: the q samples before the first sample, (batch, *modes, P·q, in, 1). They continue the line through the first two
        samples; see `lfno.spectral.hold`.
    """
    samples = chunks[..., :1].unflatten(-3, (tables.first.shape[-1], -1))
    first, second = samples[..., 0, :, :], samples[..., min(1, samples.shape[-3] - 1), :, :]
    earlier = [first + k * (first - second) for k in range(tables.reach, 0, -1)]
    past = torch.stack(earlier, -3).flatten(-4, -3) if earlier else chunks[..., :0, :, :1]
    return _excited(tables.first, first, tables.paired)[..., 0], past


def run(chunks: Tensor, tables: Tables, start: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
    """Return the response in chunks, (batch, *modes, P·L, out, chunks), and the planes of ξ before the last chunk.

    chunks: the input in chunks.
    tables: the matrices of the recurrence.
    start: planes of ξ before the first chunk, in the shape of `at_rest`.
    past: the q samples before the first chunk, (batch, *modes, P·q, in, 1).
    """
    y = tables.toeplitz @ chunks.flatten(-3, -2)
    added = _excited(tables.excite, chunks, tables.paired)
    if tables.reach:
        past = torch.cat((past, last_samples(chunks, tables)[..., :-1]), -1)
        y = y + tables.toeplitz_past @ past.flatten(-3, -2)
        added = added + _excited(tables.excite_past, past, tables.paired)
    state = carried(added, tables.levels, start)
    mixed = tables.mix @ state.flatten(-3, -2)
    mixed = mixed.unflatten(-2, (2, -1)).flatten(-2).flatten(-3, -2)
    ringing = (tables.ring @ mixed).unflatten(-1, (-1, chunks.shape[-1]))
    if tables.paired:
        ringing = ringing.squeeze(-2).sum(-4).transpose(-3, -2)
    return y.unflatten(-2, ringing.shape[-3:-1]) + ringing, state[..., -1]


def last_samples(chunks: Tensor, tables: Tables) -> Tensor:
    """Return the last q samples of every chunk, (batch, *modes, P·q, in, chunks)."""
    samples = chunks.unflatten(-3, (tables.first.shape[-1], -1))
    return samples[..., samples.shape[-3] - tables.reach :, :, :].flatten(-4, -3)


def _excited(matrix: Tensor, samples: Tensor, paired: bool) -> Tensor:
    """Return the contribution of samples (…, k, in, chunks) to ξ: planes (…, M, 2, in, chunks).

    matrix: maps samples to ξ, (2M, k).
    paired: whether each pair of channels has its own poles. The matrix is then (in, out, 2M, k) and the result is
        (…, in, out, M, 2, 1, chunks).
    """
    if paired:
        samples = samples.transpose(-3, -2)[..., :, None, :, None, :]
    product = matrix @ samples.flatten(-2)
    return product.unflatten(-1, samples.shape[-2:]).unflatten(-3, (-1, 2))


def carried(added: Tensor, levels: tuple[Level, ...], start: Tensor) -> Tensor:
    """Return ξ before every chunk c, planes (…, M, 2, in, chunks): ξ[c+1] = A ξ[c] + added[c] with ξ[0] = start.

    added: the contribution of every chunk to ξ after this chunk, planes (…, M, 2, in, chunks).
    levels: the first level has the matrices for groups of chunks, the next level those for groups of groups, and so on.
    start: ξ before the first chunk, planes (…, M, 2, in).

    A is e^{μ dt L} for each pole μ.
    """
    level, rest = levels[0], levels[1:]
    count, size = added.shape[-1], level.inside.shape[-2]
    groups = -(-count // size)
    added = torch.nn.functional.pad(added, (0, groups * size - count)) if groups * size > count else added
    added = added.unflatten(-1, (groups, size))
    starts = carried(times(added, level.total)[..., 0], rest, start) if rest else start[..., None]
    return (times(added, level.inside) + times(starts[..., None], level.onward)).flatten(-2)[..., :count]


def times(planes: Tensor, matrix: Tensor) -> Tensor:
    """Multiply complex values by the complex matrix of each pole. Return the planes of the result, (…, M, 2, in, groups, k).

    planes: planes of the values, (…, M, 2, in, groups, j). The product sums over the last axis.
    matrix: a complex matrix (j, k) for each pole, with real parts beside imaginary parts, (…, M, j, 2k).
    """
    product = (planes.flatten(-4, -2) @ matrix).unflatten(-2, planes.shape[-4:-1])
    (a, b), (c, d) = (part.chunk(2, -1) for part in product.unbind(-4))
    return torch.stack((a - d, b + c), -4)
