"""Laws with one more knee: the initial laws of a fit.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import extended
from lfno.identification.feedback.law import Law


def with_knee(
    law: Law, z: np.ndarray, steep: float, places: Sequence[float], among: Iterable[int] | None = None
) -> Iterator[list[Law]]:
    """Yield for each signal one law for each place of a further knee of this signal. The gain of the new knee is zero.

    law: the law without the new knee. Its terms have no tanh units.
    z: the signals on the training data, (…, signals).
    steep: steepness of the knee, in 1 / standard deviation of its signal.
    places: the places of the knee, as quantiles of its signal.
    among: the indices of the signals that may get a knee; None for all signals.
    """
    slopes, shifts = np.split(law.shape, 2)
    for signal in range(law.terms.signals) if among is None else among:
        own = z[..., signal]
        terms, slope = replace(law.terms, knees=(*law.terms.knees, signal)), steep / float(own.std())
        shapes = [np.concatenate([slopes, [slope], shifts, [-slope * place]]) for place in np.quantile(own, places)]
        bent = extended(law, terms, law.pick, z)
        yield [replace(bent, shape=shape) for shape in shapes]
