"""The curves for TensorBoard contain the values of the log. Without TensorBoard, the log is still written."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import lfno
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.training.tensorboard import FOLDER

SMALL = {
    "width": 2, "projection": 4, "modes": 4, "n_poles": 2, "steady_decay": 1e-4, "validate_every": 1, "device": "cpu",
}  # fmt: skip


def noise() -> Dataset:
    x, y = np.random.default_rng(0).standard_normal((2, 20, 1, 32))
    return Dataset(x, y, Grid.line(32, dt=0.1))


def read(folder):
    """Return the curves of TensorBoard: name -> list of (epoch, value)."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def logged(folder):
    """Return the records of the log."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_curves_equal_the_log_of_a_run_that_was_stopped_and_resumed(tmp_path):
    pytest.importorskip("tensorboard")

    def stop(trainer, record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    stopped = lfno.fit(noise(), "lfno", epochs=5, folder=tmp_path, watch=stop, **SMALL)
    assert stopped.fitted.stopped, "after Ctrl-C, fit returns the best model so far"
    assert stopped.scores.rows["LFNO"]["l2"] > 0
    lfno.fit(noise(), "lfno", epochs=5, folder=tmp_path, resume=True, **SMALL)
    curves, log = read(tmp_path / FOLDER), logged(tmp_path)
    assert [line["epoch"] for line in log] == [1, 2, 3, 4, 5]
    for name, tag in (("train", "loss/train"), ("validation", "loss/validation")):
        assert curves[tag] == [(line["epoch"], pytest.approx(line[name][0])) for line in log]
    assert curves["learning rate"] == [(line["epoch"], pytest.approx(line["rate"])) for line in log]


def test_every_member_of_an_ensemble_has_its_own_curve(tmp_path):
    pytest.importorskip("tensorboard")
    lfno.fit(noise(), "lfno", epochs=1, folder=tmp_path, ensemble=2, **SMALL)
    values = [read(tmp_path / FOLDER / f"seed-{k}")["loss/train"][0][1] for k in range(2)]
    assert values == pytest.approx(logged(tmp_path)[0]["train"])


def test_without_tensorboard_the_log_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    lfno.fit(noise(), "lfno", epochs=2, folder=tmp_path, **SMALL)
    assert len(logged(tmp_path)) == 2
    assert not (tmp_path / FOLDER).exists()
