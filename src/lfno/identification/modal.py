"""`ModalModel`: a linear model of measured signals with poles, residues and mode shapes, saved as one file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid, frequency_unit
from lfno.data.prepared import Prepared
from lfno.data.scaling import scale_of
from lfno.data.stretches import PERIODIC, REST, Stretch
from lfno.identification.identify import Modes, identify
from lfno.identification.stacking import Stacked, stack_stretches, with_states

KEY = "lfno-modes"
#: largest number of samples in a fit; further samples are left out
MOST = 2_000_000
#: relative error that an unknown initial state may cause in the second half of a long stretch; see `lfno.data.stretches`
REMEMBERED = 0.02
#: two errors differ clearly if their ratio exceeds this value. The estimated initial states may be false if the error of
#: predictions from rest exceeds IMITATION × error of the fit + REMEMBERED. `identify_signals` then also fits a model without
#: these estimates, unless the system integrates its input
IMITATION = 2.0
#: largest number of poles of a linear model; the two conjugate poles of an oscillation count as one
MOST_POLES = 12
#: a mode has settled when its free motion has fallen to this share
SETTLED = 1e-7
#: a fit to a steady state simulates the same period several times, and only the last period counts in the error. This is the
#: largest number of periods before the last one that `_settling` asks for
MOST_PERIODS = 16
#: key of the provenance: the system does not forget its initial state within the record
INTEGRATES = "integrates"


@dataclass(frozen=True, repr=False)
class ModalModel:
    """The linear model u = output_offset + h ∗ (f − input_offset), from the input f to the output u.

    modes: poles, residues and direct term of the impulse response h.
    input_offset: (inputs,).
    output_offset: (outputs,).
    grid: the time grid of the training data.
    provenance: the name of the data, and notes of the identification.
    """

    modes: Modes
    input_offset: np.ndarray
    output_offset: np.ndarray
    grid: Grid
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        inputs, outputs = self.channels
        return f"ModalModel({inputs} → {outputs} channels, {len(self.modes.poles)} poles, {self.grid!r})"

    @property
    def channels(self) -> tuple[int, int]:
        """Return the numbers of input and output channels."""
        outputs, inputs, _ = self.modes.residues.shape
        return inputs, outputs

    @property
    def notes(self) -> list[str]:
        """Return the warnings of the identification."""
        return list(self.provenance.get("notes", []))

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the outputs (samples, outputs, time) from rest for inputs (samples, inputs, time)."""
        step = (grid or self.grid).steps[0]
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        if centred.shape[1] != self.modes.residues.shape[1]:
            raise LfnoError(f"the input has {centred.shape[1]} channels; the model takes {self.modes.residues.shape[1]}")
        return self._at(step).simulate(centred, step) + self.output_offset[:, None]

    def _at(self, step: float) -> Modes:
        """Return the modes with the hold of the input for a time step.

        The training data define the hold. Inputs with a smaller time step also show the signal between the training samples, so
        the model interpolates such inputs by a cubic spline.
        """
        return self.modes if step > 0.75 * self.grid.steps[0] else replace(self.modes, hold="cubic")

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the transient and the steady part of the response from rest.

        The steady part is the response to the periodically repeated inputs. Both parts have the shape of the outputs.
        """
        step = (grid or self.grid).steps[0]
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        steady = self._at(step).steady(centred, step) + self.output_offset[:, None]
        return self.predict(inputs, grid) - steady, steady

    def to_tensors(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Return the model as a description and tensors, the inverse of `from_tensors`."""
        arrays = {"poles": self.modes.poles, "residues": self.modes.residues, "direct": self.modes.direct}
        arrays |= {"contributions": self.modes.contributions, "covariance": self.modes.covariance}
        arrays |= {"input_offset": self.input_offset, "output_offset": self.output_offset}
        tensors = {name: torch.view_as_real(torch.as_tensor(np.asarray(a, dtype=complex))) for name, a in arrays.items()}
        tree = {"version": 1, "grid": self.grid.to_dict(), "hold": self.modes.hold, "error": self.modes.error,
                "path": list(self.modes.path), "provenance": self.provenance}  # fmt: skip
        return tree, tensors

    @classmethod
    def from_tensors(cls, tree: dict[str, Any], tensors: dict[str, torch.Tensor]) -> ModalModel:
        """Return the model that `to_tensors` described."""
        arrays = {name: torch.view_as_complex(value).numpy() for name, value in tensors.items()}
        real = {name: arrays[name].real for name in ("direct", "contributions", "covariance", "input_offset", "output_offset")}
        modes = Modes(
            arrays["poles"], arrays["residues"], real["direct"], real["contributions"],
            float(tree["error"]), tree["hold"], tuple(tree["path"]), real["covariance"],
        )  # fmt: skip
        grid = Grid.from_dict(tree["grid"])
        return cls(modes, real["input_offset"], real["output_offset"], grid, tree["provenance"])

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file."""
        tree, tensors = self.to_tensors()
        tensorfile.write(Path(path), tensors, tree, KEY)

    @classmethod
    def load(cls, path: str | Path) -> ModalModel:
        """Read a model from its file; raise LfnoError for a damaged file."""
        return cls.from_tensors(*tensorfile.read(Path(path), KEY, "linear model"))


def identify_signals(
    prepared: Prepared,
    parts: Sequence[str] = ("train", "validation"),
    start: ModalModel | None = None,
    max_poles: int = MOST_POLES,
) -> ModalModel:
    """Return a linear model of some parts of prepared signals. `ModalModel.notes` holds warnings about doubtful modes.

    parts: names of the parts of the split, from "train", "validation" and "test".
    start: a linear model, whose poles are refined. Without `start`, held-out data choose the number of poles.
    max_poles: largest number of poles.
    """
    dataset = prepared.dataset
    if dataset.grid.ndim != 1:
        raise LfnoError(
            f"modal identification needs signals over time, not fields over {', '.join(dataset.grid.names)}; "
            "choose points of the field as output channels"
        )
    stretches = [stretch for part in parts for stretch in prepared.stretches(part)]
    signals = with_states(stretches, prepared.warmup, prepared.memory, MOST)
    model = _identified_model(signals, prepared, stretches, start, max_poles)
    if stretches[0].start == PERIODIC and (needed := _settling(model, len(stretches[0]))) > prepared.memory:
        # The modes of the model decay more slowly than `prepared.memory` promises. So a second fit simulates each period more
        # often before the period that counts in the error.
        signals = with_states(stretches, prepared.warmup, needed, MOST)
        return _identified_model(signals, prepared, stretches, start, max_poles)
    # in these long stretches the system forgets the initial state within the first half
    long = [stretch for stretch in stretches if len(stretch) >= 2 * prepared.memory]
    if not signals.moving or _late_error(model, long) <= IMITATION * model.modes.error + REMEMBERED:
        return model
    if _integrates(model, long):  # the system never forgets its initial state, so that predictions from rest stay wrong
        told = [
            "the system integrates its input: it does not forget its initial state within the record, and a constant input "
            "moves its output further and further. A prediction from rest is correct only if the system starts at rest"
        ]
        return replace(model, provenance={**model.provenance, "notes": told, INTEGRATES: True})
    # A slow decay from a large false initial state can imitate a drift of the data. A prediction from rest lacks this state and
    # has a large error. So we also fit a model without estimated initial states, and keep the model with the smaller error.
    other = _identified_model(stack_stretches(stretches, prepared.warmup, MOST), prepared, stretches, start, max_poles)
    return min((model, other), key=lambda one: _late_error(one, long))


def _settling(model: ModalModel, period: int) -> int:
    """Return the number of samples after which the slowest mode has decayed to SETTLED, at most MOST_PERIODS periods.

    period: length of a period in samples.
    """
    slowest = float(-model.modes.poles.real.max(initial=-np.inf))
    rate = max(slowest * model.grid.steps[0], 1e-300)
    return min(math.ceil(-math.log(SETTLED) / rate), MOST_PERIODS * period)


def _integrates(model: ModalModel, stretches: Sequence[Stretch]) -> bool:
    """Return whether the response to the input needs the modes that do not decay within the stretches (the slow modes).

    The model is compared with a copy whose slow modes have zero residues. First, the free motions of the model and a constant
    are removed from both prediction errors by projection. The response needs the slow modes if the remaining error of the copy
    is more than IMITATION times the remaining error of the model. Stretches with gaps are not used.
    """
    size = min((len(stretch) for stretch in stretches if stretch.mask is None), default=0)
    lasting = -model.modes.poles.real * model.grid.steps[0] * size < 1
    if not size or not lasting.any():
        return False
    time = model.grid.steps[0] * np.arange(size)
    swings = np.exp(model.modes.poles[:, None] * time)
    free = np.linalg.qr(np.concatenate([swings.real, swings.imag[model.modes.poles.imag > 0], np.ones((1, size))]).T)[0]
    rest = replace(model, modes=replace(model.modes, residues=np.where(lasting, 0.0, model.modes.residues)))

    def left(one: ModalModel) -> float:
        missed = [one.predict(stretch.inputs[None, :, :size])[0] - stretch.outputs[:, :size]
                  for stretch in stretches if stretch.mask is None]  # fmt: skip
        scale = stretches[0].outputs.std(-1, keepdims=True)
        return float(np.linalg.norm([(values - values @ free @ free.T) / np.maximum(scale, 1e-300) for values in missed]))

    return left(rest) > IMITATION * left(model)


def _late_error(model: ModalModel, stretches: Sequence[Stretch]) -> float:
    """Return the relative error of predictions from rest on the second half of each stretch; 0 without stretches.

    The error is the rms over all stretches, in units of the standard deviation of each output. The second half is used because
    the unknown initial state has less influence there than in the first half.
    """
    errors: list[np.ndarray] = []
    for stretch in stretches:
        size = min(len(stretch), MOST)
        inputs, outputs = (np.asarray(values[..., :size], dtype=np.float64) for values in (stretch.inputs, stretch.outputs))
        missed = (model.predict(inputs[None])[0] - outputs)[:, size // 2 :]
        share = missed / np.maximum(outputs.std(-1, keepdims=True), 1e-300)
        errors.append(share.ravel() if stretch.mask is None else share[stretch.mask[..., size // 2 : size]])
    whole = np.concatenate([*errors, np.zeros(0)])
    return float(np.sqrt((whole**2).mean())) if whole.size else 0.0


def _identified_model(
    signals: Stacked, prepared: Prepared, stretches: Sequence[Stretch], start: ModalModel | None, max_poles: int
) -> ModalModel:
    """Return a linear model fitted to stacked stretches. `stretches` are the same stretches before stacking."""
    dataset = prepared.dataset
    moved, after = scale_of(signals.inputs)[0], scale_of(signals.outputs, signals.mask)[0]
    # A system may be at rest under the mean input or under zero input. We try both and keep the smaller error.
    rest = all(stretch.start == REST for stretch in stretches)
    tried = [
        (_identified(signals, dataset.grid.steps[0], before, after, start, max_poles), before)
        for before in ([moved, np.zeros_like(moved)] if rest and moved.any() else [moved])
    ]
    modes, before = min(tried, key=lambda pair: pair[0].error)
    told: dict[str, Any] = {"data": {"name": dataset.name, "signals": dataset.provenance.get("signals", {})}}
    told["notes"] = doubts(modes, dataset.grid.steps[0] * signals.inputs.shape[-1], dataset.grid.axes[0].unit)
    return ModalModel(modes, before, after + modes.constant, dataset.grid, told)


def _identified(
    signals: Stacked, step: float, before: np.ndarray, after: np.ndarray, start: ModalModel | None, max_poles: int
) -> Modes:
    """Return modes fitted to signals after subtraction of the offsets.

    step: sampling step in seconds.
    before: offsets of the inputs, (inputs,).
    after: offsets of the outputs, (outputs,).
    start: a linear model that gives the initial poles and the hold; None for a search.
    """
    inputs = signals.with_pulses(signals.inputs - before[:, None])
    found = identify(
        inputs, signals.outputs - after[:, None], Grid.line(signals.inputs.shape[-1], step),
        None if start is None else start.modes.poles, hold=None if start is None else start.modes.hold,
        max_poles=max_poles, warmup=signals.warmup, mask=signals.mask, constant=True,
    )  # fmt: skip
    count = len(before)
    return replace(found, residues=found.residues[:, :count], direct=found.direct[:, :count])


def doubts(modes: Modes, duration: float, unit: str) -> list[str]:
    """Return a warning for a model without modes, and one for each mode that decays too slowly for data of this duration.

    duration: length of the data in units of time.
    unit: name of the unit of time, for example "s".
    """
    sentences = [empty] if (empty := without_modes(modes)) else []
    for pole in modes.poles:
        if -pole.real * duration < 1:
            hertz = f"{abs(pole.imag) / (2 * np.pi):.4g} {frequency_unit(unit)}".rstrip()
            what = f"mode of {hertz}" if pole.imag else "decay"
            sentences.append(
                f"a {what} of the linear model does not die away within {duration:.3g} {unit}: it may be an artefact, such as "
                "a drift or a disturbance that the input does not cause"
            )
    return sentences


def without_modes(modes: Modes) -> str:
    """Return a sentence for a linear model without modes; "" for a model with modes."""
    if len(modes.poles):
        return ""
    if np.any(modes.direct):
        return "the linear model has no modes: its output is the input at the same time, multiplied by a constant"
    return "the linear model has no modes: it found no linear effect of the input, and predicts the mean of the output"
