"""The `repr` of what a user meets in a session is one short line."""

import numpy as np
import pytest

import lfno
from lfno.core.short import LONGEST
from lfno.data.dataset import Dataset
from lfno.systems import Duffing, ReactionDiffusion

GRID = lfno.Grid.line(128, dt=0.1)


@pytest.fixture(scope="module")
def met():
    """Objects of every kind, from a small data set and the models fitted to it."""
    forces = np.random.default_rng(0).normal(size=(20, 1, 128)).cumsum(-1) * 0.1
    outputs = Duffing(c=0.5).solve(forces, GRID)
    fits = [lfno.fit((forces, outputs), model, dt=0.1, minutes=0.1) for model in ("linear", "feedback")]
    network = lfno.load("duffing-c05-rich")
    surrogates = [*fits, network]
    answers = [model.ask(Dataset(forces[:1], outputs[:1], GRID)) for model in fits]
    fitted = fits[0].fitted
    return [
        GRID, *GRID.axes, ReactionDiffusion.grid, Duffing(), Dataset(forces, outputs, GRID), *surrogates, *answers,
        fitted, fitted.prepared, fitted.prepared.split, fitted.contest, *fitted.candidates, fits[0].scores,
        *(one for model in surrogates for one in (model.members[0], model.modes()[0], model.stream(model.grid.steps[0]))),
        Duffing(c=0.5).steady_state(forces, GRID), surrogates[2].backbone(), surrogates[2].response([0.1, 0.2], [1.0]),
        lfno.FNO(GRID, width=8), lfno.LNO(GRID, width=4), lfno.LFNO(GRID, width=8),
    ]  # fmt: skip


def test_a_repr_is_one_short_line(met):
    for one in met:
        assert "\n" not in repr(one)
        assert len(repr(one)) <= LONGEST, repr(one)
