"""Linear models predict the windows of a record with the inputs before each window, from the correct initial state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.grid import Grid
from lfno.data.prepare import prepare
from lfno.data.signals.record import Record
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel, identify_signals
from lfno.surrogate import Surrogate
from lfno.surrogate.candidates import linear_candidate
from lfno.surrogate.contest import contest_record
from lfno.surrogate.responses import responses
from lfno.systems.base import Channel
from lfno.training.labels import Samples
from tests.data.laboratory import periods

#: sampling step in seconds
STEP = 0.02
#: pole of u″ + 0.6 u′ + 36 u = 36 f: 6 rad/s with 5 % damping; a free motion dies away in about 19 s
POLE = -0.3 + 1j * np.sqrt(36 - 0.09)


def record(size: int = 4000, before: int = 2000, noise: float = 0.01, drift: float = 0.0, gap: slice | None = None) -> Record:
    """Return a record of the oscillator with the pole POLE. The oscillator is in motion at the first sample.

    The memory of the oscillator is longer than a window of this short record.

    before: number of simulated samples before the record; the simulation starts from rest.
    noise: standard deviation of the noise, relative to the standard deviation of the motion.
    drift: growth of the output in each sample, in addition to the motion.
    gap: samples without a measured output.
    """
    rng = np.random.default_rng(0)
    force = np.convolve(rng.normal(size=size + before), np.hanning(20), "same")
    motion = lsim(([36.0], [1.0, 0.6, 36.0]), force, STEP * np.arange(size + before))[1]
    force, motion = force[before:], motion[before:]
    motion = motion + noise * motion.std() * rng.normal(size=size) + drift * np.arange(size)
    mask = None
    if gap is not None:
        mask = np.ones((1, size), bool)
        mask[:, gap] = False
    return Record(force[None], motion[None], Grid.line(size, STEP), (Channel("f"),), (Channel("u"),), mask=mask)


@pytest.mark.parametrize("gap", [None, slice(700, 1300)])
def test_a_linear_model_has_the_error_of_the_noise(gap: slice | None) -> None:
    """The error of the predictions equals the noise, although the warm-up is shorter than the memory of the system.

    The second case has a gap of 12 s in the outputs.
    """
    measured = record(gap=gap)
    prepared = prepare(measured)
    assert prepared.memory > prepared.warmup
    candidate = linear_candidate(prepared)
    rows = prepared.split.validation
    missed = (responses(candidate.members[0], prepared, rows) - prepared.dataset.outputs[rows])[..., prepared.warmup :]
    assert np.sqrt((missed**2).mean()) == pytest.approx(0.01 * measured.outputs.std(), rel=0.15)
    poles = candidate.members[0].modes.poles
    assert len(poles) == 1
    assert poles[0] == pytest.approx(POLE, rel=1e-3)


def test_an_initial_motion_does_not_disturb_the_identification() -> None:
    prepared = prepare(record(noise=0.0))
    model = identify_signals(prepared, ("train",))
    assert model.modes.poles[0] == pytest.approx(POLE, rel=1e-6)
    answer = responses(model, prepared, np.arange(len(prepared.dataset)))
    missed = (answer - prepared.dataset.outputs)[..., prepared.warmup :]
    assert np.abs(missed).max() < 1e-5 * np.abs(prepared.dataset.outputs).max(), "the first window includes the initial motion"


@pytest.mark.long
def test_an_estimated_initial_state_does_not_imitate_a_drift() -> None:
    """A slow decay from a large initial state fits a drift. A prediction from rest lacks this state and has a large error."""
    prepared = prepare(record(drift=0.01))
    assert linear_candidate(prepared).error < 2


def positioner(size: int = 1000) -> Record:
    """Return the record of a mass that a controller moves between positions, with a noisy sensor.

    The equation is ẍ = −7 u. The input u is constant between samples.
    """
    rng, step = np.random.default_rng(7), 0.1
    targets = np.repeat(0.03 * rng.normal(size=size // 50), 50)
    force, motion, x, v = np.zeros(size), np.zeros(size), 0.0, 0.0
    for k, target in enumerate(targets):
        force[k] = 0.2 * (x - target) + 0.25 * v + 0.02 * rng.normal()
        motion[k] = x
        x, v = x + v * step - 3.5 * force[k] * step**2, v - 7 * force[k] * step
    channels = (Channel("u", ""),), (Channel("x", "m"),)
    return Record(force[None], motion[None] + 5e-4 * rng.normal(size=size), Grid.line(size, step), *channels, {"name": "mass"})


@pytest.mark.parametrize("first", [0, 60])
def test_two_integrators_in_a_control_loop_are_identified(first: int) -> None:
    """The system never forgets its initial state. In validation and test, all training samples determine this state."""
    measured = positioner().part(first, 1000)
    prepared = prepare(measured, from_rest=first == 0)
    candidate = linear_candidate(prepared)
    assert candidate.error < 0.15
    member = candidate.members[0]
    result = contest_record(Surrogate([member]), prepared, "linear")[0]
    assert result.rows["linear"]["nrmse"] < 0.1 * result.rows["mean"]["nrmse"]
    pulse = np.zeros((1, 1, 300))
    pulse[..., 5] = 1.0
    speed = np.diff(member.predict(pulse + member.input_offset[0])[0, 0])[8:] / 0.1  # a pulse of 0.1 s, then a constant speed
    np.testing.assert_allclose(speed, -0.7, rtol=0.1)


def test_whole_periods_are_predicted_in_steady_state() -> None:
    """For a linear system without noise, the steady response to a period is exact. Networks train on the steady part only."""
    prepared = prepare([periods(400, 4, seed) for seed in range(4)])
    dataset = prepared.dataset
    assert dataset.provenance[SAMPLE_START] == PERIODIC
    assert dataset.inputs.shape[-1] == 400
    labels = Samples.of(dataset).arrays()
    assert "y" not in labels
    assert labels["steady"] is dataset.outputs
    candidate = linear_candidate(prepared)
    assert candidate.error < 1e-3
    rows = prepared.split.test
    answer = responses(candidate.members[0], prepared, rows)
    assert np.linalg.norm(answer - dataset.outputs[rows]) < 1e-3 * np.linalg.norm(dataset.outputs[rows])


def pendulum(size: int = 3000) -> tuple[Record, ModalModel]:
    """Return a noisy record of a damped oscillator that starts in motion, and a model of the oscillator.

    The model has the correct pole and a second, false one: an undamped slow pole.
    """
    measured = record(size, noise=0.2)
    poles, residues = np.array([POLE, -1e-9 + 0.02j]), np.array([[[36 / 1j / POLE.imag, 0.0]]])
    modes = Modes(poles, residues, np.zeros((1, 1)), np.ones(2), 0.0, "linear")
    return measured, ModalModel(modes, np.zeros(1), np.zeros(1), measured.grid)


def test_an_undamped_pole_does_not_carry_the_noise_of_the_warm_up_through_the_record() -> None:
    """After the memory of the system, `responses` sets the free motion of the undamped pole to zero, and equals `predict`."""
    measured, model = pendulum()
    prepared = prepare(measured, window=300, warmup=100)
    rows, warm = prepared.split.validation, prepared.warmup
    starts = prepared.dataset.parameters["start"][rows].astype(int)
    assert starts.min() > 2 * prepared.memory
    predicted = model.predict(measured.inputs[None])[0]
    expected = np.stack([predicted[:, start : start + 300] for start in starts])
    # the motion of the damped pole has decayed to e⁻¹² there
    np.testing.assert_allclose(responses(model, prepared, rows)[..., warm:], expected[..., warm:], atol=1e-4)


@pytest.mark.parametrize("test", ["0:12", "48:60"])
def test_validation_and_test_use_the_same_predictions(test: str) -> None:
    """The prediction of the whole test part of a record equals the predictions of the windows that cover this part."""
    measured, model = pendulum()
    prepared = prepare(measured, window=300, warmup=100, test=test)
    start = (prepared.stretch or (0, 0))[0]
    found = contest_record(Surrogate([model]), prepared, "linear")[0].prediction[0]
    rows = prepared.split.test
    places = prepared.dataset.parameters["start"][rows].astype(int)
    answers = responses(model, prepared, rows)
    for place, answer in zip(places, answers, strict=True):
        shift = place - start
        np.testing.assert_allclose(answer[:, 100:], found[:, shift : shift + 200], atol=1e-9)
