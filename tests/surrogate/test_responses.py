"""Models with memory answer windows with the past that these windows really had."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.grid import Grid
from lfno.data.prepare import prepare
from lfno.data.signals.record import Record
from lfno.data.stretches import PERIODIC, SAMPLE_START
from lfno.identification.modal import identify_signals
from lfno.surrogate.candidates import linear_candidate
from lfno.surrogate.responses import responses
from lfno.systems.base import Channel
from lfno.training.labels import Samples
from tests.data.laboratory import periods

STEP = 0.02
POLE = -0.3 + 1j * np.sqrt(36 - 0.09)  # 6 rad/s with 5 % damping: forgotten after 19 s


def record(size: int = 4000, before: int = 2000, noise: float = 0.01, drift: float = 0.0, gap: slice | None = None) -> Record:
    """An oscillator in motion at its first sample, which remembers for longer than a window of so short a record lasts."""
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
    """Although a window warms up for less time than the system remembers, and across a gap of 12 s."""
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


def test_without_noise_the_system_is_found_in_spite_of_its_initial_motion() -> None:
    prepared = prepare(record(noise=0.0))
    model = identify_signals(prepared, ("train",))
    assert model.modes.poles[0] == pytest.approx(POLE, rel=1e-6)
    answer = responses(model, prepared, np.arange(len(prepared.dataset)))
    missed = (answer - prepared.dataset.outputs)[..., prepared.warmup :]
    assert np.abs(missed).max() < 1e-5 * np.abs(prepared.dataset.outputs).max(), "the first window knows how it starts"


@pytest.mark.long
def test_an_estimated_start_does_not_imitate_a_drift() -> None:
    """A slow decay from a large initial state fits a drift, but from rest it is wrong by its whole size."""
    prepared = prepare(record(drift=0.01))
    assert linear_candidate(prepared).error < 2


def test_whole_periods_are_answered_in_steady_state() -> None:
    """Of a linear system, the steady response to a period without noise is exact, and networks learn nothing else."""
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
