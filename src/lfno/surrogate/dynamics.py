"""Properties of the system that a model was fitted to: modes, frequency response, backbone curve and stabilisation diagram."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.evaluation.backbone import Backbone, backbone, resolve
from lfno.evaluation.field_modes import field_modes, on_a_line
from lfno.evaluation.modes import SMALL, network_modes
from lfno.evaluation.response import Response, response
from lfno.evaluation.truth import trained_band
from lfno.identification.feedback import FeedbackModel
from lfno.identification.field import FieldModel
from lfno.identification.modal import ModalModel
from lfno.identification.mode import Mode, mode_list
from lfno.identification.modes import LEAST
from lfno.identification.pulse import pulse_response
from lfno.identification.stabilisation import Stabilisation, stabilisation
from lfno.models.operator import Operator
from lfno.surrogate.description import Description
from lfno.surrogate.sum import Sum

#: default number of frequencies of a response, evenly spaced on a logarithmic axis
FREQUENCIES = 100
#: default amplitudes of a response, relative to the largest amplitude of the training inputs
AMPLITUDES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
#: default highest frequency, in cycles per window, if the model file does not give the band of the training inputs
CYCLES = 30


class Dynamics(Description):
    """The part of a model that analyses its dynamics. `Surrogate` adds predictions and files."""

    def modes(self, operating: float = 0.0) -> list[Mode]:
        """Return the small-signal modes, strongest first, each with 95 % intervals of frequency and damping.

        operating: a constant input. A network is linearised about its response to this input. A linear model has the same modes
            for every input. If networks correct a linear model of fields, the result is the modes of this linear model.

        Models with feedback, equations, and networks for fields on a line are linearised about their state of rest only. For
        these models, another value of `operating` than 0 raises LfnoError. The intervals of an ensemble include the scatter of
        its members, except for fields on a line.

        >>> import lfno
        >>> [mode] = lfno.load("duffing-c05").modes()
        >>> mode.frequency_interval[0] < mode.frequency < mode.frequency_interval[1]
        True
        """
        first: Any = self.members[0]
        if isinstance(first, ModalModel):
            return mode_list(first.modes, LEAST)
        path = self.linear_path
        field = first if isinstance(first, FieldModel) else path if isinstance(path, FieldModel) else None
        if field is not None:
            return field.list_modes(LEAST)
        if self.networks:
            assert not isinstance(path, FieldModel)
            error = self.accuracy or None
            if not on_a_line(self.networks[0]):
                return mode_list(network_modes(self.networks, linear=path, operating=operating, accuracy=error), LEAST)
        if operating:
            raise LfnoError(f"this model ({self.kind}) can be linearised about its state of rest only; leave out `operating`")
        if self.networks:
            return field_modes(self.networks, error, LEAST)
        return mode_list(first.small_signal_modes(), LEAST, stable=False)

    def response(
        self, frequencies: Any = None, amplitudes: Any = None, *, channel: int = 0, harmonics: int = 5, warn: bool = True
    ) -> Response:
        """Return the steady response to the input a cos 2πft, for all pairs of frequency f and amplitude a.

        frequencies: f in Hz; by default, the band of the training inputs.
        amplitudes: a in the unit of the input; by default, up to the largest amplitude of the training inputs.
        channel: the index of the driven input. The other inputs are zero.
        harmonics: the number of harmonics of the response.
        warn: whether to warn if the steady part of the model is not physical.

        The response of an ensemble is the mean of its members. Raises LfnoError for a network whose steady layers are valid for
        the window length of the training data only.

        >>> import lfno
        >>> grid = lfno.Grid.line(64, dt=0.1)
        >>> model = lfno.Surrogate([lfno.LFNO(grid, width=4, modes=8, steady="exact")])
        >>> model.response([0.5, 0.8], [1.0, 2.0, 3.0]).amplitude.shape  # (amplitudes, frequencies, outputs)
        (3, 2, 1)
        """
        if warn and self.split_caveat:
            warnings.warn(self.split_caveat, stacklevel=2)
        frequencies = self.band_frequencies() if frequencies is None else frequencies
        amplitudes = self.typical_amplitudes(channel) if amplitudes is None else amplitudes
        found = [response(one, frequencies, amplitudes, channel=channel, harmonics=harmonics) for one in self.members]
        return Response(found[0].frequencies, found[0].amplitudes, np.mean([one.harmonics for one in found], axis=0))

    def backbone(
        self, frequencies: Any = None, amplitudes: Any = None, *, channel: int = 0, output: int = 0, warn: bool = True
    ) -> Backbone:
        """Return how frequency and damping of the dominant resonance change with the amplitude of the motion.

        frequencies, amplitudes, channel, warn: arguments of `response`.
        output: the index of the output that measures the motion.

        At each amplitude, the resonance is the frequency at which the displacement lags the input by a quarter of a cycle (see
        `lfno.evaluation.backbone`). Raises LfnoError if no amplitude has its resonance within the frequencies, or if more than
        one mode responds at the resonance.

        For a model with feedback of one signal, and without `frequencies` and `amplitudes`, the result is the curve of its
        strongest oscillation, by harmonic balance with one harmonic. In this case `channel` has no effect.
        """
        if warn and self.split_caveat:
            warnings.warn(self.split_caveat, stacklevel=2)
        first = self.members[0]
        given = frequencies is not None or amplitudes is not None
        if isinstance(first, FeedbackModel) and first.law.terms.count and len(first.law.pick) == 1 and not given:
            amplitude, frequency, ratio = first.backbone(output=output)
            return Backbone(amplitude, frequency / np.sqrt(np.maximum(1 - ratio**2, 1e-12)), ratio)
        ask = partial(self.response, channel=channel, harmonics=1, warn=False)
        return backbone(resolve(ask, ask(frequencies, amplitudes), output), output)

    def stabilisation(self, operating: float = 0.0, most: int = 24) -> Stabilisation:
        """Return the poles of realisations with 2, 4, … `most` states, fitted to the free decay after a small pulse.

        operating: a constant input; the pulse is added to this input.
        most: largest number of states.

        A mode of the model appears at every order above a certain order. The free decay of an ensemble is the mean of its
        members.
        """
        if self.grid.ndim > 1:
            raise LfnoError("a stabilisation diagram needs a model of signals in time, not of fields")

        def respond(inputs: np.ndarray) -> np.ndarray:
            return np.mean([_double(member).predict(inputs, self.grid) for member in self.members], axis=0)

        seen = pulse_response(respond, self.grid, SMALL * self._scale(), self.channels[0], operating)
        return stabilisation(seen.decay, seen.step, most)

    def band_frequencies(self, count: int = FREQUENCIES) -> np.ndarray:
        """Return `count` frequencies in Hz across the band of the training inputs, evenly spaced on a logarithmic axis."""
        axis = self.grid.axes[-1]
        told = trained_band(self.provenance)
        low, high = told or (1 / axis.length, min(CYCLES / axis.length, 0.4 / axis.step))
        if self.coverage and not told:
            high = max(frequency for channel in self.coverage.band[-1] for frequency in channel) or high
        low = max(low, 0.5 / axis.length)
        return np.geomspace(low, max(high, 2 * low), count)

    def typical_amplitudes(self, channel: int = 0) -> np.ndarray:
        """Return amplitudes of sine inputs. The largest sine stays within the peak and the rms of the training inputs."""
        if self.coverage and channel < len(self.coverage.peak):
            largest = min(self.coverage.peak[channel], np.sqrt(2) * self.coverage.rms[channel])
        else:
            largest = 2 * self._scale()
        return np.array(AMPLITUDES) * (largest or 1.0)

    def _scale(self) -> float:
        """Return the largest scale of an input channel.

        The scale is `input_scale` of the first network. For other models it is the largest rms of the training inputs, or 1 if
        the model file does not give an rms.
        """
        if self.networks:
            return float(self.networks[0].input_scale.max())
        return max(self.coverage.rms) or 1.0 if self.coverage else 1.0


def _double(member: Any) -> Any:
    """Return a network in double precision, for accurate differences of small responses. Return other members unchanged."""
    from copy import deepcopy

    if isinstance(member, Sum):
        return Sum(member.linear, _double(member.network))
    return deepcopy(member).double().eval() if isinstance(member, Operator) else member
