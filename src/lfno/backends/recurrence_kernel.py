"""A whole layer with poles along time as a few GPU kernels, for one network or a stack of networks.

`lfno.backends.chunked` explains how the recurrence is computed. For the backward pass, a layer stores two fields: its input and
the argument of its activation. The backward pass computes the states at the starts of chunks again.

Values and gradients with respect to fields have the accuracy of single precision. Gradients with respect to matrices, poles and
residues are sums over all points, and their factors are rounded to 11 significant bits (`lfno.backends.chunked.products`). For
2048 points on an H200, their largest error was 4e-4 of the largest entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lfno.backends.chunked import launch
from lfno.backends.chunked.coefficients import Tables, gradient, prepare
from lfno.backends.chunked.launch import Sizes
from lfno.backends.chunked.products import ROWS
from lfno.backends.stacked import apart, join_runs

#: largest number of channels; a tile has ROWS rows, one for each channel
WIDEST = ROWS
#: largest number of poles; a program has not enough registers for more poles
MOST_POLES = 32


def gated_recurrence(
    v: Tensor, poles: Tensor, residues: Tensor, dt: float, weight: Tensor, bias: Tensor, gate_weight: Tensor | None,
    gate_bias: Tensor | None, terms: Sequence[Tensor], act: str, skip: bool = True,
) -> Tensor:  # fmt: skip
    """Return the output of a layer, for every network of a stack of S networks:

        v + (A u + a) sigmoid(B u + b)   with   u = act(y + W v + bias + Σ terms).

    y is the response of the poles to v from rest, where v is linear between samples (`lfno.spectral.recurrence.respond`).
    Without a gate, the output is v + u. Without a skip connection, the summand v is missing. The function also works inside
    `torch.func.vmap`.

    v: (S, batch, C, points), single precision; C is at most WIDEST.
    poles: complex (S, M); M is at most MOST_POLES.
    residues: complex (S, in, out, M).
    dt: sampling step.
    weight: W, (S, C, C).
    bias: (S, C).
    gate_weight: the rows of A, then the rows of B, (S, 2 C, C); None without a gate.
    gate_bias: the entries of a, then the entries of b, (S, 2 C); None without a gate.
    terms: at most one field in the shape of v.
    act: name of the activation; empty for no activation.
    skip: whether the layer has a skip connection.
    """
    term = terms[0] if terms else None
    return _Layer.apply(v, poles, residues, weight, bias, gate_weight, gate_bias, term, dt, act, skip)[0]


class _Layer(torch.autograd.Function):
    """Return the output of the layer, and the tensors for its gradient: argument of the activation and tables.

    In `backward`, g is the gradient with respect to the output, and gx is the gradient with respect to x.
    """

    @staticmethod
    def forward(
        v: Tensor, poles: Tensor, residues: Tensor, weight: Tensor, bias: Tensor, gate: Tensor | None,
        gate_bias: Tensor | None, term: Tensor | None, dt: float, act: str, skip: bool,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        v, poles, residues, weight, bias, gate, gate_bias, term = _in_one_piece(
            v, poles, residues, weight, bias, gate, gate_bias, term
        )
        size = Sizes.of(v, poles)
        tables = prepare(poles, residues, weight, dt, size.length)
        before = launch.argument(size, v, launch.states(size, v, tables), tables, bias, term)
        return launch.output(size, before, v, gate, gate_bias, act, skip), before, *tables

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: tuple[Tensor, ...]) -> None:
        v, poles, _, _, _, gate, gate_bias, term, ctx.dt, ctx.act, ctx.skip = inputs
        ctx.has_term = term is not None
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)  # else torch fills a tensor of zeros for every stored tensor
        ctx.save_for_backward(v, poles, gate, gate_bias, *output[1:])

    @staticmethod
    def backward(ctx: Any, g: Tensor, *_: Any) -> Any:
        v, poles, gate, gate_bias, before, *kept, g = _in_one_piece(*ctx.saved_tensors, g)
        size, tables = Sizes.of(v, poles), Tables(*kept)
        slopes, gbias, *ggate = launch.pointwise_slopes(size, before, gate, gate_bias, g, ctx.act)
        back, gfirst, gstart = launch.states_back(size, slopes, tables, v)
        gv, ends = launch.input_slopes(size, slopes, back, tables, g, gfirst, ctx.skip)
        mixed, by_residues = launch.residue_sums(size, launch.states(size, v, tables), back, tables)
        at_points = launch.point_sums(size, slopes, mixed, v, ends)
        small = gradient(launch.lag_sums(size, v, slopes), by_residues, at_points, gstart, tables, ctx.dt)
        return gv, *small, gbias, *ggate, slopes if ctx.has_term else None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        results = apart(info, *_Layer.apply(*join_runs(info, in_dims, args)))
        return results, (0,) * len(results)


def _in_one_piece(*values: Any) -> list[Any]:
    return [None if value is None else value.resolve_conj().contiguous() for value in values]
