"""Choose the order of an equation and its terms.

A regression ranks all sets of terms. The best sets are fitted, and the validation samples choose between the fits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lfno.core.errors import LfnoError
from lfno.identification.field_law.equation import Equation
from lfno.identification.field_law.fit import Fields, refine
from lfno.identification.field_law.regression import Regression
from lfno.identification.field_law.terms import INPUT, LINEAR, POINTWISE, RATES

#: largest number of terms besides the input
MOST_TERMS = 6
#: number of sets of each size that are fitted: the sets with the smallest residuals of the regression
TRIED = 2
#: a larger set must lower the validation error below this multiple of the best error so far
GAIN = 0.9
#: the search ends after this number of successive sizes without a better set
PATIENCE = 2
#: validation error below which no larger set is tried
EXACT = 1e-4
#: validation error below which the other order in time is not tried
GOOD = 1e-3
#: largest number of training samples in a fit of the search
FITTED = 16
#: largest number of validation samples in the comparison of equations
COMPARED = 24


@dataclass(frozen=True)
class Trial:
    """An equation with its mean relative error on the validation samples, and the scales of its coefficients."""

    equation: Equation
    error: float
    scales: np.ndarray


def search(train: Fields, validation: Fields, report: Callable[[str], object], deadline: float) -> Trial:
    """Return the best equation, fitted to at most FITTED training samples.

    report: a function that is called with a message when the search finds a better equation.
    deadline: a value of `time.monotonic` after which no further set of terms is tried.

    Raises LfnoError if no equation has a finite solution for the inputs.
    """
    orders = [Regression(order, _library(order), train) for order in (1, 2)]
    small, compared = strongest(train, FITTED), strongest(validation, COMPARED)
    best: Trial | None = None
    for regression in sorted(orders, key=lambda one: one.solve(one.terms)[1]):
        if best is None or (best.error > GOOD and time.monotonic() < deadline):
            found = _best_set(regression, small, compared, report, deadline)
            best = found if best is None or found.error < GAIN * best.error else best
    assert best is not None
    if not np.isfinite(best.error):
        raise LfnoError("no equation with linear and polynomial terms describes these fields")
    return best


def strongest(fields: Fields, count: int) -> Fields:
    """Return at most `count` samples: those with the largest deviation of the field from the start field."""
    moved = np.linalg.norm((fields.outputs - fields.start[:, None]).reshape(len(fields.outputs), -1), axis=1)
    return fields.part(np.sort(np.argsort(-moved)[:count]))


def _library(order: int) -> tuple[str, ...]:
    return (INPUT, *LINEAR, *(RATES if order == 2 else ()), *POINTWISE)


def _best_set(
    regression: Regression, train: Fields, validation: Fields, report: Callable[[str], object], deadline: float
) -> Trial:
    """Return the best trial of one order in time.

    For one, two, … terms, the sets with the smallest residuals of the regression are fitted. A larger set counts as better only
    with a clear GAIN.
    """
    best, without_gain = Trial(Equation(regression.order, (INPUT,), np.zeros(1)), np.inf, np.ones(1)), 0
    for size in range(1, MOST_TERMS + 1):
        sets = [(INPUT, *names) for names in combinations(regression.terms[1:], size)]
        sets.sort(key=lambda names: regression.solve(names)[1])
        trial = min((_fitted(names, regression, train, validation, deadline) for names in sets[:TRIED]), key=lambda t: t.error)
        better = trial.error < GAIN * best.error
        without_gain = 0 if better else without_gain + 1
        if better:
            best = trial
            report(f"{best.equation}: validation error {best.error:.2g}")
        if without_gain == PATIENCE or best.error < EXACT or time.monotonic() > deadline:
            break
    return best


def _fitted(names: Sequence[str], regression: Regression, train: Fields, validation: Fields, deadline: float) -> Trial:
    found, _ = regression.solve(names)
    scales = regression.scales[[regression.terms.index(name) for name in names]]
    equation, _ = refine(Equation(regression.order, tuple(names), found), train, scales, 5, deadline)
    return Trial(equation, float(validation.errors(equation).mean()), scales)
