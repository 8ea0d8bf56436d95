"""Methods that fit a model to training records. None of them can see a test record: none is passed."""

from __future__ import annotations

from dataclasses import replace

from lfno.challenges.fitted import Fit, Fitted, Settings, mean_score
from lfno.challenges.linear import fit_modes, fit_response, level_degree
from lfno.challenges.protocol import Training, figures
from lfno.core.errors import LfnoError


def fit_linear(training: Training, settings: Settings) -> Fitted:
    """One linear model, fitted to most of the training records for its validation figures, then to all of them."""
    kept, held = training.split()
    if training.periodic:
        first, final = fit_response(kept, held, training, degree=0)
    else:
        first, final = fit_modes(kept), fit_modes(training)  # type: ignore[assignment]
    validation = figures(first, held.records, training.skip, training.scale)
    return Fitted([final], validation, {"method": "linear", "model": final.description})


def fit_level(training: Training, settings: Settings) -> Fitted:
    """A frequency response that depends on the level of the record: for periodic records of several levels."""
    degree = level_degree(training) if training.periodic else 0
    if not degree:
        raise LfnoError("the method level needs periodic training records of several levels; choose linear or lfno")
    kept, held = training.split()
    first, final = fit_response(kept, held, training, degree)
    validation = figures(first, held.records, training.skip, training.scale)
    return Fitted([final], validation, {"method": "level", "model": final.description})


def fit_lfno(training: Training, settings: Settings) -> Fitted:
    """LFNO: in its steady pass beside a linear path for periodic records, on windows otherwise."""
    if training.periodic:
        from lfno.challenges.steady import fit_steady

        return fit_steady(training, settings)
    from lfno.challenges.windows import fit_windows

    return fit_windows(training, settings)


def fit_auto(training: Training, settings: Settings) -> Fitted:
    """Fit by every method that applies and keep the one with the smallest error on held-out training records."""
    best, compared = None, {}
    for name, fit in METHODS.items():
        if name == "auto" or (name == "level" and not (training.periodic and level_degree(training))):
            continue
        found = fit(training, settings)
        compared[name] = mean_score(found.validation, training)
        if best is None or compared[name] < mean_score(best.validation, training):
            best = found
    assert best is not None
    return replace(best, configuration={**best.configuration, "relative validation errors": compared})


METHODS: dict[str, Fit] = {"linear": fit_linear, "level": fit_level, "lfno": fit_lfno, "auto": fit_auto}


def find_method(name: str) -> Fit:
    """The method by its name."""
    if name not in METHODS:
        raise LfnoError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[name]
