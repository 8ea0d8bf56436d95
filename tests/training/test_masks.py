"""The loss ignores values that were not measured."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.surrogate import fit
from lfno.training.loop import Trainer
from lfno.training.losses import LOSSES
from tests.training.rig import trainer


@pytest.mark.parametrize("name", ["l2", "linf", "mse"])
def test_a_loss_with_a_mask_is_the_loss_of_the_measured_points(name):
    generator = torch.Generator().manual_seed(0)
    prediction, truth = torch.randn(2, 4, 1, 30, generator=generator)
    kept = torch.rand(30, generator=generator) < 0.6
    masked = LOSSES[name](prediction, truth, kept.float().expand_as(truth))
    assert masked == pytest.approx(LOSSES[name](prediction[..., kept], truth[..., kept], None))


def test_a_slope_is_used_only_if_both_end_points_were_measured():
    """If the mask leaves only the first half, the h1 loss is the loss of the first half."""
    generator = torch.Generator().manual_seed(1)
    prediction, truth = torch.randn(2, 4, 1, 30, generator=generator)
    mask = (torch.arange(30) < 15).float().expand_as(truth)
    half = LOSSES["h1"](prediction[..., :15], truth[..., :15], None)
    assert LOSSES["h1"](prediction, truth, mask) == pytest.approx(half)


@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_values_that_were_not_measured_do_not_change_the_training(seeds):
    run = trainer(seeds=seeds, epochs=2)
    mask = np.random.default_rng(0).random(run.tasks[0].train.y.shape) < 0.7

    def spoiled(samples, value):
        own = mask[: len(samples)]
        return replace(samples, y=np.where(own, samples.y, value), mask=own)

    results = []
    for value in (0.0, 100.0):
        tasks = [replace(task, train=spoiled(task.train, value), validation=spoiled(task.validation, value),
                         model=task.restarted(0).model) for task in run.tasks]  # fmt: skip
        again = Trainer(tasks, run.config)
        again.run()
        results.append((again.adam.theta.clone(), again.validation_loss.clone()))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_samples_without_any_measured_value_are_left_out():
    t = np.arange(32) * 0.1
    force = np.sin(np.linspace(1, 3, 8)[:, None, None] * t)
    mask = np.ones(force.shape, dtype=bool)
    mask[[1, 6]] = False
    data = Dataset(force, np.where(mask, force, 1e6), Grid.line(32, 0.1), mask=mask)
    split = Split(np.arange(5), np.arange(5, 7), np.array([7]))
    run = fit(data, "lfno", split=split, width=2, modes=4, n_poles=2, epochs=1, steady_decay=0.0, device="cpu")
    learner = run.fitted.training.trainer
    assert len(learner.tasks[0].train) == 4
    assert len(learner.tasks[0].validation) == 1
    assert float(learner.validation_loss) < 10
