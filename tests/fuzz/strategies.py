"""Generated inputs: arrays of any type and shape, strange numbers, names in any script, and JSON trees."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid

#: a case: a function that tests one group of functions. It draws generated inputs from its argument
Case = Callable[[st.DataObject], None]

NAMES = st.text(max_size=6)
SIZES = st.one_of(st.integers(-3, 20), st.sampled_from([0, 1, 2**31, 10**9, 10**18, -(10**18)]))
FLOATS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1e-320, 1e308, -1e308, 1.0, 0.1, float("nan"), float("inf")]),
)
SHARES = st.one_of(st.floats(-0.5, 1.5), FLOATS)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), SIZES, FLOATS, NAMES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
DTYPES = st.sampled_from(["f8", "f4", "f2", "i8", "i1", "u1", "?", "c16", "S3", "U3", "O", "M8[s]"])
#: numbers that are usual in measurements, and numbers that never occur in measurements
VALUES = st.one_of(st.floats(-10, 10), st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e200, -1e300, 1e-300]))


def mostly(good: Any, strange: st.SearchStrategy) -> st.SearchStrategy:
    """Draw the good value most of the time. One strange value among good ones reaches more code than many strange values."""
    return st.one_of(st.just(good), st.just(good), st.just(good), strange)


@st.composite
def arrays(draw: Any, low: int = 0, high: int = 4, side: int = 6) -> np.ndarray:
    """Draw any array. Most arrays have real numbers, some have another type, no elements, or values that are not finite.

    low, high: smallest and largest number of axes.
    side: largest number of elements along an axis.
    """
    shape = draw(st.lists(st.integers(0, side), min_size=low, max_size=high).map(tuple))
    return draw(of_shape(shape))


@st.composite
def of_shape(draw: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Draw an array of this shape, as in `arrays`."""
    kind = draw(st.sampled_from(["good", "good", "good", "constant", "strange values", "strange type"]))
    generator = np.random.default_rng(draw(st.integers(0, 2**16)))
    if kind == "good":
        return generator.normal(size=shape).astype(draw(st.sampled_from(["f8", "f4"])))
    if kind == "constant":
        return np.full(shape, draw(VALUES))
    if kind == "strange values":
        values = generator.normal(size=shape)
        if values.size:
            values.flat[draw(st.integers(0, values.size - 1))] = draw(VALUES)
        return values
    dtype = draw(DTYPES)
    if dtype == "O":
        return np.full(shape, draw(st.one_of(st.none(), NAMES, st.floats())), dtype=object)
    return draw(npst.arrays(np.dtype(dtype), shape))


@st.composite
def grids(draw: Any, most: int = 3, side: int = 12) -> Grid:
    """Draw a grid of up to `most` axes with up to `side` points each. The last axis is the time."""
    names = "xyt"[-draw(st.integers(1, most)) :]
    steps = st.floats(1e-6, 1e6)
    return Grid(
        tuple(
            Axis(name, draw(st.integers(1, side)), draw(steps), draw(st.floats(-5, 5)), time=name == "t",
                 periodic=draw(st.booleans()))
            for name in names
        )
    )  # fmt: skip


def attempt(work: Callable[[], Any]) -> Any:
    """Return the result of `work`, or None if it raises LfnoError. Any other exception makes the test fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work()
        except LfnoError as error:
            if not str(error).strip():
                raise RuntimeError("an LfnoError without a message") from error
            return None


def counts(cases: Sequence[Case], few: Mapping[Case, int], many: Mapping[Case, int] | None = None) -> pytest.MarkDecorator:
    """Return a mark that runs a test for each case with few generated inputs, and in the long tests with many.

    few: case → number of inputs; 40 for all other cases.
    many: case → largest number of inputs in the long tests. All other cases get LFNO_CASES inputs (an environment variable, 400
        by default).
    """
    every = int(os.environ.get("LFNO_CASES", "400"))
    short = [pytest.param(case, few.get(case, 40), id=f"{case.__name__}-few") for case in cases]
    sizes = {case: min(every, (many or {}).get(case, every)) for case in cases}
    long = [pytest.param(case, sizes[case], id=f"{case.__name__}-many", marks=pytest.mark.long) for case in cases]
    return pytest.mark.parametrize(("case", "count"), short + long)


def tried(case: Case, count: int) -> None:
    """Run a case with `count` generated inputs and show the first that fails. Below 100, the inputs are always the same."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]
    limits = settings(
        max_examples=count, deadline=None, derandomize=count < 100, database=None, suppress_health_check=slow,
        phases=(Phase.generate,),
    )  # fmt: skip
    limits(given(st.data())(case))()
