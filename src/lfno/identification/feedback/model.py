"""`FeedbackModel`: a model with feedback in the user's units, with prediction, decomposition and storage in one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import with_nan
from lfno.data.stretches import PERIODIC, REST
from lfno.identification.feedback.curve import actuator_curve, curved_channels, restoring_curve
from lfno.identification.feedback.dead_time import delayed
from lfno.identification.feedback.hold import AFTER, BEFORE, CAUSAL, pieces
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.linearised import amplitude_modes, small_signal
from lfno.identification.feedback.simulate import simulate, substep_pieces
from lfno.identification.feedback.steady import steady_states
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.identify import Modes
from lfno.identification.split import split_response

KEY = "lfno-feedback"
#: arrays of a law that may be missing
OPTIONAL = ("sensor", "actuator")
#: arrays of a law that are never missing, in the order of its fields
ARRAYS = ("poles", "drive", "gains", "pick", "shape", "read", "direct", "offset", "start", "limits")


@dataclass(frozen=True, repr=False)
class FeedbackModel:
    """Linear modes with a static nonlinear feedback Γ φ(z), with curved sensors K φ(z), or with curved actuators.

        x′ = A x + B (u − input_offset) + Γ φ(z),      z = E x,      y = C x + K φ(z) + D (u − input_offset) + offset

    u is the input, x is the state, y is the output, and φ(z) are nonlinear functions of a few signals z. For curved actuators,
    the effective inputs v drive the states:

        x′ = A x + B v,      v = H (u − input_offset, φ(z)),      z = E (u − input_offset),      y = C x + offset

    Inputs may act after a dead time. Then u is the delayed input.

    law: the arrays of the equations (`Law`), in the user's units and seconds.
    structure: which entries of these arrays are fitted.
    input_offset: (inputs,).
    grid: the grid of the training data.
    hold: interpolation of the input between samples.
    span: longest sub-step in seconds. A sub-step is a step of the integration.
    visited: (signals, 2), the range of z in the training data.
    covariance: covariance (parameters, parameters) of the fitted parameters.
    noise: (outputs,), rms of the residual on the training data.
    delays: (inputs,), dead time of each input in seconds. Before the first sample of a simulation from rest, u = input_offset.
    provenance: label, terms and validation error of the fit.
    """

    law: Law
    structure: Structure
    input_offset: np.ndarray
    grid: Grid
    hold: str
    span: float
    visited: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    provenance: dict[str, Any] = field(default_factory=dict)
    delays: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def __repr__(self) -> str:
        inputs, outputs = self.channels
        return f"FeedbackModel({inputs} → {outputs} channels, {self.parameters} parameters, {self.grid!r})"

    @property
    def channels(self) -> tuple[int, int]:
        """Return the numbers of input and output channels."""
        outputs, inputs = self.law.direct.shape
        return inputs, outputs

    @property
    def causal(self) -> bool:
        """Return whether the hold uses no sample after the end of a step, so that the model can run sample by sample."""
        return self.hold in CAUSAL

    @property
    def parameters(self) -> int:
        """Return the number of fitted parameters."""
        return sum(self.structure.sizes(*self.channels).values()) + int(np.count_nonzero(self.delays))

    def substeps(self, step: float) -> int:
        """Return the number of sub-steps between two samples that are `step` seconds apart."""
        return max(int(np.ceil(step / self.span - 1e-9)), 1)

    def states(self, inputs: np.ndarray, step: float, start: np.ndarray | None = None) -> np.ndarray:
        """Return the n states, (time, samples, n), at the sampling times, from rest or from `start` (samples, n).

        inputs: (samples, inputs, time).
        step: sampling step in seconds.
        """
        effective = self.effective(inputs, step)
        return self.march(np.moveaxis(pieces(effective, step, self.hold), 2, 0), step, len(effective), start)

    def effective(self, inputs: np.ndarray, step: float, state: str = REST) -> np.ndarray:
        """Return the inputs that drive the states, (samples, inputs, time).

        These inputs are u − input_offset after the dead times. For curved actuators, they are the effective inputs v.

        step: sampling step in seconds.
        state: state at the first sample, "rest" or "periodic".
        """
        seen = self.seen(inputs, step, state)
        return seen if self.law.actuator is None else np.moveaxis(self.law.effective(np.moveaxis(seen, 1, 2)), 2, 1)

    def seen(self, inputs: np.ndarray, step: float, state: str = REST) -> np.ndarray:
        """Return u − input_offset after the dead times, (samples, inputs, time). `effective` describes the arguments."""
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        return delayed(centred, self.delays / step, state)

    def march(self, steps: np.ndarray, step: float, samples: int, start: np.ndarray | None = None) -> np.ndarray:
        """Return the states (time, samples, n) at the sampling times, from rest or from `start` (samples, n).

        steps: the effective inputs as polynomials between sampling times, (time − 1, samples, channels, powers), lowest power
            first.
        step: sampling step in seconds.
        samples: number of samples.
        """
        count = self.substeps(step)
        begin = np.tile(self.law.start, (samples, 1)) if start is None else start
        return simulate(self.law, substep_pieces(steps, step, count), step / count, begin)[::count]

    def outputs(self, states: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Return y (samples, outputs, time) for states (time, samples, n) and inputs (samples, inputs, time)."""
        centred = np.asarray(inputs, dtype=np.float64) - self.input_offset[:, None]
        return np.moveaxis(self.law.outputs(states, np.moveaxis(centred, 2, 0)), 0, 2)

    def predict(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the outputs (samples, outputs, time) from rest for inputs (samples, inputs, time)."""
        inputs = self._checked(inputs)
        return self.outputs(self.states(inputs, (grid or self.grid).steps[-1]), inputs)

    def out_of_range(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return for each sample how far z leaves the range that z has in the training data, (samples,).

        The value is the largest distance of z from the middle of the range, divided by half the width of the range. Above 1 the
        model extrapolates.
        """
        inputs, step = self._checked(inputs), (grid or self.grid).steps[-1]
        z = self.law.signals(self.states(inputs, step), np.moveaxis(self.seen(inputs, step), 2, 0))
        middle, half = self.visited.mean(1), np.ptp(self.visited, axis=1) / 2
        return np.asarray((np.abs(z - middle) / np.maximum(half, 1e-300)).max(axis=(0, 2)))

    def decompose(self, inputs: np.ndarray, grid: Grid | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the transient and the steady part of the response from rest, each (samples, outputs, time).

        The steady part is the response to the periodically repeated inputs. Samples without a steady state are NaN, and a
        warning gives the number of such samples. Raises LfnoError if no sample has a steady state.
        """
        return split_response(self.predict(inputs, grid), self.steady(inputs, grid))

    def steady(self, inputs: np.ndarray, grid: Grid | None = None) -> np.ndarray:
        """Return the response (samples, outputs, time) to the periodically repeated inputs.

        A sample without a steady state is NaN. See `lfno.identification.feedback.steady` for the method.
        """
        inputs, step = self._checked(inputs), (grid or self.grid).steps[-1]
        # three copies of the inputs, so that the hold uses the samples of the neighbouring periods
        places = np.s_[..., inputs.shape[-1] - BEFORE : 2 * inputs.shape[-1] + 1 + AFTER]
        centred = np.tile(self.effective(inputs, step, PERIODIC), 3)[places]
        steps = np.moveaxis(pieces(centred, step, self.hold)[:, :, BEFORE:-AFTER], 2, 0)
        states = steady_states(
            lambda start, which: self.march(steps[:, which], step, len(which), start),
            np.tile(self.law.start, (len(inputs), 1)), inputs.shape[-1],
        )  # fmt: skip
        return self.outputs(states, inputs)

    def small_signal_modes(self) -> Modes:
        """Return the modes of small motion about equilibrium, with the covariance of their poles."""
        error = float(with_nan(self.provenance.get("feedback", {}).get("validation error", 0.0)))
        return small_signal(self.law, self.structure, self.covariance, self.hold, error)

    def backbone(self, mode: int = 0, output: int = 0, count: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return frequency and damping of one mode as functions of the amplitude of an output.

        The result is three arrays (count,): amplitude, frequency in Hz, damping ratio. The amplitude of z grows up to the
        largest |z| in the training data. Mode 0 is the strongest oscillation. Raises LfnoError for a linear model, for feedback
        of several signals, and if there is no such oscillation.
        """
        amplitude, frequency, damping = amplitude_modes(self.law, self.visited, mode, output, count)
        return amplitude, frequency, damping

    @property
    def curved_inputs(self) -> list[int]:
        """Return the indices of the inputs with a curved actuator."""
        return curved_channels(self.law)

    def characteristic(
        self, count: int = 101, channel: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the static characteristic as four arrays (count,).

        The arrays are z, the constant input that holds the system at z, and the lower and upper end of the 95 % interval of
        this input. z has the unit of the output that z follows (`curve.aligned_output`), or its own unit if z follows no
        output. The input has the user's unit. Raises LfnoError for a linear model and for feedback of several signals.
        For a curved sensor, the arrays are a constant input, the first output, and the interval of this output.
        For a curved actuator, the arrays are the input, the effective input, and the interval of the effective input. The
        effective input of a linear actuator is its input.

        channel: for curved actuators, the index of the input; by default the first input with a curve.
        """
        if self.curved_inputs:
            channel = self.curved_inputs[0] if channel is None else channel
            if channel not in self.curved_inputs:
                raise LfnoError(f"input {channel + 1} has no curve; the inputs with a curve are "
                                f"{', '.join(str(one + 1) for one in self.curved_inputs)}")  # fmt: skip
            found = actuator_curve(self.law, self.structure, self.covariance, self.visited, count, channel)
            u, v, low, high = (values + self.input_offset[channel] for values in found)
            return u, v, low, high
        z, force, lower, upper = restoring_curve(self.law, self.structure, self.covariance, self.visited, count)
        return z, force, lower, upper

    def _checked(self, inputs: np.ndarray) -> np.ndarray:
        """Return the inputs as float64. Raise LfnoError for a wrong shape or for values that are not finite."""
        values = np.asarray(inputs, dtype=np.float64)
        if values.ndim != 3 or values.shape[1] != self.channels[0]:
            raise LfnoError(f"inputs have shape {values.shape}; (samples, {self.channels[0]}, time) is needed")
        if not np.isfinite(values).all():
            raise LfnoError("the inputs contain NaN or infinite values; remove or fill them first")
        return values

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file."""
        arrays = {name: getattr(self.law, name) for name in ARRAYS}
        arrays |= {name: value for name in OPTIONAL if (value := getattr(self.law, name)) is not None}
        arrays |= {name: getattr(self, name) for name in ("input_offset", "visited", "covariance", "noise", "delays")}
        tensors = {name: torch.view_as_real(torch.as_tensor(np.asarray(a, dtype=complex))) for name, a in arrays.items()}
        flags = {name: getattr(self.structure, name) for name in FLAGS}
        tree = {"version": 1, "grid": self.grid.to_dict(), "hold": self.hold, "span": self.span, "structure": flags,
                "terms": self.law.terms.to_dict(), "provenance": self.provenance}  # fmt: skip
        tensorfile.write(Path(path), tensors, tree, KEY)

    @classmethod
    def load(cls, path: str | Path) -> FeedbackModel:
        """Read a model from its file; raise LfnoError for a damaged file."""
        tree, tensors = tensorfile.read(Path(path), KEY, "model with feedback")
        arrays = {name: torch.view_as_complex(value).numpy() for name, value in tensors.items()}
        real = {name: value if name in ("poles", "drive") else value.real.copy() for name, value in arrays.items()}
        terms = Terms.from_dict(tree["terms"])
        further: dict[str, Any] = {name: real.get(name) for name in OPTIONAL}
        law = Law(**{name: real[name] for name in ARRAYS}, terms=terms, **further)
        flags: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in tree["structure"].items()
        }
        return cls(
            law, Structure(terms=terms, **flags), real["input_offset"], Grid.from_dict(tree["grid"]), tree["hold"],
            float(tree["span"]), real["visited"], real["covariance"], real["noise"], tree["provenance"],
            real.get("delays", np.zeros(law.direct.shape[1])),  # files of version 0.1 have no dead times
        )  # fmt: skip


#: fields of `Structure` other than `terms`
FLAGS = ("decays", "pairs", "rank_one", "all_states", "free_start", "with_direct", "sensor", "anchors", "actuator")
