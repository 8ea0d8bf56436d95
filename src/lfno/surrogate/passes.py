"""Predict signals of any length in one pass, block by block. A state connects each block with the next block.

Apart from the arrays of inputs and outputs, the memory of a pass does not grow with the length of the signals. Only recurrent
models can predict in blocks: linear models, modes with feedback, and networks that run sample by sample.

The steady part of a long signal is the response to the whole signal repeated for ever. The transient part is the rest. For a
network, the signal is repeated until the state at its end does not change any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.feedback import FeedbackModel
from lfno.identification.feedback.dead_time import longest
from lfno.identification.feedback.hold import BEFORE
from lfno.identification.feedback.hold import pieces as held
from lfno.identification.modal import ModalModel
from lfno.identification.response import interpolate, pole_values
from lfno.models.lfno import LFNO
from lfno.surrogate.deploy.lower import FINER, why_not

#: number of points (samples × time) of a block
BLOCK = 2**16
#: number of extra samples on both sides of a block for the spline of the input; the influence of a sample n steps away falls
#: as 0.27^n
MARGIN = 48
#: largest number of repetitions of a signal in the search for a steady state
MOST_PASSES = 50
#: precision of a network -> a response is steady if the next repetition changes the state by at most this relative amount
UNCHANGED = {torch.float32: 1e-6, torch.float64: 1e-12}

Progress = Callable[[int, int], object]  # called with (done, total)


def runs_in_blocks(member: Any, grid: Grid) -> bool:
    """Return whether a member can predict signals on `grid` block by block."""
    if grid.ndim != 1:
        return False
    if isinstance(member, FeedbackModel):
        return member.causal
    return isinstance(member, ModalModel) or (isinstance(member, LFNO) and not why_not(member))


def predict_in_blocks(
    member: Any, inputs: np.ndarray, grid: Grid, progress: Progress = lambda *_: None, block: int = BLOCK
) -> np.ndarray:
    """Return the outputs (samples, out, time) for inputs (samples, in, time) from rest."""
    return _collected(_blocks(member, inputs, grid, block)[0], member, inputs, progress)


def decompose_in_blocks(
    member: Any, inputs: np.ndarray, grid: Grid, progress: Progress = lambda *_: None, block: int = BLOCK
) -> tuple[np.ndarray, np.ndarray]:
    """Return the transient and the steady part of the response from rest, each (samples, outputs, time).

    The steady part is the response to the inputs repeated for ever. A network is computed block by block. Other members have a
    closed form or their own search for the steady state; both need the whole signal in memory. Raises LfnoError if the response
    does not become steady.
    """
    if not isinstance(member, LFNO):
        return member.decompose(inputs, grid)
    parts, state = _blocks(member, inputs, grid, block)
    whole = _collected(parts, member, inputs, progress)
    for _ in range(MOST_PASSES):
        before = _flat(state[0])
        parts, state = _blocks(member, inputs, grid, block, state)
        steady = _collected(parts, member, inputs, progress)
        after = _flat(state[0])
        if not (after - before).abs().max() > UNCHANGED[member.lift.weight.dtype] * after.abs().max():
            return whole - steady, steady
    raise LfnoError(f"the response to the repeated input still changes after {MOST_PASSES} periods: there is no steady state")


def _collected(parts: Iterator[np.ndarray], member: Any, inputs: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the blocks of outputs as one array (samples, outputs, time)."""
    result, done, size = None, 0, inputs.shape[-1]
    for values in parts:
        if result is None:
            result = np.empty((len(inputs), member.channels[1], size), values.dtype)
        result[..., done : done + values.shape[-1]] = values
        done += values.shape[-1]
        progress(done, size)
    assert result is not None
    return result


def _blocks(
    member: Any, inputs: np.ndarray, grid: Grid, block: int, state: list[Any] | None = None
) -> tuple[Iterator[np.ndarray], list[Any]]:
    """Return an iterator over the blocks of outputs (samples, outputs, time), and a list for the state.

    After the last block of a network, the list holds the final state. Other members leave the list unchanged.
    """
    length = max(block // len(inputs), 2)
    size = inputs.shape[-1]
    edges = [*range(0, max(size - 1, 1), length), size]
    kept = list(state or [None])
    march = _linear if isinstance(member, ModalModel) else _feedback if isinstance(member, FeedbackModel) else _network
    return march(member, inputs, grid.steps[-1], edges, kept), kept


def _network(model: Any, inputs: np.ndarray, dt: float, edges: list[int], kept: list[Any]) -> Iterator[np.ndarray]:
    """Yield the outputs of a network, block by block. `kept[0]` is the state of the network, which is updated."""
    like = model.lift.weight
    for first, last in pairwise(edges):
        x = torch.as_tensor(inputs[..., first:last]).to(like)
        y, kept[0] = model.advance(x, kept[0], dt)
        yield y.cpu().numpy()


def _linear(model: ModalModel, inputs: np.ndarray, dt: float, edges: list[int], kept: list[Any]) -> Iterator[np.ndarray]:
    """Yield the response of a linear model, block by block, from rest."""
    modes = model.modes if dt > FINER * model.grid.steps[-1] else replace(model.modes, hold="cubic")
    margin, size = MARGIN if modes.hold == "cubic" else 0, inputs.shape[-1]
    values = np.zeros((len(modes.poles), *inputs.shape[:2]), dtype=np.complex128)
    for first, last in pairwise(edges):
        stop = min(last + 1, size)  # includes the step into the next block
        low, high = max(first - margin, 0), min(stop + margin, size)
        centred = np.asarray(inputs[..., low:high], dtype=np.float64) - model.input_offset[:, None]
        pieces = interpolate(centred, dt, modes.hold)[..., first - low : stop - 1 - low]
        total = np.einsum("oi,sit->sot", modes.direct, centred[..., first - low : last - low])
        for n, (pole, residue) in enumerate(zip(modes.poles, np.moveaxis(modes.residues, -1, 0), strict=True)):
            free = values[n, ..., None] * np.exp(pole * dt * np.arange(stop - first))
            response = pole_values(pole, pieces, dt) + free if stop - first > 1 else free
            values[n] = response[..., -1]
            total += np.einsum("oi,sit->sot", residue, response[..., : last - first]).real
        yield total + model.output_offset[:, None]


def _feedback(model: FeedbackModel, inputs: np.ndarray, dt: float, edges: list[int], kept: list[Any]) -> Iterator[np.ndarray]:
    """Yield the response of a model with feedback, block by block, from rest."""
    size, start = inputs.shape[-1], None
    for first, last in pairwise(edges):
        stop, low = min(last + 1, size), max(first - BEFORE, 0)  # the hold reads earlier samples
        early = max(low - longest(model.delays / dt), 0)
        effective = model.effective(inputs[..., early:stop], dt)[..., low - early :]
        steps = np.moveaxis(held(effective, dt, model.hold)[:, :, first - low :], 2, 0)
        states = model.march(steps, dt, len(inputs), start)
        start = states[-1]
        yield model.outputs(states[: last - first], inputs[..., first:last])


def _flat(states: Any) -> torch.Tensor:
    """Return the states of a network as one vector."""
    numbers = [torch.view_as_real(one) if one.is_complex() else one for state in states for one in state]
    return torch.cat([one.flatten().double() for one in numbers])
