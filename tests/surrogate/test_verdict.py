"""The verdict recommends one model. If the test errors contradict the validation errors, the verdict reports this."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.surrogate.candidates import Candidate, preferred
from lfno.surrogate.verdict import MODAL, verdict, worth


def judged(chosen: str, **errors: float) -> str:
    """Return the verdict on a chosen candidate.

    errors: the test error of each model and each baseline: RMSE divided by the standard deviation of the output.
    """
    names = ["linear", "feedback", "LFNO"]
    candidates = [Candidate(name, [], np.full(9, 0.1), 4, 1.0) for name in names if name in errors]
    rows = {MODAL if name == "linear" else name.replace("_", " "): {"nrmse": error} for name, error in errors.items()}
    return verdict(rows, next(one for one in candidates if one.name == chosen), candidates)


def test_a_network_that_is_better_than_linear_models_is_recommended() -> None:
    said = judged("LFNO", linear=0.3, LFNO=0.1, mean=1.0, best_linear_model=0.2)
    assert said.startswith("Use the LFNO")
    assert "2 times below that of “best linear model”" in said


def test_for_a_linear_system_the_linear_model_is_recommended() -> None:
    said = judged("linear", linear=0.0101, LFNO=0.0101, mean=1.0, best_linear_model=0.0102)
    assert said.startswith("Use the linear model")


@pytest.mark.parametrize(("low", "high", "words"), [
    (0.9, 1.1, "are as good as the best linear model"), (1.05, 1.3, "clearly worse"), (1.01, 1.1, "slightly worse"),
    (0.5, 0.9, "are better"), (0.7, 1.9, "too short to tell"), (0.95, 1.4, "too short to tell"),
])  # fmt: skip
def test_the_words_about_modes_follow_from_the_interval(low: float, high: float, words: str) -> None:
    ratio = np.sqrt(low * high)
    rows = {MODAL: {"nrmse": 0.1 * ratio}, "mean": {"nrmse": 1.0}, "best linear model": {"nrmse": 0.1, "ratio": [low, high]}}
    assert words in worth(rows, MODAL)
    assert f"{low:.3g} to {high:.3g}" in worth(rows, MODAL)


def test_a_best_linear_model_that_is_worse_than_the_mean_is_no_useful_baseline() -> None:
    said = judged("linear", linear=0.06, LFNO=0.07, mean=1.0, best_linear_model=7.8)
    assert "“best linear model” is no useful baseline here: its RMSE is 7.8 times that of the mean" in said
    assert "record more data" in said
    worst = judged("linear", linear=2.1, LFNO=2.2, mean=1.0, persistence=0.4, best_linear_model=2.9)
    assert "The modes are of no use on the test data: their RMSE is 2.1 times that of “mean”" in worst
    assert "no useful baseline" not in judged("linear", linear=0.06, LFNO=0.07, mean=1.0, best_linear_model=0.07)


def test_the_test_may_contradict_the_choice() -> None:
    said = judged("LFNO", linear=0.01, feedback=0.02, LFNO=0.08, mean=1.0)
    assert "Use the LFNO" not in said
    assert "8 times that of the linear model" in said


def test_a_model_that_loses_to_a_baseline_is_not_recommended() -> None:
    said = judged("LFNO", linear=0.075, feedback=0.083, LFNO=0.078, mean=1.0, best_linear_model=0.073)
    assert said.startswith("The validation data prefer the LFNO")
    assert "The LFNO is not worth its training" in said


@pytest.mark.parametrize("chosen", ["linear", "LFNO"])
def test_outputs_that_the_inputs_do_not_explain(chosen: str) -> None:
    said = judged(chosen, linear=1.9, LFNO=1.7, mean=1.0, best_linear_model=1.06)
    assert said.startswith("No model predicts these outputs")


def test_modes_without_another_linear_model_are_compared_with_the_best_baseline() -> None:
    """The sentence about modes does not speak of training, because modes are identified and not trained."""
    said = worth({MODAL: {"nrmse": 0.2}, "mean": {"nrmse": 1.0}, "persistence": {"nrmse": 1.5}}, MODAL)
    assert said == "The modes are better than the best baseline: their RMSE is 0.2 times that of “mean”."


def test_a_model_with_more_parameters_and_equal_errors_is_rarely_chosen() -> None:
    """The errors of two equally good models differ by chance. With 8 samples, the simpler model is kept in 19 of 20 cases."""
    rng = np.random.default_rng(0)
    errors = np.exp(0.1 * rng.normal(size=(1000, 2, 8)))
    chosen = [preferred([Candidate(name, [], e, 4, 1.0) for name, e in zip(("linear", "LFNO"), pair, strict=True)])[0].name
              for pair in errors]  # fmt: skip
    assert chosen.count("LFNO") < 50
