"""One step of a model as plain arrays: what C code, an FMU and a check in NumPy are made from.

A layer of a network carries, for every channel i and pole m, a state ξ that is known before the next sample v arrives:

    x_im = ξ_im + b0_m v_i   (x = 0 at the very first sample),       y_o = Re Σ_im β_iom x_im,       ξ_im ← e_m x_im + b1_m v_i,
    u = act(y + W v + w),    v ← v + u,  or  v ← v + (A u + a) sigmoid(B u + b) with a gate.

Here e = e^{μ dt}, and b0, b1 are the coefficients of an input that is linear between samples. A linear model is one bank of
such poles with a direct path: y = Re Σ β x + D u.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from lfno.core.errors import LfnoError
from lfno.identification.modal import ModalModel
from lfno.models.lfno import LFNO
from lfno.models.operator import Operator
from lfno.spectral.hold import taps


@dataclass(frozen=True)
class Bank:
    """Poles that all channels share: e = e^{μ dt} (M,), taps b0 and b1 (2, M), residues (in, out, M); all complex."""

    decay: np.ndarray
    taps: np.ndarray
    residues: np.ndarray

    @classmethod
    def of(cls, poles: np.ndarray, residues: np.ndarray, dt: float) -> Bank:
        """Return the bank of poles (1/s) and residues (in, out, M) for the step `dt`."""
        mu = torch.as_tensor(np.asarray(poles, dtype=np.complex128))
        return cls(np.exp(np.asarray(poles) * dt), taps(mu, dt, "linear").numpy(), np.asarray(residues, dtype=np.complex128))

    def step(self, v: np.ndarray, xi: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return y and the next ξ for the sample v; without ξ the sample is the first one, at rest."""
        x = np.zeros((len(v), len(self.decay)), complex) if xi is None else xi + np.multiply.outer(v, self.taps[0])
        y = np.einsum("iom,im->o", self.residues, x).real
        return y, self.decay * x + np.multiply.outer(v, self.taps[1])


@dataclass(frozen=True)
class Layer:
    """A bank and the pointwise map after it; gate_weight is (2C, C), rows A then B, or None."""

    bank: Bank
    weight: np.ndarray
    bias: np.ndarray
    gate_weight: np.ndarray | None
    gate_bias: np.ndarray | None


@dataclass(frozen=True)
class Program:
    """A network (lift, layers, hidden, project) or a linear model (one layer's bank and a direct path), for one step dt.

    Affine maps are pairs (matrix, vector). `scale_in` and `scale_out` are (offset, scale) of the channels.
    """

    dt: float
    unit: str
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    scale_in: tuple[np.ndarray, np.ndarray]
    scale_out: tuple[np.ndarray, np.ndarray]
    banks: list[Bank]
    layers: list[Layer] = field(default_factory=list)
    lift: tuple[np.ndarray, np.ndarray] | None = None
    hidden: tuple[np.ndarray, np.ndarray] | None = None
    project: tuple[np.ndarray, np.ndarray] | None = None
    direct: np.ndarray | None = None
    activation: str = ""
    notes: list[str] = field(default_factory=list)

    def start(self) -> list[np.ndarray | None]:
        """Return the states of all banks at rest, before the first sample."""
        return [None] * len(self.banks)

    def step(self, sample: np.ndarray, states: list[np.ndarray | None]) -> np.ndarray:
        """Return the outputs (out,) for one sample (in,) and write the new states into `states`."""
        v = (sample - self.scale_in[0]) / self.scale_in[1]
        if self.direct is None:
            y = self._network(v, states)
        else:
            y, states[0] = self.banks[0].step(v, states[0])
            y = y + self.direct @ v
        return y * self.scale_out[1] + self.scale_out[0]

    def respond(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs (out, time) for inputs (in, time) from rest, sample by sample in double precision."""
        states = self.start()
        return np.stack([self.step(sample, states) for sample in np.asarray(inputs, dtype=np.float64).T], -1)

    def _network(self, v: np.ndarray, states: list[np.ndarray | None]) -> np.ndarray:
        assert self.lift is not None
        assert self.hidden is not None
        assert self.project is not None
        act = ACTIVATIONS[self.activation]
        v = self.lift[0] @ v + self.lift[1]
        for k, layer in enumerate(self.layers):
            y, states[k] = layer.bank.step(v, states[k])
            u = act(y + layer.weight @ v + layer.bias)
            if layer.gate_weight is not None and layer.gate_bias is not None:
                both = layer.gate_weight @ u + layer.gate_bias
                u = both[: len(v)] / (1 + np.exp(-both[len(v) :]))
            v = v + u
        return self.project[0] @ act(self.hidden[0] @ v + self.hidden[1]) + self.project[1]


def _erf(x: np.ndarray) -> np.ndarray:
    from scipy.special import erf

    return erf(x)


ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sin": np.sin,
}


def program_of(member: Any, inputs: list[tuple[str, str]], outputs: list[tuple[str, str]], dt: float | None = None) -> Program:
    """Return the step of a network or a linear model; raise LfnoError with the reason if it cannot run sample by sample.

    inputs, outputs: names and units of the channels. dt: the time step, by default the one of training.
    """
    axis = member.grid.axes[-1]
    dt = axis.step if dt is None else dt
    if not (np.isfinite(dt) and dt > 0):
        raise LfnoError(f"the time step {dt!r} must be a positive number")
    if isinstance(member, ModalModel):
        return _linear(member, inputs, outputs, dt)
    return _network(member, inputs, outputs, dt)


def _linear(model: ModalModel, inputs: list[tuple[str, str]], outputs: list[tuple[str, str]], dt: float) -> Program:
    modes, ones = model.modes, np.ones(model.channels[1])
    bank = Bank.of(modes.poles, modes.residues.transpose(1, 0, 2), dt)
    notes = [] if modes.hold == "linear" else [f"identified with a {modes.hold} hold of the input; this code holds it linearly"]
    return Program(
        dt, model.grid.axes[-1].unit, inputs, outputs, (model.input_offset, np.ones(model.channels[0])),
        (model.output_offset, ones), [bank], direct=np.asarray(modes.direct), notes=notes,
    )  # fmt: skip


def _network(model: Operator, inputs: list[tuple[str, str]], outputs: list[tuple[str, str]], dt: float) -> Program:
    reason = why_not(model)
    if reason:
        raise LfnoError(f"this model cannot run sample by sample: {reason}; fit one that can with `lfno fit --causal`")
    axis = model.grid.axes[-1]
    layers = [_layer(block, axis.step, dt, model) for block in model.blocks]  # type: ignore[union-attr]
    scales = [_numbers(getattr(model, f"{role}_{what}")) for role in ("input", "output") for what in ("offset", "scale")]
    return Program(
        dt, axis.unit, inputs, outputs, (scales[0], scales[1]), (scales[2], scales[3]), [layer.bank for layer in layers],
        layers, _affine(model.lift), _affine(model.hidden), _affine(model.project), activation=model.config.activation,
    )  # fmt: skip


def why_not(model: Operator) -> str:
    """Return why a network cannot run sample by sample; "" if it can."""
    if model.grid.ndim > 1:
        return f"it answers fields over {', '.join(model.grid.names)}, not signals"
    if not isinstance(model, LFNO) or not model.recurrent:
        return "its layers see a whole window at once (FNO, LNO, or LFNO in the frequency form)"
    if model.config.steady != "exact":
        return "its free weights R act on a whole window at once"
    if not model.config.share_poles:
        return "its poles belong to pairs of channels (share_poles=false)"
    if model.hold != "linear":
        return f"its layers hold their input with a {model.hold} polynomial (hold='{model.hold}')"
    if not model.config.skip:
        return "its layers have no skip connection"
    return ""


def _layer(block: Any, own: float, dt: float, model: Operator) -> Layer:
    """Poles in physical units: a layer measures time in its own unit, in which the training step is `steps`."""
    unit = model.steps(model.grid)[0] / own  # units of the layer per second
    poles = _numbers(block.kernel.values()[-1])
    stored = _numbers(block.kernel.residues)
    residues = (stored[..., 0] + 1j * stored[..., 1]) * unit
    gate = None if block.gate is None else _affine(block.gate.both)
    weight, bias = _affine(block.pointwise)
    return Layer(Bank.of(poles * unit, residues, dt), weight, bias, *(gate or (None, None)))


def _affine(part: Any) -> tuple[np.ndarray, np.ndarray]:
    return _numbers(part.weight), _numbers(part.bias)


def _numbers(tensor: Any) -> np.ndarray:
    array = tensor.detach().cpu().numpy()
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)
