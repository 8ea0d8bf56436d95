"""The response of poles and residues as a recurrence along time, computed in chunks with matrix products.

The layer has an input u with channels i, an output y with channels o, poles μ_m and residues β_iom. With the sampling step dt,
z_m = μ_m dt and the coefficients b_j of `lfno.spectral.hold`,

    x_im[n+1] = e^{z_m} x_im[n] + Σ_j b_j u_i[n+1−j],     y_o[n] = Re Σ_im β_iom x_im[n].

We store the state ξ[n] = x[n] − b_0 u[n] instead of x[n], because ξ[n] does not depend on sample n. Time is cut into chunks of
L samples. At sample l of a chunk that starts with the state ξ,

    y[l] = Σ_{k≤l} K[l−k] u[k] + Re Σ_m β_m e^{l z_m} ξ_m,     K[k] = Re Σ_m β_m h_m[k],

where h is the impulse response of a pole. With a cubic hold, samples before the chunk add another term. The first sum is a
product with a block Toeplitz matrix. From chunk to chunk, ξ follows another recurrence, which is cut into groups of chunks.

Shapes: u is real (batch, in, time), or complex (batch, in, *modes, time) for a field in spatial Fourier modes. y is
(batch, out, …) with the other axes of u. For a complex u, y is complex: the caller transforms y to points and then takes the
real part. The formulas above are then without Re. `poles` is complex (M,), shared by all channels, or (in, out, M), one set per
pair of channels. `residues` is complex (in, out, *modes, M).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from lfno.spectral.chunks import at_rest, fold, run, unfold
from lfno.spectral.tables import Tables, make_tables, past_response


class State(NamedTuple):
    """The memory of a recurrence between two samples.

    x: ξ at the next sample, complex128 (batch, *modes, M, in). If each pair of channels has its own poles, the shape is
        (batch, *modes, in, out, M, 1).
    past: the last q samples, (batch, in, *modes, q), newest last. q is 0 for the linear hold and 2 for the cubic hold. After
        the first sample of a signal, a cubic hold stores only this one sample: its initial state also needs the second one.
    """

    x: Tensor
    past: Tensor


def respond(u: Tensor, poles: Tensor, residues: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """Return the response y to the input u from rest, x[0] = 0. The module describes the shapes.

    >>> t = 0.01 * torch.arange(400, dtype=torch.float64)
    >>> decay = torch.tensor([-2.0 + 0.0j], dtype=torch.complex128)
    >>> y = respond(t[None, None], decay, torch.ones(1, 1, 1, dtype=torch.complex128), dt=0.01)
    >>> torch.allclose(y[0, 0], t / 2 - (1 - torch.exp(-2 * t)) / 4)    # exact for a ramp
    True
    """
    return respond_with(u, make_tables(poles, residues, dt, hold, u.shape[-1], u.is_complex()))


def respond_with(u: Tensor, tables: Tables) -> Tensor:
    """Return the result of `respond` from tables that `make_tables` has made."""
    chunks = fold(u)
    return unfold(run(chunks, tables, *at_rest(chunks, tables))[0], u.shape[-1], field=u.is_complex())


def advance(
    u: Tensor, poles: Tensor, residues: Tensor, dt: float, hold: str = "linear", state: State | None = None
) -> tuple[Tensor, State]:
    """Return the response to the next samples u after `state`, and the new state. Without a state, start from rest.

    A signal can be cut into blocks of any length, even of one sample: the responses to the blocks, one after the other, are the
    response to the signal. States are stored in double precision, so that rounding errors do not accumulate over many blocks.
    """
    return advance_with(u, lambda size: make_tables(poles, residues, dt, hold, size, u.is_complex()), state)


def advance_with(u: Tensor, tables_of: Callable[[int], Tables], state: State | None) -> tuple[Tensor, State]:
    """Return the result of `advance`. tables_of: a function that returns the tables for a number of samples."""
    size, field = u.shape[-1], u.is_complex()
    tables = tables_of(size)
    if state is not None and state.past.shape[-1] < tables.reach:  # cubic hold after one sample: start again, with two samples
        y, after = advance_with(torch.cat((state.past, u), -1), tables_of, None)
        return y[..., 1:], after
    chunks = fold(u)
    start, past = at_rest(chunks, tables)
    if state is not None:
        start = torch.stack((state.x.real, state.x.imag), -2).to(chunks.dtype)
        past = fold(state.past, tables.reach) if tables.reach else past
    y, last = run(chunks, tables, start, past)
    x = torch.complex(*last.double().unbind(-2))
    if state is not None and chunks.shape[-1] == 1:
        x = state.x
    joined = torch.cat((unfold(past, tables.reach, field), u), -1)
    after = State(_after(x, joined, size, tables), joined[..., size:])
    if tables.reach and size == 1 and state is None:
        after = State(after.x, u)
    return unfold(y, size, field), after


def _after(x: Tensor, joined: Tensor, size: int, tables: Tables) -> Tensor:
    """Return ξ after the last of `size` samples.

    x: ξ before the last chunk.
    joined: the q samples before the input, then the input.
    """
    steps = tables.decay.shape[-1] - 1
    done = (size - 1) // steps * steps
    rest = size - done
    matrix = past_response(tables.response, tables.decay)[..., rest, :]
    matrix = torch.cat((matrix, tables.response[..., 1 : rest + 1].flip(-1)), -1)
    samples = joined[..., done:].movedim(1, -1).to(matrix.dtype)
    if tables.paired:
        samples = samples.mT[..., :, None, :, None]
    return tables.decay[..., rest, None] * x + matrix @ samples
