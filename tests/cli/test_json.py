"""`--json` and metrics.json are valid JSON, also if a number does not exist."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lfno.cli.outcome import candidates
from lfno.core.grid import Grid
from lfno.data import storage
from lfno.data.dataset import Dataset
from lfno.data.prepare import prepare
from lfno.surrogate.contest import Contest
from tests.cli.rig import STEP, answer, signals
from tests.core.strict import strictly_read


@pytest.fixture(scope="module")
def unmeasured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data set whose validation samples have no measured outputs."""
    runs = [signals(200, seed) for seed in range(12)]
    inputs, outputs = (np.stack([run[name][None] for run in runs]) for name in ("force", "u"))
    data = Dataset(inputs, outputs, Grid.line(200, STEP))
    mask = np.ones(outputs.shape, bool)
    mask[prepare(data).split.validation] = False
    path = tmp_path_factory.mktemp("data") / "runs.h5"
    storage.save(replace(data, mask=mask), path)
    return path


def test_a_fit_without_validation_outputs_writes_null_for_the_validation_error(unmeasured: Path, tmp_path: Path) -> None:
    told = answer("fit", unmeasured, "--linear", "--out", tmp_path / "run")
    read = strictly_read((tmp_path / "run" / "metrics.json").read_text())
    assert told == {"folder": str(tmp_path / "run"), **read}
    assert read["candidates"]["linear"]["validation"] is None
    assert math.isfinite(read["test"]["linear"]["nrmse"])


def test_the_table_says_that_the_validation_error_is_not_known() -> None:
    row = {"validation": math.inf, "spread": 0.0, "parameters": 8, "seconds": 1.0, "chosen": True}
    empty = np.zeros((1, 1, 1))
    found = Contest({}, "", empty, empty, empty, empty, ["u"], candidates={"linear": row})
    console = Console(width=120)
    with console.capture() as text:
        console.print(candidates(found))
    assert "not known" in text.get()
    assert "inf" not in text.get()
