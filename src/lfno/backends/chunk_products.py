"""The response of a signal in chunks from rest, for the linear hold and shared poles, with a gradient of few products.

It is `lfno.spectral.chunks.run` written out. Automatic differentiation of that function makes more copies than products.
In the names below ξ are the states before chunks and a = excite · u what chunks add to them, ξ[c+1] = A ξ[c] + a[c]:

    y = toeplitz u + ring mix ξ,        ξ[0] = first u[0].

The gradient with respect to A needs the gradient λ with respect to a alone: Σ_c conj(ξ[c]) λ[c].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lfno.spectral.chunks import at_rest, carried, fold, run, times, unfold
from lfno.spectral.recurrence import respond_with
from lfno.spectral.tables import Level, Tables


def respond_in_chunks(chunks: Tensor, tables: Tables) -> Tensor:
    """The response from rest of a real signal in chunks, (batch, L, in, K) → (batch, L, out, K), or of a field."""
    field = chunks.ndim > 4  # (batch, *modes, L, in, K)
    if field or tables.reach or tables.paired or torch.compiler.is_compiling():
        return run(chunks, tables, *at_rest(chunks, tables))[0]
    step = torch.view_as_real(tables.decay[..., -1]).to(chunks.dtype)
    levels = [part.detach() for level in tables.levels for part in level]
    compute = _Run.apply if torch.is_grad_enabled() else _Run.forward
    return compute(chunks, tables.toeplitz, tables.excite, tables.first, tables.mix, tables.ring, step, *levels)[0]


def respond(u: Tensor, tables: Tables) -> Tensor:
    """See `lfno.spectral.recurrence.respond_with`: (batch, in, *modes, time) → (batch, out, *modes, time), from rest."""
    if u.is_complex():
        return respond_with(u, tables)
    return unfold(respond_in_chunks(fold(u), tables), u.shape[-1], field=False)


class _Run(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(
        u: Tensor, toeplitz: Tensor, excite: Tensor, first: Tensor, mix: Tensor, ring: Tensor, step: Tensor, *levels: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch, length, channels, count = u.shape
        y = toeplitz @ u.flatten(1, 2)
        added = (excite @ u.flatten(2)).reshape(batch, -1, 2, channels, count)
        start = (first * u[:, 0, None, :, 0]).unflatten(1, (-1, 2))
        states = carried(added, _levels(levels), start)
        mixed = (mix @ states.flatten(2, 3)).reshape(batch, excite.shape[0], -1)
        y = torch.baddbmm(y.reshape(batch, length, -1), ring.expand(batch, -1, -1), mixed)
        return y.unflatten(2, (-1, count)), states, mixed

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*inputs[:6], *output[1:], *inputs[7:])

    @staticmethod
    def backward(ctx: Any, g: Tensor, *_: Any) -> Any:
        u, toeplitz, excite, first, mix, ring, states, mixed, *levels = ctx.saved_tensors
        batch, length, _, count = u.shape
        flat, by_point = g.flatten(1, 2), g.flatten(2)
        gtoeplitz = (flat @ u.flatten(1, 2).mT).sum(0)
        gring = (by_point @ mixed.mT).sum(0)
        gmixed = (ring.mT @ by_point).reshape(batch, mix.shape[0], -1, count)
        joined = states.flatten(2, 3)
        gmix = (gmixed @ joined.mT).sum(0)
        gadded, gstart = _back((mix.mT @ gmixed).reshape(states.shape), _levels(levels))
        re, im = states.unbind(2)
        by_re, by_im = gadded.unbind(2)
        gstep = torch.stack(((re * by_re + im * by_im).sum((0, 2, 3)), (re * by_im - im * by_re).sum((0, 2, 3))), -1)
        gadded, gstart = gadded.reshape(batch, excite.shape[0], -1), gstart.flatten(1, 2)
        gexcite = (gadded @ u.flatten(2).mT).sum(0)
        gu = (toeplitz.mT @ flat).reshape(batch, length, -1)
        gu = torch.baddbmm(gu, excite.mT.expand(batch, -1, -1), gadded).reshape(u.shape)
        gfirst = (gstart * u[:, 0, None, :, 0]).sum((0, 2))[:, None]
        start = torch.nn.functional.pad((first * gstart).sum(1)[:, None, :, None], (0, count - 1, 0, 0, 0, length - 1))
        return gu + start, gtoeplitz, gexcite, gfirst, gmix, gring, gstep, *(None for _ in levels)


def _levels(parts: Sequence[Tensor]) -> tuple[Level, ...]:
    return tuple(Level(*parts[k : k + 3]) for k in range(0, len(parts), 3))


def _back(g: Tensor, levels: tuple[Level, ...]) -> tuple[Tensor, Tensor]:
    """The adjoint of `carried`: gradients with respect to what chunks add, and to the state before the first of them."""
    level, rest = levels[0], levels[1:]
    count, size = g.shape[-1], level.inside.shape[-2]
    groups = -(-count // size)
    g = torch.nn.functional.pad(g, (0, groups * size - count)) if groups * size > count else g
    g = g.unflatten(-1, (groups, size))
    to_starts = times(g, _adjoint(level.onward))[..., 0]
    added = times(g, _adjoint(level.inside))
    if rest:
        totals, start = _back(to_starts, rest)
        added = added + times(totals[..., None], _adjoint(level.total))
    else:
        start = to_starts[..., 0]
    return added.flatten(-2)[..., :count], start


def _adjoint(matrix: Tensor) -> Tensor:
    """Planes (re | im) of a complex matrix (…, j, k) → those of its conjugate transpose (…, k, j)."""
    real, imaginary = matrix.chunk(2, -1)
    return torch.cat((real.mT, -imaginary.mT), -1)
