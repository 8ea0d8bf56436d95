"""The verdict recommends one model. If the test errors contradict the validation errors, the verdict reports this."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel, doubts, without_modes
from lfno.surrogate.candidates import Candidate, preferred
from lfno.surrogate.verdict import MODAL, verdict, worth


def judged(chosen: str, **errors: float) -> str:
    """Return the verdict on a chosen candidate.

    errors: the test error of each model and each baseline: RMSE divided by the standard deviation of the output.
    """
    names = ["linear", "feedback", "LFNO"]
    candidates = [Candidate(name, [], np.full(9, 0.1), 4, 1.0) for name in names if name in errors]
    rows = {name.replace("_", " "): {"nrmse": error} for name, error in errors.items()}
    return verdict(rows, next(one for one in candidates if one.name == chosen), candidates)


def test_a_network_that_is_better_than_linear_models_is_recommended() -> None:
    said = judged("LFNO", linear=0.3, LFNO=0.1, mean=1.0, linear_baseline=0.2)
    assert said.startswith("Use the LFNO")
    assert "smaller by a factor of 2 than that of “linear baseline”" in said


def test_for_a_linear_system_the_linear_model_is_recommended() -> None:
    said = judged("linear", linear=0.0101, LFNO=0.0101, mean=1.0, linear_baseline=0.0102)
    assert said.startswith("Use the linear model")


@pytest.mark.parametrize(("low", "high", "words"), [
    (0.9, 1.1, "is as good as the linear baseline"), (1.05, 1.3, "clearly worse"), (1.01, 1.1, "slightly worse"),
    (0.5, 0.9, "is better"), (0.7, 1.9, "too short to tell"), (0.95, 1.4, "too short to tell"),
])  # fmt: skip
def test_the_words_about_modes_follow_from_the_interval(low: float, high: float, words: str) -> None:
    ratio = np.sqrt(low * high)
    rows = {MODAL: {"nrmse": 0.1 * ratio}, "mean": {"nrmse": 1.0}, "linear baseline": {"nrmse": 0.1, "ratio": [low, high]}}
    assert words in worth(rows, MODAL)
    assert f"{low:.3g} to {high:.3g}" in worth(rows, MODAL)


def test_a_linear_baseline_that_is_worse_than_the_mean_is_no_useful_baseline() -> None:
    said = judged("linear", linear=0.06, LFNO=0.07, mean=1.0, linear_baseline=7.8)
    assert "“linear baseline” is no useful baseline here: its RMSE is 7.8 times that of the mean" in said
    assert "record more data" in said
    worst = judged("linear", linear=2.1, LFNO=2.2, mean=1.0, persistence=0.4, linear_baseline=2.9)
    assert "The linear model is of no use on the test data: its RMSE is 2.1 times that of “mean”" in worst
    assert "no useful baseline" not in judged("linear", linear=0.06, LFNO=0.07, mean=1.0, linear_baseline=0.07)


def test_the_test_may_contradict_the_choice() -> None:
    said = judged("LFNO", linear=0.01, feedback=0.02, LFNO=0.08, mean=1.0)
    assert "Use the LFNO" not in said
    assert "8 times that of the linear model" in said


def test_a_model_that_loses_to_a_baseline_is_not_recommended() -> None:
    said = judged("LFNO", linear=0.075, feedback=0.083, LFNO=0.078, mean=1.0, linear_baseline=0.073)
    assert said.startswith("Of the fitted models, the validation data prefer the LFNO")
    assert "But the LFNO is not worth its training: its RMSE is 1.07 times that of “linear baseline”" in said


@pytest.mark.parametrize("chosen", ["linear", "LFNO"])
def test_outputs_that_the_inputs_do_not_explain(chosen: str) -> None:
    said = judged(chosen, linear=1.9, LFNO=1.7, mean=1.0, linear_baseline=1.06)
    assert said.startswith("No model predicts these outputs")


def test_modes_without_another_linear_model_are_compared_with_the_best_baseline() -> None:
    """The sentence about the linear model does not speak of training, because modes are identified and not trained."""
    said = worth({MODAL: {"nrmse": 0.2}, "mean": {"nrmse": 1.0}, "persistence": {"nrmse": 1.5}}, MODAL)
    assert said == "The linear model is better than the best baseline: its RMSE is 0.2 times that of “mean”."


def test_a_model_with_more_parameters_and_equal_errors_is_rarely_chosen() -> None:
    """The errors of two equally good models differ by chance. With 8 samples, the simpler model is kept in 19 of 20 cases."""
    rng = np.random.default_rng(0)
    errors = np.exp(0.1 * rng.normal(size=(1000, 2, 8)))
    chosen = [preferred([Candidate(name, [], e, 4, 1.0) for name, e in zip(("linear", "LFNO"), pair, strict=True)])[0].name
              for pair in errors]  # fmt: skip
    assert chosen.count("LFNO") < 50


def candidates(*errors: tuple[str, list[float]]) -> list[Candidate]:
    """Return candidates with these validation errors, the simplest one first."""
    return [Candidate(name, [], np.array(values), 4, 1.0) for name, values in errors]


def test_a_simpler_model_with_twice_the_error_is_refused() -> None:
    """With few validation samples the difference is within two standard errors, but an error twice as large is a real loss."""
    found = candidates(("linear", [0.05, 0.05, 0.30, 0.12]), ("LFNO", [0.06, 0.06, 0.05, 0.07]))
    assert preferred(found)[0].name == "LFNO"


def test_the_reason_contains_the_rule_that_was_used() -> None:
    simple, rich = candidates(("linear", [1.0, 1.3, 0.9, 1.0]), ("LFNO", [0.95, 1.0, 0.95, 1.0]))
    chosen, why = preferred([simple, rich])
    assert chosen is simple
    assert why.startswith("linear is chosen: it is simpler than LFNO, and its validation error is only 8 % larger")
    assert "within two standard errors of 4 validation samples" in why
    rows = {"linear": {"nrmse": 0.11}, "LFNO": {"nrmse": 0.1}, "mean": {"nrmse": 1.0}}
    assert why.removeprefix("linear is chosen: ") in verdict(rows, simple, [simple, rich])
    rich = candidates(("LFNO", [0.05, 0.1, 0.05, 0.1]))[0]
    assert "it has the lowest validation error (linear 1.05, LFNO 0.075)" in preferred([simple, rich])[1]


@pytest.mark.parametrize("optimism", [1.0, 0.8, 0.6])
@pytest.mark.parametrize("spread", [0.1, 0.5, 1.0])
def test_the_limit_of_the_loss_gives_models_that_are_better_on_new_data(
    optimism: float, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated pairs of models, with known errors on new data. The mean loss is smaller than without the limit.

    optimism: the validation errors of the richer model, divided by its errors on new data, lie between this factor and 1.
    spread: the standard deviation of the logarithm of the ratio of the two true errors.
    """
    rng = np.random.default_rng(0)
    losses: dict[float, list[float]] = {1.2: [], np.inf: []}
    for _ in range(2000):
        true = np.exp(rng.normal(0, spread) * np.array([0.5, -0.5]))
        width, shared, count = rng.uniform(0.05, 1), rng.uniform(0, 0.95), rng.integers(2, 25)
        draws = np.sqrt(1 - shared) * rng.normal(size=(2, count)) + np.sqrt(shared) * rng.normal(size=count)
        errors = true[:, None] * np.array([[1.0], [rng.uniform(optimism, 1)]]) * np.exp(width * draws - width**2 / 2)
        found = [Candidate(name, [], row, 4, 1.0) for name, row in zip(("linear", "LFNO"), errors, strict=True)]
        for limit, seen in losses.items():
            monkeypatch.setattr("lfno.surrogate.candidates.LARGEST_LOSS", limit)
            seen.append(np.log(true[found.index(preferred(found)[0])] / true.min()))
    assert np.mean(losses[1.2]) < np.mean(losses[np.inf])


def test_a_linear_model_without_modes_is_said_in_words() -> None:
    """The model predicts the mean of the output."""
    modes = Modes(np.zeros(0), np.zeros((1, 1, 0)), np.zeros((1, 1)), np.zeros(0), 1.0, "zero")
    model = ModalModel(modes, np.zeros(1), np.zeros(1), Grid.line(64, 0.1))
    one = Candidate("linear", [model], np.ones(3), 0, 1.0)
    rows = {"linear": {"nrmse": 1.0}, "mean": {"nrmse": 1.0}, "linear baseline": {"nrmse": 0.4}}
    assert verdict(rows, one, [one]).startswith("The linear model has no modes: it found no linear effect of the input")
    assert doubts(modes, 10.0, "s") == [without_modes(modes)]


def test_without_measured_validation_outputs_the_simplest_candidate_is_chosen() -> None:
    candidates = [Candidate(name, [], np.zeros(0), 4, 1.0) for name in ("linear", "LFNO")]
    chosen, why = preferred(candidates)
    assert chosen.name == "linear"
    assert "no measured outputs" in why
