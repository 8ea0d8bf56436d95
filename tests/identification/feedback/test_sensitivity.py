"""The derivatives of the simulation equal finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from lfno.identification.feedback.hold import pieces
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.sensitivity import state_sensitivities
from lfno.identification.feedback.simulate import simulate, substep_pieces
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms, monomials

#: groups of parameters that change the simulated states, in the order of the vector
GROUPS = ("decay", "swing", "drive", "gains", "pick", "shape")


def some_law(terms: Terms, rank_one: bool, inputs: int = 2) -> Law:
    """Return a law with one decay, one oscillation and random couplings."""
    draw = np.random.default_rng(3)
    poles, q = np.array([-0.7 + 0j, -0.2 + 2j]), terms.count
    gains = np.outer(draw.normal(size=3), np.r_[1.0, draw.normal(size=q - 1)]) if rank_one else draw.normal(size=(3, q))
    drive = draw.normal(size=(2, inputs)) + 1j * draw.normal(size=(2, inputs)) * [[0], [1]]
    limits = np.tile([-3.0, 3.0], (terms.signals, 1))
    gains = (0.05 if rank_one else 0.005) * gains
    return Law(
        poles, drive, gains, draw.normal(size=(terms.signals, 3)), draw.normal(size=terms.shapes),
        draw.normal(size=(1, 3)), np.zeros((1, inputs)), np.zeros(1), np.zeros(3), limits, terms,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "rank_one", "limit"),
    [
        (Terms(1, powers=((3,), (2,))), True, 3.0),
        (Terms(1, powers=((3,),), sines=(0,), units=2), True, 3.0),
        (Terms(2, powers=monomials(2, (2, 3)), moduli=((0, 1), (1, 0))), False, 3.0),
        (Terms(1, units=1, knees=(0, 0)), True, 3.0),
        (Terms(2, powers=((3, 0),), knees=(0, 1, 1)), False, 3.0),
        # z exceeds these limits; terms of bounded slope, such as tanh units, have no limits
        (Terms(1, powers=((3,), (2,))), True, 0.3),
        (Terms(2, powers=monomials(2, (2, 3)), moduli=((0, 1), (1, 0))), False, 0.3),
    ],
)
def test_sensitivities_equal_finite_differences(terms: Terms, rank_one: bool, limit: float) -> None:
    law, structure, step, every = some_law(terms, rank_one), Structure(1, 1, terms, rank_one), 0.2, 2
    law = replace(law, limits=np.tile([-limit, limit], (terms.signals, 1)))
    draw = np.random.default_rng(0)
    steps = np.moveaxis(pieces(0.4 * draw.normal(size=(3, 2, 30)), step, "cubic"), 2, 0)
    parts, span = substep_pieces(steps, step, every), step / every
    start = 0.3 * draw.normal(size=(3, 3))

    def run(vector: np.ndarray, begin: np.ndarray) -> np.ndarray:
        return simulate(structure.unpack(vector, law), parts, span, begin)

    vector = structure.pack(law)
    states = run(vector, start)
    found = state_sensitivities(law, structure, parts, span, states, every)
    sizes = structure.sizes(2, 1)
    count = sum(sizes[name] for name in GROUPS)
    assert found.shape == (30, 3, 3, 3 + count)
    for column in range(count):
        change = 1e-6 * np.eye(len(vector))[column]
        slope = (run(vector + change, start) - run(vector - change, start))[::every] / 2e-6
        assert np.abs(found[..., 3 + column] - slope).max() < 1e-6 * (1 + np.abs(slope).max())
    for column in range(3):
        change = 1e-6 * np.eye(3)[column]
        slope = (run(vector, start + change) - run(vector, start - change))[::every] / 2e-6
        assert np.abs(found[..., column] - slope).max() < 1e-6 * (1 + np.abs(slope).max())


def test_simulation_solves_the_differential_equation() -> None:
    """The error of the states of a strongly nonlinear law falls with the fourth power of the sub-step."""
    law = replace(some_law(Terms(1, powers=((3,),)), True), limits=np.array([[-100.0, 100.0]]))
    steps = np.moveaxis(pieces(0.3 * np.random.default_rng(0).normal(size=(2, 2, 40)), 0.2, "linear"), 2, 0)
    runs = [simulate(law, substep_pieces(steps, 0.2, n), 0.2 / n, np.ones((2, 3)))[::n] for n in (2, 4, 32)]
    coarse, fine = (np.abs(run - runs[-1]).max() for run in runs[:2])
    assert fine < 1e-4
    assert 10 < coarse / fine < 30


def test_feedback_of_several_signals_keeps_the_states_bounded() -> None:
    """Let g be the largest |φ|. Every state then stays below (|B| u + |Γ| g) / |Re μ|, where u is the largest input."""
    law = some_law(Terms(2, powers=monomials(2, (2, 3))), False)
    law = replace(law, gains=200 * law.gains)
    steps = np.moveaxis(pieces(50 * np.random.default_rng(0).normal(size=(2, 2, 400)), 0.2, "zero"), 2, 0)
    states = simulate(law, substep_pieces(steps, 0.2, 4), 0.05, np.zeros((2, 3)))
    largest = np.abs(law.terms.values(np.array([[3.0, 3.0]]), law.shape))
    push = np.abs(law.drive).sum(1).max() * np.abs(steps).max() + np.linalg.norm(np.abs(law.gains) @ largest[0])
    assert np.abs(states).max() < 1.1 * push / 0.2
