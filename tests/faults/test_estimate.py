"""Memory, time and disk space of a long job are estimated before it begins.

If the memory is not enough, the error message gives the largest batch, or the largest number of samples, that fits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lfno.core import memory
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data import make
from lfno.data import plan as planning
from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.paper.cost import MemoryTracker
from lfno.paper.matrix import Cell
from lfno.paper.stacked import run_group
from lfno.surrogate import fit
from lfno.training import estimate as module
from lfno.training.estimate import estimate
from lfno.training.loop import Trainer
from lfno.training.networks import make_task
from lfno.training.presets import default_preset

FIELDS = {"width": 8, "modes": 16, "n_poles": 8, "epochs": 2, "batch": 24, "steady_decay": 1e-4}


def prepared(**changes: Any) -> tuple[Any, Any]:
    values = np.random.default_rng(0).normal(size=(40, 1, 256)).astype(np.float32)
    data = Dataset(values, np.cumsum(values, -1), Grid.line(256, 0.1))
    preset = default_preset("lfno", data.grid).change(**{**FIELDS, **changes})
    return [make_task(data, standard(len(data)), preset, 0)], preset.training


def test_the_memory_of_a_step_is_estimated():
    tasks, config = prepared()
    expected = estimate(tasks, config, "cpu", None).memory
    trainer = Trainer(tasks, config)
    trainer._shuffle()
    with MemoryTracker() as tracker:
        trainer._pass()
    assert 0.9 * tracker.peak < expected < 2 * tracker.peak


def test_more_samples_take_more_memory_and_time():
    small, large = (estimate(*prepared(batch=batch), "cpu", Path("/tmp/none")) for batch in (4, 24))
    assert small.memory < large.memory
    assert small.disk == large.disk > 0
    assert small.seconds is not None
    assert small.seconds > 0


def test_a_run_that_cannot_fit_names_the_largest_batch_that_would(monkeypatch, tmp_path):
    whole = estimate(*prepared(), "cpu", None).memory
    monkeypatch.setattr(module, "available", lambda: int(0.7 * whole))
    told = estimate(*prepared(), "cpu", None)
    with pytest.raises(LfnoError, match=f"batches of {told.largest_batch} would fit"):
        told.check()
    assert 1 <= told.largest_batch < 24
    estimate(*prepared(batch=told.largest_batch), "cpu", None).check()
    with pytest.raises(LfnoError, match="would fit"):
        estimate(*prepared(batch=told.largest_batch + 1), "cpu", None).check()
    values = np.random.default_rng(0).normal(size=(40, 256))
    with pytest.raises(LfnoError, match=r"of memory and .* are free"):
        fit((values, values), "lfno", dt=0.1, device="cpu", folder=tmp_path / "run", **FIELDS)
    assert not (tmp_path / "run").exists(), "the run was begun"


def test_a_run_of_which_not_even_one_sample_fits(monkeypatch):
    monkeypatch.setattr(module, "available", lambda: 10_000)
    with pytest.raises(LfnoError, match="a batch of one sample does not fit"):
        estimate(*prepared(), "cpu", None).check()


def test_the_matrix_of_runs_names_the_largest_batch_too(monkeypatch, tmp_path):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))
    cell = Cell("duffing-c05-small", "lno", changes={"width": 2, "modes": 4, "n_poles": 2, "epochs": 1})
    monkeypatch.setattr(module, "available", lambda: 10_000)
    with pytest.raises(LfnoError, match="a batch of one sample does not fit"):
        run_group([cell], tmp_path / "records", "cpu")
    monkeypatch.undo()

    def short_of_memory(self: Trainer) -> None:
        raise MemoryError

    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Trainer, "_pass", short_of_memory)
    with pytest.raises(LfnoError, match="out of memory in epoch 1"):
        run_group([cell], tmp_path / "records", "cpu")


def test_too_little_disk_space_is_reported_before_the_run(monkeypatch, tmp_path):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(memory.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(LfnoError, match="on disk and 1000 bytes are free"):
        estimate(*prepared(), "cpu", tmp_path / "new" / "run").check()
    with pytest.raises(LfnoError, match="on the disk, and 1000 bytes are free"):
        make.make(make.plan("duffing-c05", count=4), tmp_path / "sets")
    assert not (tmp_path / "sets").exists()


def test_a_data_set_that_cannot_fit_names_the_number_of_samples_that_would(monkeypatch):
    """The check comes before the inputs are drawn, because the number of samples may be absurdly large."""
    monkeypatch.setattr(planning, "available", lambda: 10**8)
    for count in (10**5, 10**7):
        with pytest.raises(LfnoError, match=r"of memory and .* are free; at most \d+ samples would fit") as told:
            make.plan("duffing-c05", count=count)
        most = int(str(told.value).split("at most ")[1].split()[0])
        make.plan("duffing-c05", count=most)
        with pytest.raises(LfnoError, match="would fit"):
            make.plan("duffing-c05", count=most + 1)
    with pytest.raises(LfnoError, match="from 1 to 10,000,000 is needed"):  # however little memory a sample takes
        make.plan("duffing-c05", count=10**9, grid=Grid.line(1, 0.1))


def test_a_model_of_absurd_size_is_estimated_without_taking_memory():
    """The grid has 2^33 points. A training step with one sample would take terabytes."""
    tasks, config = prepared()
    single = tasks[0]
    wide = np.broadcast_to(np.float32(0), (40, 1, 2**33))
    grid = Grid.line(2**33, 0.1)
    from lfno.models import LFNO

    huge = type(single)(LFNO(grid, single.model.config), wide, wide, wide[:4], wide[:4])
    with pytest.raises(LfnoError, match=r"batch of one sample|would fit"):
        estimate([huge], config, "cpu", None).check()
    assert torch.get_default_dtype() == torch.float32
