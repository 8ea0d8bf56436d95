"""The methods that fit a model to training records. A method never receives a test record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lfno.challenges.fitted import Fit, Fitted, Settings, mean_score
from lfno.challenges.guard import guarded
from lfno.challenges.linear import fit_modes, fit_response, level_degree
from lfno.challenges.protocol import Training, figures, is_white
from lfno.core.errors import LfnoError

#: a network is chosen only if its validation error is below this part of the error of the best model without a network
WORTH = 0.95
#: exceptions that end the fit of one model and not the comparison of all models
FAILURES = (LfnoError, ArithmeticError, MemoryError, np.linalg.LinAlgError)


def fit_linear(training: Training, settings: Settings) -> Fitted:
    """Return a linear model of all training records. A fit without the held-out data gives the validation figures."""
    kept, held = training.split()
    if training.periodic:
        first, final = fit_response(kept, held, training, degree=0)
    else:
        first, final = fit_modes(kept), fit_modes(training)  # type: ignore[assignment]
    validation = figures(first, held.records, training.skip, training.scale)
    return Fitted([final], validation, {"method": "linear", "model": final.description}, first)


def fit_level(training: Training, settings: Settings) -> Fitted:
    """Return a frequency response that depends on the input level, for periodic records of several levels."""
    degree = level_degree(training) if training.periodic else 0
    if not degree:
        raise LfnoError("the method level needs periodic training records of several levels; choose linear or lfno")
    kept, held = training.split()
    first, final = fit_response(kept, held, training, degree)
    validation = figures(first, held.records, training.skip, training.scale)
    return Fitted([final], validation, {"method": "level", "model": final.description}, first)


def fit_rectified(training: Training, settings: Settings) -> Fitted:
    """Return the absolute value of a linear model, for a sensor that does not measure the sign of the output."""
    from lfno.challenges import rectified

    if training.periodic or not rectified.applies(training):
        raise LfnoError("the method rectified needs outputs that are absolute values: never below zero, and often near it")
    kept, held = training.split()
    first, final = rectified.fit_rectified(kept), rectified.fit_rectified(training)
    validation = figures(first, held.records, training.skip, training.scale)
    return Fitted([final], validation, {"method": "rectified", "model": final.description}, first)


def fit_feedback(training: Training, settings: Settings) -> Fitted:
    """Return modes with feedback: linear modes in a loop with a static nonlinearity. The model has few parameters."""
    from lfno.challenges.feedback import fit_modes_with_feedback

    return fit_modes_with_feedback(training, settings)


def fit_lfno(training: Training, settings: Settings, known: Sequence[Fitted] = ()) -> Fitted:
    """Return LFNO as a correction of a model without a network.

    For periodic records, this model is a frequency response. For other records, it is the model without a network that has the
    smallest validation error.

    Args:
        training: The training records.
        settings: The user's choices.
        known: Models without a network that are already fitted. If there are none, these models are fitted first.
    """
    check_changes(training, settings)
    if training.periodic:
        from lfno.challenges.steady import fit_steady

        return fit_steady(training, settings)
    from lfno.challenges.windows import fit_windows

    known = known or list(compact(training, settings).values())
    return fit_windows(training, settings, min(known, key=lambda one: mean_score(one.validation, training)))


def check_changes(training: Training, settings: Settings) -> None:
    """Raise LfnoError for an unknown field in `settings.changes`. Call this check before the first fit."""
    if training.periodic:
        from lfno.challenges.steady import PRESET as preset
    else:
        from lfno.challenges.windows import PRESET as preset
    preset.change(**settings.changes)


def may_apply(name: str, training: Training) -> bool:
    """Return whether a method without a network is suitable for these records."""
    if name == "level":
        return training.periodic and level_degree(training) > 0
    if name == "rectified":
        from lfno.challenges.rectified import applies

        return not training.periodic and applies(training)
    return True


def compact(training: Training, settings: Settings) -> dict[str, Fitted]:
    """Fit all suitable models without a network and return them by name; raise LfnoError if every fit fails."""
    found, reasons = {}, []
    for name in ("linear", "level", "rectified", "feedback"):
        if not may_apply(name, training):
            continue
        try:
            found[name] = METHODS[name](training, settings)
        except FAILURES as error:
            reasons.append(f"{name}: {error}")
            logging.getLogger("lfno").info(f"one model was left out: {reasons[-1]}")
    if not found:
        raise LfnoError("; ".join(reasons))
    return found


def fit_auto(training: Training, settings: Settings) -> Fitted:
    """Fit by every suitable method and return the model with the smallest error on held-out training records.

    A network is chosen only if it is clearly better than the models without a network (see WORTH). No network is trained
    if the residual of the best model without a network is white noise, or if the time budget is used up. If the chosen
    nonlinear model diverges on a record, the linear model predicts this record.
    """
    check_changes(training, settings)
    found = compact(training, settings)
    simple = min(found.values(), key=lambda one: mean_score(one.validation, training))
    if is_white(simple.trained or simple.models[0], training.split()[1].records, training.skip):
        logging.getLogger("lfno").info("no network is trained: the residual of the best other model is white noise")
    elif settings.late:
        logging.getLogger("lfno").info("no network is trained: the time budget is used up")
    else:
        try:
            found["lfno"] = fit_lfno(training, settings, list(found.values()))
        except FAILURES as error:
            logging.getLogger("lfno").info(f"one model was left out: lfno: {error}")
    compared = {name: mean_score(one.validation, training) for name, one in found.items()}
    logging.getLogger("lfno").info(
        "relative errors on held-out training records: " + ", ".join(f"{name} {value:.3g}" for name, value in compared.items())
    )
    weighed = {name: value / (WORTH if name == "lfno" else 1.0) for name, value in compared.items()}
    name = min(weighed, key=lambda one: weighed[one])
    best = replace(found[name], configuration={**found[name].configuration, "relative validation errors": compared})
    if name in ("linear", "level") or "linear" not in found:
        return best
    return replace(best, models=[guarded(model, found["linear"].models[0], training) for model in best.models])


#: the methods by name
METHODS: dict[str, Fit] = {
    "linear": fit_linear,
    "level": fit_level,
    "rectified": fit_rectified,
    "feedback": fit_feedback,
    "lfno": fit_lfno,
    "auto": fit_auto,
}


def find_method(name: str) -> Fit:
    """Return a method by its name."""
    if name not in METHODS:
        raise LfnoError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[name]
