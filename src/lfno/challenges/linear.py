"""Linear models of a benchmark: modes with an unknown initial state, and a frequency response for periodic records."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lfno.challenges.band import DECIMATION, band_modes, decimation
from lfno.challenges.protocol import Question, Record, Training
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.files.variables import counted
from lfno.identification.identify import Modes, identify
from lfno.identification.periodic import PeriodicResponse, choose_width, fit_periodic
from lfno.identification.response import interpolate, pole_response

#: largest number of poles of a linear model
MOST_POLES = 12
#: largest number of modes of a linear model of long records in a small band
MOST_BAND_MODES = 16
#: largest number of samples, of all training records together, in the fit of a linear model; more of them do not help
MOST_POINTS = 40_000
#: smallest number of samples of a piece of a record, see `pieces`; all pieces are shorter if the shortest record is shorter
FEWEST_POINTS = 2000
#: number of periods that a model simulates from rest before the period that counts as steady
SETTLING = 2


@dataclass(frozen=True)
class LinearModes:
    """A model that predicts: output offset + response of the modes to (inputs − input offset) + free motion.

    The free motion is the response to the initial state of the record.

    modes: the identified modes.
    input_offset: (inputs, 1).
    output_offset: (outputs, 1).
    step: the sampling interval in seconds.
    spread: covariance of the coefficients of the free motions, (outputs, columns, columns), see `state_spread`. The columns are
        the functions of `free_motions`.
    noise: variance of the residual of each output, (outputs,).
    """

    modes: Modes
    input_offset: np.ndarray
    output_offset: np.ndarray
    step: float
    spread: np.ndarray
    noise: np.ndarray

    @property
    def description(self) -> str:
        """Return the model in words."""
        if not len(self.modes.poles):
            return "constant, the mean output: no linear model explains the training records"
        return f"linear model of {counted(len(self.modes.poles), 'pole')}"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the response from rest plus the free motion, (outputs, time).

        The free motion is estimated from the first outputs by regularised least squares. The regularisation uses the
        covariance of the states on the training records (`spread`) and the variance of the noise. So a few noisy samples
        cannot produce a large free motion of a weakly observable mode. A periodic record has no free motion.
        """
        inputs = question.inputs - self.input_offset
        if not len(self.modes.poles):
            return np.tile(self.output_offset, inputs.shape[-1])
        if question.period:
            period = inputs[:, : question.period]
            steady = self.modes.simulate(np.tile(period, SETTLING + 1)[None], self.step)[0, :, -question.period :]
            return self.output_offset + np.tile(steady, inputs.shape[-1] // question.period)
        answer = self.output_offset + self.modes.simulate(inputs[None], self.step)[0]
        given = question.first_outputs.shape[-1]
        if question.rest or not given:
            return answer
        basis = free_motions(self.modes.poles, inputs.shape[-1], self.step)
        seen = basis[:, :given]
        for output, missing in enumerate(question.first_outputs - answer[:, :given]):
            gain = self.spread[output] @ seen
            matrix = seen.T @ gain + self.noise[output] * np.eye(given)
            answer[output] += np.linalg.lstsq(matrix, missing, rcond=1e-14)[0] @ gain.T @ basis
        return answer


def free_motions(poles: np.ndarray, size: int, step: float) -> np.ndarray:
    """Return the free motions of the poles μ over time, (columns, size): Re e^{μ t}, and −Im e^{μ t} for complex poles."""
    waves = np.exp(np.outer(poles, step * np.arange(size)))
    return np.concatenate([waves.real, -waves.imag[poles.imag != 0]])


def state_spread(modes: Modes, inputs: np.ndarray, step: float) -> np.ndarray:
    """Return the covariance (about zero) of the coefficients of the free motions, (outputs, columns, columns).

    The contribution of a mode to an output is Re w(t), where w(t) is the complex state of the mode times its residue. If the
    inputs stopped at time t, the mode would continue with the free motion Re(w(t) e^{μ τ}), τ ≥ 0. So Re w and Im w are the
    coefficients of the free motions.

    Args:
        modes: The identified modes.
        inputs: Inputs of the training records, (samples, inputs, time).
        step: The sampling interval in seconds.
    """
    pieces = interpolate(inputs, step, modes.hold)
    waves = []
    for pole, residue in zip(modes.poles, np.moveaxis(modes.residues, -1, 0), strict=True):
        response = pole_response(pole, pieces, step)[0]
        waves.append(np.einsum("oi,sit->ost", residue, response).reshape(len(residue), -1))
    if not waves:
        return np.zeros((len(modes.direct), 0, 0))
    stack = np.stack(waves, 1)  # (outputs, modes, points)
    states = np.concatenate([stack.real, stack.imag[:, modes.poles.imag != 0]], axis=1)
    return np.einsum("oap,obp->oab", states, states) / states.shape[-1]


def pieces(records: tuple[Record, ...]) -> list[Record]:
    """Return pieces of equal length of the records, with about MOST_POINTS samples in total.

    Each record gives one piece. If these were more than MOST_POINTS samples, only some of the records are used, evenly spread
    over all. The piece of a record that begins at rest is its beginning. In other records, the piece starts later than in the
    record before. The pieces of similar records, such as sweeps, therefore cover all parts of a record together.
    """
    shortest = min(len(record) for record in records)
    size = min(shortest, max(MOST_POINTS // len(records), FEWEST_POINTS))
    used = [records[k] for k in np.unique(np.linspace(0, len(records) - 1, max(1, MOST_POINTS // size)).astype(int))]
    shares = np.linspace(0, 1, len(used))
    starts = [0 if record.rest else int(share * (len(record) - size)) for record, share in zip(used, shares, strict=True)]
    return [record.cut(start, start + size) for record, start in zip(used, starts, strict=True)]


def fit_modes(training: Training) -> LinearModes:
    """Return linear modes, fitted to records of any initial state and length.

    The free motion of a record equals the response of the modes to a pulse at the first sample. Every record that does not
    begin at rest therefore gets an extra input channel with a pulse; the residues of these channels are dropped later.
    If there is such a record, one more extra channel is constant. The steady response to this channel is the offset of the
    outputs. If all records begin at rest, the offsets are zero. Long records that are not periodic and whose signals occupy a
    small band are fitted by `fit_band`.
    """
    if sum(map(len, training.records)) > MOST_POINTS and not training.records[0].period:
        factor = decimation(training.records)
        if factor >= DECIMATION:
            return fit_band(training, factor)
    records = pieces(training.records)
    size = len(records[0])
    inputs, outputs = np.stack([record.inputs for record in records]), np.stack([record.outputs for record in records])
    moving = [row for row, record in enumerate(records) if not record.rest]
    before = inputs.mean((0, 2))[:, None] * bool(moving)
    after = outputs.mean((0, 2))[:, None] * bool(moving)
    inputs = inputs - before
    own, unit = inputs.shape[1], float(inputs.std()) or 1.0
    extra = np.zeros((len(records), len(moving) + bool(moving), size))
    extra[:, :1] = unit
    for column, row in enumerate(moving, 1):
        extra[row, column, 0] = unit
    line = Grid.line(size, training.step)
    found = identify(np.concatenate([inputs, extra], axis=1), outputs - after, line, max_poles=MOST_POLES)
    if not len(found.poles):  # no linear relation between inputs and outputs, for example for a speed without its sign
        found = replace(found, direct=np.zeros_like(found.direct), error=1.0)
    if moving and len(found.poles):
        after = after + unit * found.frequency_response(np.zeros(1), training.step)[:, own].real
    modes = replace(found, residues=found.residues[:, :own], direct=found.direct[:, :own])
    noise = (found.error * outputs.std((0, 2))) ** 2
    return LinearModes(modes, before, after, training.step, state_spread(modes, inputs, training.step), noise)


def fit_band(training: Training, factor: int) -> LinearModes:
    """Return linear modes, fitted to long records that are decimated by `factor`."""
    means = []
    for role in ("inputs", "outputs"):
        means.append(np.concatenate([getattr(record, role) for record in training.records], -1).mean(-1, keepdims=True))
    centred = [replace(r, inputs=r.inputs - means[0], outputs=r.outputs - means[1]) for r in training.records]
    modes, inputs, outputs = band_modes(centred, training.step, factor, MOST_BAND_MODES)
    noise = (modes.error * outputs.std((0, 2))) ** 2
    spread = state_spread(modes, inputs, factor * training.step)
    return LinearModes(modes, means[0], means[1], training.step, spread, noise)


@dataclass(frozen=True)
class SteadyResponse:
    """A frequency response as a model for records in periodic steady state."""

    response: PeriodicResponse

    @property
    def description(self) -> str:
        """Return the model in words."""
        degree = len(self.response.coefficients) - 1
        kind = "frequency response that depends on the level" if degree else "frequency response"
        return f"{kind}, local polynomials over ±{self.response.width} lines"

    def simulate(self, question: Question) -> np.ndarray:
        """Return the steady response to the mean input period, repeated to the length of the record."""
        if not question.period:
            raise LfnoError("a frequency response can predict records in periodic steady state only")
        repeats = question.inputs.shape[-1] // question.period
        periods = question.inputs.reshape(len(question.inputs), repeats, question.period).mean(1)
        return np.tile(self.response.simulate(periods[None])[0], repeats)


def stacked(records: tuple[Record, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean periods of inputs and outputs, each (records, channels, period)."""
    means = [record.averaged() for record in records]
    return np.stack([record.inputs for record in means]), np.stack([record.outputs for record in means])


def level_degree(training: Training) -> int:
    """Return the polynomial degree in the input level that the training records support: levels − 1, at most 2."""
    levels = {round(float(np.log10(record.inputs.std() or 1.0)), 1) for record in training.records}
    return min(2, len(levels) - 1)


def fit_response(kept: Training, held: Training, training: Training, degree: int) -> tuple[SteadyResponse, SteadyResponse]:
    """Fit two frequency responses, one to the kept records and one to all records.

    Both frequency responses have the width (see `periodic.fit_periodic`) with the smallest error on the held-out records.
    """
    pair = stacked(kept.records)
    width = choose_width(*pair, *stacked(held.records), degree)
    return (
        SteadyResponse(fit_periodic(*pair, degree, width)),
        SteadyResponse(fit_periodic(*stacked(training.records), degree, width)),
    )
