"""Translate a member of a model into the program of its time step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.identification.feedback import FeedbackModel
from lfno.identification.modal import ModalModel
from lfno.models.lfno import LFNO
from lfno.models.operator import Operator
from lfno.spectral.hold import HOLDS, phi_functions, taps
from lfno.surrogate.deploy.chains import chained
from lfno.surrogate.deploy.feedback import feedback_step
from lfno.surrogate.deploy.program import Builder, Channel, Program
from lfno.surrogate.sum import Sum, network_of

#: if the time step is at most this part of the training step, linear models use the hold "cubic", as in `ModalModel.predict`
FINER = 0.75

LOOKS_AHEAD = (
    "model.predict of lfno interpolates the whole input by a spline, which uses future samples; this code uses the cubic "
    "through the last four samples; the two results differ by O(dt^4)"
)
AHEAD = "it interpolates its input with two future samples"
REMEDY = "fit a model with `lfno fit --causal`"


def program_of(
    member: Any, inputs: Sequence[Channel], outputs: Sequence[Channel], dt: float | None = None, notes: Sequence[str] = ()
) -> Program:
    """Return the program of the time step of a model.

    member: a network, a linear model, a model with feedback, or a sum.
    inputs, outputs: names and units of the channels.
    dt: the time step, by default the time step of the training data.
    notes: sentences that the exported code shows to its user.

    Raises LfnoError with the reason if the model cannot run sample by sample.
    """
    axis = member.grid.axes[-1]
    dt = axis.step if dt is None else dt
    if not (np.isfinite(dt) and dt > 0):
        raise LfnoError(f"the time step {dt!r} must be a positive number")
    if member.grid.ndim > 1:
        axes = ", ".join(member.grid.names)
        raise LfnoError(f"this model predicts fields over {axes}: only models of signals run sample by sample")
    build = Builder(len(inputs))
    if isinstance(member, ModalModel):
        output, hold = linear_step(build, member, dt)
        more = [LOOKS_AHEAD] if hold == "cubic" else []
        return build.program(output, dt, axis.unit, inputs, outputs, "a linear model", hold, [*notes, *more])
    if isinstance(member, FeedbackModel):
        if not member.causal:
            raise LfnoError(f"this model cannot run sample by sample: {AHEAD}; {REMEDY}")
        output = feedback_step(build, member, dt)
        return build.program(output, dt, axis.unit, inputs, outputs, "modes with feedback", member.hold, notes)
    network: Any = network_of(member)
    reason = why_not(network)
    if reason:
        raise LfnoError(f"this model cannot run sample by sample: {reason}; {REMEDY}")
    output = network_step(build, network, dt)
    if not isinstance(member, Sum):
        return build.program(output, dt, axis.unit, inputs, outputs, "a network", network.hold, notes)
    assert isinstance(member.linear, ModalModel)
    other, hold = linear_step(build, member.linear, dt)
    kind, more = "a linear model and a network that corrects it", [LOOKS_AHEAD] if hold == "cubic" else []
    return build.program(build.plus(other, output), dt, axis.unit, inputs, outputs, kind, hold, [*notes, *more])


def hold_taps(poles: np.ndarray, dt: float, hold: str) -> np.ndarray:
    """Return the taps b of the recurrence of M poles, complex (taps, M).

    The state x of a pole μ follows x[n+1] = e^{μ dt} x[n] + Σ_j b_j u[n+1−j], where u is the input.

    hold: the input between samples: "zero" (the value of the last sample), "linear" or "cubic" (see `lfno.spectral.hold`).

    >>> hold_taps(np.array([-1.0]), 0.1, "zero").real.round(4)  # 0 and 1 − e^{−0.1}
    array([[0.    ],
           [0.0952]])
    """
    mu = torch.as_tensor(np.asarray(poles, dtype=np.complex128))
    if hold in HOLDS:
        return taps(mu, dt, hold).numpy()
    if hold != "zero":
        raise LfnoError(f"the hold {hold!r} cannot be exported; choose zero, {', '.join(HOLDS)}")
    held = dt * phi_functions(mu * dt, 1)[0].numpy()
    return np.stack([np.zeros_like(held), held])


def linear_step(build: Builder, model: ModalModel, dt: float) -> tuple[int, str]:
    """Add a linear model to the program. Return the register of its output y, and the hold of the input.

    y = offset + Re Σ β x + D u, with the states x of the poles, the residues β, the direct term D and the input u. Nearly equal
    poles form chains (see `chains`). Without poles, y = offset + D u.
    """
    modes = model.modes
    hold = modes.hold if dt > FINER * model.grid.steps[-1] else "cubic"
    centred = build.scale(0, model.input_offset, np.ones(model.channels[0]))
    if not len(modes.poles):
        return build.affine(centred, modes.direct, model.output_offset), hold
    states = chained(modes.poles, dt, hold_taps(modes.poles, dt, hold), modes.residues.transpose(1, 0, 2))
    x = build.filter(centred, states.decay, states.taps, states.chain)
    y = build.affine(x, residue_matrix(states.residues), model.output_offset)
    if np.any(modes.direct):
        y = build.plus(y, build.affine(centred, modes.direct))
    return y, hold


def residue_matrix(residues: np.ndarray) -> np.ndarray:
    """Return the matrix (out, in · M · 2) that maps the states x to Re Σ β_iom x_im.

    residues: β, (in, out, M). The states x are stored as pairs (re, im).
    """
    planes = np.stack([residues.real, -residues.imag], -1)
    return planes.transpose(1, 0, 2, 3).reshape(residues.shape[1], -1)


def network_step(build: Builder, model: Operator, dt: float) -> int:
    """Add a network to the program and return the register of its output y.

    v = lift(u);   v ← v + gate(act(Re Σ β x + W v + w)) for every layer;   y = project(act(hidden(v))).

    u is the scaled input, v are the channels of the network, and x are the states of the poles of a layer with v as input. The
    residues β, the matrix W and the bias w belong to the layer. A network without gates has no `gate`. Without skip
    connections, a layer does not add v, and the last layer has no `act`.
    """
    offset, scale = (_numbers(getattr(model, f"input_{what}")) for what in ("offset", "scale"))
    act = model.config.activation
    v = build.affine(build.scale(0, offset, 1 / scale), *_affine(model.lift))
    blocks: Any = model.blocks
    unit = model.steps(model.grid)[-1] / model.grid.steps[-1]  # the time unit of the layers
    for place, block in enumerate(blocks):
        poles = _numbers(block.kernel.values()[-1]) * unit
        stored = _numbers(block.kernel.residues)
        residues = (stored[..., 0] + 1j * stored[..., 1]) * unit
        x = build.filter(v, np.exp(poles * dt), hold_taps(poles, dt, model.hold))  # type: ignore[arg-type]
        u = build.plus(build.affine(x, residue_matrix(residues)), build.affine(v, *_affine(block.pointwise)))
        if model.config.skip or place < len(blocks) - 1:
            u = build.apply(act, u)
        if block.gate is not None:
            weight, bias = _affine(block.gate.both)
            half = len(weight) // 2
            opening = build.apply("sigmoid", build.affine(u, weight[half:], bias[half:]))
            u = build.times(build.affine(u, weight[:half], bias[:half]), opening)
        v = build.plus(v, u) if model.config.skip else u
    hidden = build.apply(act, build.affine(v, *_affine(model.hidden)))
    scale, offset = (_numbers(getattr(model, f"output_{what}")) for what in ("scale", "offset"))
    weight, bias = _affine(model.project)
    return build.affine(hidden, scale[:, None] * weight, scale * bias + offset)


def why_not(model: Operator) -> str:
    """Return the reason why a network cannot run sample by sample; "" if it can."""
    if model.grid.ndim > 1:
        return f"it predicts fields over {', '.join(model.grid.names)}, not signals"
    if getattr(model.config, "steady", "exact") != "exact":
        return "its free weights R act on a whole window at once"
    if not isinstance(model, LFNO) or not model.recurrent:
        return "its layers see a whole window at once (FNO, LNO, or LFNO in the frequency form)"
    if not model.config.share_poles:
        return "its poles belong to pairs of channels (share_poles=false)"
    return ""


def _affine(part: Any) -> tuple[np.ndarray, np.ndarray]:
    return _numbers(part.weight), _numbers(part.bias)


def _numbers(tensor: Any) -> np.ndarray:
    array = tensor.detach().cpu().numpy()
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)
