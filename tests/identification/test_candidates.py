"""The gain of a candidate pole is the fall of the sum of squares when the pole is added to the fit."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.identification import candidates
from lfno.identification.candidates import Candidates
from lfno.identification.projection import Projection


@pytest.mark.parametrize("kept", [candidates.MOST_KEPT, 0], ids=["in memory", "computed again"])
@pytest.mark.parametrize("poles", [[], [-0.5 + 0j, -0.1 + 2j]], ids=["first pole", "third pole"])
def test_gains_equal_the_fall_of_the_sum_of_squares(monkeypatch: pytest.MonkeyPatch, kept: int, poles: list[complex]) -> None:
    monkeypatch.setattr(candidates, "MOST_KEPT", kept)
    rng = np.random.default_rng(0)
    problem = Projection(rng.normal(size=(3, 2, 80)), rng.normal(size=(3, 2, 80)), 0.1, "linear", warmup=5)
    table = np.array([-1.0 + 0j, -0.2 + 3j, -0.4 + 0.7j])

    def squares(poles: list[complex]) -> float:
        return float((problem.residual_basis(np.array(poles, dtype=complex))[0] ** 2).sum())

    found = Candidates(problem, table)
    for _ in range(2):
        gains = found.gains(*problem.residual_basis(np.array(poles, dtype=complex)))
        assert gains == pytest.approx([squares(poles) - squares([*poles, one]) for one in table], rel=1e-6)
