"""The hold of the input changes only if the data show that another hold is better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from lfno.data.stretches import Stretch
from lfno.identification.feedback.candidate import Bench, Candidate
from lfno.identification.feedback.initial import signal_scales
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.search import best_hold
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import cut
from tests.identification.feedback.test_sensor import STEP, held, law, simulated


def noisy(data: list[Stretch], share: float, seed: int) -> list[Stretch]:
    """Return the stretches with noise of the outputs, as a share of their RMS."""
    draw, size = np.random.default_rng(seed), np.sqrt(np.mean([one.outputs**2 for one in data]))
    return [
        Stretch(one.inputs, one.outputs + share * size * draw.normal(size=one.outputs.shape), start="rest") for one in data
    ]


def fitted(data: list[Stretch], hold: str, iterations: int) -> tuple[Bench, Candidate]:
    """Return windows for fits and a linear candidate with this hold, after some iterations from a wrong law."""
    bench = Bench(cut(data[:6], STEP, signal_scales(data), hold), cut(data[6:], STEP, signal_scales(data), hold))
    own: Law = law(Terms(1))
    structure = Structure(1, 1, Terms(1))
    wrong = structure.unpack(1.3 * structure.pack(own), own)
    return bench, bench.fit("linear", wrong, structure, hold, iterations=iterations)


def test_a_fit_that_has_not_converged_does_not_change_the_hold() -> None:
    """The input is constant between samples. The parent has the true hold, and only one iteration."""
    data = noisy(simulated(law(Terms(1)), np.random.default_rng(0).normal(size=(8, 2, 320))), 0.01, 0)
    bench, parent = fitted(data, "zero", 1)
    found = best_hold(bench, parent, lambda text: None)
    assert found.hold == "zero"
    assert found.cost <= parent.cost


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hold", ["linear", "cubic"])
def test_a_difference_below_its_standard_error_does_not_change_the_hold(hold: str, seed: int) -> None:
    """The input is so smooth that the outputs with the holds "linear" and "cubic" differ by far less than the noise."""
    smooth = lfilter(*([0.02**2], np.convolve([1, -0.98], [1, -0.98])), np.random.default_rng(seed).normal(size=(8, 2, 320)))
    data = noisy(simulated(law(Terms(1)), smooth), 0.1, seed)
    bench, parent = fitted(data, hold, 25)
    assert best_hold(replace(bench, holds=("linear", "cubic")), parent, lambda text: None).hold == hold


def test_a_wrong_hold_is_replaced() -> None:
    data = noisy(simulated(law(Terms(1)), held(8, 320, 1)), 0.01, 1)
    bench, parent = fitted(data, "linear", 25)
    assert best_hold(bench, parent, lambda text: None).hold == "zero"
