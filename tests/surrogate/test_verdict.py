"""The verdict names one model, and says where the test contradicts the validation data."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.surrogate.candidates import Candidate
from lfno.surrogate.verdict import MODAL, verdict


def judged(chosen: str, **errors: float) -> str:
    """The verdict on test errors (RMSE over RMS) of a chosen candidate, its rivals and the baselines."""
    names = ["linear", "feedback", "LFNO"]
    candidates = [Candidate(name, [], np.full(9, 0.1), 4, 1.0) for name in names if name in errors]
    rows = {MODAL if name == "linear" else name.replace("_", " "): {"nrmse": error} for name, error in errors.items()}
    return verdict(rows, next(one for one in candidates if one.name == chosen), candidates)


def test_a_network_that_is_better_than_linear_models_earns_its_keep() -> None:
    said = judged("LFNO", linear=0.3, LFNO=0.1, mean=1.0, best_linear_model=0.2)
    assert said.startswith("Use the LFNO")
    assert "2 times below that of “best linear model”" in said


def test_a_linear_system_asks_for_the_linear_model() -> None:
    said = judged("linear", linear=0.0101, LFNO=0.0101, mean=1.0, best_linear_model=0.0102)
    assert said.startswith("Use the linear model")
    assert "as good as any linear model" in said


def test_the_test_may_contradict_the_choice() -> None:
    said = judged("LFNO", linear=0.01, feedback=0.02, LFNO=0.08, mean=1.0)
    assert "Use the LFNO" not in said
    assert "8 times that of the linear model" in said


@pytest.mark.parametrize("chosen", ["linear", "LFNO"])
def test_outputs_that_the_inputs_do_not_explain(chosen: str) -> None:
    said = judged(chosen, linear=1.9, LFNO=1.7, mean=1.0, best_linear_model=1.06)
    assert said.startswith("No model predicts these outputs")
