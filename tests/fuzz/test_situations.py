"""Random records like those of laboratories are read and split correctly, or refused with one error message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.data.prepare import Prepared, prepare
from lfno.data.stretches import PARTS
from tests.fuzz.situations import STEP, Situation, draw

FEW = 150  # situations in the short test
MANY = 10_000  # situations in the long test


def check(situation: Situation, prepared: Prepared) -> None:
    """Assert that all scored outputs were measured, and that no sample or period is in two parts of the split.

    A run may be in two parts only if these are training and validation.
    """
    every = np.concatenate([prepared.split.train, prepared.split.validation, prepared.split.test])
    assert sorted(every) == list(range(len(prepared.dataset)))
    assert prepared.dataset.grid.steps[-1] == pytest.approx(STEP)
    assert (prepared.dataset.inputs.shape[1], prepared.dataset.outputs.shape[1]) == (1, 1)
    assert np.isfinite(prepared.dataset.inputs).all()
    assert np.isfinite(prepared.dataset.outputs).all()
    owners: dict[tuple[int, int], str] = {}
    for span in prepared.spans:
        for place in range(span.start, span.stop):
            assert owners.setdefault((span.record, place), span.part) == span.part, "a sample is in two parts"
    seen: dict[float, str] = {}
    for part in PARTS:
        for stretch in prepared.stretches(part):
            for value in np.round(stretch.inputs[0], 9).tolist():
                assert seen.setdefault(value, part) == part or prepared.noise_floor is None, "a period is in two parts"
            if prepared.noise_floor is None and stretch.start != "periodic":
                counted = stretch.outputs[0] if stretch.mask is None else stretch.outputs[0][stretch.mask[0]]
                assert set(counted.tolist()) <= situation.measured, "a value was not measured"
    if len(situation.runs) > 2 and prepared.records and prepared.noise_floor is None:
        parts = {k: {span.part for span in prepared.spans if span.record == k} for k in range(len(prepared.records))}
        assert all(len(own) == 1 or own == {"train", "validation"} for own in parts.values()), "a run is in two parts"


def explore(seeds: range, folder: Path) -> int:
    """Prepare the situation of every seed, and check the result. Return the number of situations that were not refused."""
    read = 0
    for seed in seeds:
        situation = draw(seed, folder)
        try:
            prepared = prepare(situation.source, **situation.options)
        except LfnoError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(f"situation {seed}: {str(error)!r} is not one message") from error
            continue
        except Exception as error:
            raise AssertionError(f"situation {seed} ({situation.kind}, {situation.options})") from error
        try:
            check(situation, prepared)
        except AssertionError as error:
            raise AssertionError(f"situation {seed} ({situation.kind}, {situation.options}): {error}") from error
        read += 1
        if isinstance(situation.source, Path):
            situation.source.unlink()
    return read


def test_situations_of_laboratories(tmp_path: Path) -> None:
    assert explore(range(FEW), tmp_path) > FEW // 3


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_situations(part: int, tmp_path: Path) -> None:
    size = MANY // 10
    assert explore(range(FEW + part * size, FEW + (part + 1) * size), tmp_path) > size // 3
