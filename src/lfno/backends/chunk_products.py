"""The recurrence and the channel map of a layer as a few large matrix products, for a CPU.

The response starts from rest. The input u is a signal that is linear between samples, and all channels share the poles.

A signal is cut into chunks of L samples. T chunks form a group: chunk t of group g is c = g·T + t. Arrays have the shape (L,
channels, T·batch·groups), with the samples of a chunk first; batch is the number of signals. In this layout every step is a
matrix product without a copy. With the state ξ, its factor A from chunk to chunk, the matrices of
`lfno.spectral.linear_hold.Coefficients` and the channel map W:

    y = Σ_τ H_τ u[·−τ] inside a chunk           product with a triangular matrix of blocks H_τ (`lags`); H_0 includes W
    ξ after a chunk = A ξ + excite · u          a product, then a recurrence over chunks (`lfno.backends.chunk_states`)
    y += ring · mix · ξ                         two products

The backward pass has the same products with transposed matrices. Its recurrence runs backwards in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lfno.backends.cache import wrapped
from lfno.backends.chunk_states import Powers, group_chunks, make_powers, states_back, states_before
from lfno.backends.products import product
from lfno.backends.scan import Level
from lfno.spectral.linear_hold import Coefficients, coefficients
from lfno.spectral.tables import CHUNK

#: number of samples of a chunk in one product. A small number wastes less work above the diagonal of the triangular matrix; a
#: large number uses the CPU better
ROWS = 8
assert CHUNK % ROWS == 0


def fold(u: Tensor) -> Tensor:
    """Cut signals (batch, channels, time) into chunks (L, channels, T·batch·groups). Zeros fill the last group."""
    groups, size = group_samples(u.shape[0], u.shape[-1])
    u = torch.nn.functional.pad(u, (0, groups * size * CHUNK - u.shape[-1]))
    return u.unflatten(-1, (groups, size, CHUNK)).permute(4, 1, 3, 0, 2).flatten(2)


def unfold(chunks: Tensor, batch: int, size: int) -> Tensor:
    """Return the first `size` samples of signals in chunks, (batch, channels, size): the inverse of `fold`."""
    groups, in_group = group_samples(batch, size)
    return chunks.unflatten(-1, (in_group, batch, groups)).permute(3, 1, 4, 2, 0).flatten(2)[..., :size]


def group_samples(batch: int, size: int) -> tuple[int, int]:
    """Return the number of groups in each of `batch` signals of `size` samples, and the number of chunks in a group."""
    return group_chunks(batch, -(-size // CHUNK))


class Layer(NamedTuple):
    """The matrices of one layer.

    coefficients: the coefficients of the recurrence.
    powers: the tensors of `chunk_states.Powers`, without nesting.
    rows: the matrix from all samples of a chunk to the response in its last ROWS samples.
    """

    coefficients: Coefficients
    powers: tuple[Tensor, ...]
    rows: Tensor


def prepare(poles: Tensor, residues: Tensor, weight: Tensor, dt: float, groups: tuple[int, int]) -> tuple[Layer, ...]:
    """Return the matrices of S layers.

    poles: (S, M).
    residues: (S, in, out, M).
    weight: W, (S, out, in).
    dt: sampling step.
    groups: the number of groups in a signal and of chunks in a group, from `group_samples`.
    """
    made = coefficients(poles, residues, weight, dt)
    inside, levels = make_powers(poles.detach(), CHUNK * dt, *groups, weight.dtype)
    powers = inside, *(part for level in levels for part in level)
    rows = _matrix(made.lags.detach(), _row_lags(CHUNK))
    each = zip(zip(*made, strict=True), zip(*powers, strict=True), rows, strict=True)
    return tuple(Layer(Coefficients(*own), tuple(own_powers), own_rows) for own, own_powers, own_rows in each)


def respond(chunks: Tensor, batch: int, layer: Layer, bias: Tensor) -> Tensor:
    """Return the response from rest plus W u + b in chunks (L, out, …).

    chunks: the input u in chunks (L, in, …).
    batch: number of signals.
    layer: the matrices from `prepare`.
    bias: b, (out,).
    """
    given = chunks.contiguous(), *layer.coefficients, bias, batch, layer.rows, *layer.powers
    # for one signal, `apply` takes a sixth of the time of a layer; only gradients and vmap need it
    special = torch.is_grad_enabled() or any(wrapped(value) for value in (chunks, bias, layer.rows))
    function: Any = _Respond.apply if special else _Respond.forward
    return function(*given)[0]


class _Respond(torch.autograd.Function):
    """Return the response, and two tensors for its gradient.

    The two tensors are the states ξ before every chunk, (M, 2·in, …), and the products of ξ with the residues, (M, 2·out, …).
    In `backward`, g is the gradient with respect to the response. Other names with a leading g are gradients, too: gu is the
    gradient with respect to u.
    """

    @staticmethod
    def forward(
        u: Tensor, lags: Tensor, excite: Tensor, first: Tensor, mix: Tensor, ring: Tensor, step: Tensor, bias: Tensor,
        batch: int, rows: Tensor, *powers: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        length, channels, columns = u.shape
        outputs, poles, size = lags.shape[1], step.shape[0], powers[0].shape[3]
        stacked, parts = u.view(-1, columns), []
        for _, end in _blocks(length):
            seen = stacked[: end * channels]
            parts.append(product(rows[:, -seen.shape[0] :], seen))
        y = torch.cat(parts)
        added = product(excite, u.view(length, -1)).reshape(poles, 2, channels, size, -1)
        start = first.view(poles, 2, 1, 1) * _beginnings(u, size, batch)
        states = states_before(added, start, _powers(powers)).reshape(poles, -1, columns).contiguous()
        mixed = torch.bmm(mix, states)
        y.view(length, -1).addmm_(ring, mixed.view(ring.shape[1], -1))
        return y.view(length, outputs, columns).add_(bias[:, None]), states, mixed

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        u, lags, excite, first, mix, ring, step, _, ctx.batch, _, *powers = inputs
        ctx.set_materialize_grads(False)  # otherwise torch makes zeros for the two tensors
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(u, lags, excite, first, mix, ring, step, *output[1:], *powers)

    @staticmethod
    def backward(ctx: Any, g: Tensor, *_: Any) -> Any:
        u, lags, excite, first, mix, ring, step, states, mixed, *powers = ctx.saved_tensors
        length, channels, columns = u.shape
        outputs, poles, size = lags.shape[1], step.shape[0], powers[0].shape[3]
        g = g.contiguous()
        stacked, slopes, by_point = u.view(-1, columns), g.view(-1, columns), g.view(length, -1)
        # inside chunks
        grows, parts = u.new_zeros(ROWS * outputs, length * channels), []
        later_lags = _matrix(lags.mT, _column_lags(length))
        for block, end in _blocks(length):
            seen, later = stacked[: end * channels], slopes[block * outputs :]
            grows[:, -seen.shape[0] :] += product(slopes[block * outputs : end * outputs], seen.mT)
            parts.append(product(later_lags[:, : later.shape[0]], later))
        gu = torch.cat(parts).view(u.shape)
        blocks = grows.view(ROWS, outputs, length, channels).transpose(1, 2).flatten(0, 1)
        glags = lags.new_zeros(length + 1, *lags.shape[1:]).index_add_(0, _row_lags(length).flatten(), blocks)
        # through ξ
        gring = product(by_point, mixed.view(ring.shape[1], -1).mT)
        gmixed = product(ring.mT, by_point).reshape(mixed.shape)
        gmix = torch.bmm(gmixed, states.mT)
        gstates = torch.bmm(mix.mT, gmixed).view(poles, 2, channels, size, -1)
        gadded, gstart = states_back(gstates, ctx.batch, _powers(powers))
        gadded = gadded.reshape(2 * poles, -1).contiguous()
        gfirst = (gstart * _beginnings(u, size, ctx.batch)).sum((2, 3)).flatten()
        gexcite = product(gadded, u.view(length, -1).mT)
        # ξ one chunk later contains A ξ, so gA = Σ conj(ξ) λ, where λ is the gradient with respect to the later ξ
        products = torch.bmm(states.view(poles, 2, -1), gadded.view(poles, 2, -1).mT)
        gstep = torch.stack((products[:, 0, 0] + products[:, 1, 1], products[:, 0, 1] - products[:, 1, 0]), -1)
        gu.view(length, -1).addmm_(excite.mT, gadded)
        _beginnings(gu, size, ctx.batch).add_((first.view(poles, 2, 1, 1) * gstart).sum((0, 1)))
        gbias = g.sum((0, 2))
        return gu, glags[:length], gexcite, gfirst, gmix, gring, gstep, gbias, None, None, *(None for _ in powers)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Compute the networks of a stack one after the other, because each one keeps the whole processor busy."""
        runs = []
        for run in range(info.batch_size):
            own = (value if d is None else value.select(d, run) for value, d in zip(args, in_dims, strict=True))
            runs.append(_Respond.apply(*(value.contiguous() if isinstance(value, Tensor) else value for value in own)))
        return tuple(torch.stack(parts) for parts in zip(*runs, strict=True)), (0, 0, 0)


def _blocks(length: int) -> list[tuple[int, int]]:
    """Return the first and the end sample of each block of ROWS samples. One product computes one block."""
    return [(block, block + ROWS) for block in range(0, length, ROWS)]


def _matrix(lags: Tensor, which: Tensor) -> Tensor:
    """Return a block matrix (…, rows·a, columns·b).

    lags: the blocks of all lags, (…, L, a, b).
    which: the lag of every block, (rows, columns). The lag L stands for a zero block.
    """
    padded = torch.cat((lags, torch.zeros_like(lags[..., :1, :, :])), -3)
    blocks = padded[..., which, :, :].transpose(-3, -2)
    return blocks.flatten(-2).flatten(-3, -2)


@cache
def _row_lags(length: int) -> Tensor:
    """Return the lags from all samples of a chunk to its last ROWS samples, (ROWS, L)."""
    lag = length - ROWS + torch.arange(ROWS)[:, None] - torch.arange(length)
    return torch.where(lag < 0, length, lag)


@cache
def _column_lags(length: int) -> Tensor:
    """Return the lags from the first ROWS samples of a chunk to all its samples, (ROWS, L)."""
    lag = torch.arange(length) - torch.arange(ROWS)[:, None]
    return torch.where(lag < 0, length, lag)


def _beginnings(chunks: Tensor, size: int, batch: int) -> Tensor:
    """Return a view (channels, batch) of the first sample of every signal in chunks (L, channels, T·batch·groups)."""
    return chunks[0].unflatten(-1, (size, batch, -1))[:, 0, :, 0]


def _powers(parts: Sequence[Tensor]) -> Powers:
    return Powers(parts[0], tuple(Level(*parts[k : k + 2]) for k in range(1, len(parts), 2)))
