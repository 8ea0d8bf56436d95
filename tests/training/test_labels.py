"""Training with two labels, the response from rest and the steady state: losses and gradients are sums over both."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.training.labels import Samples
from lfno.training.loop import Trainer
from lfno.training.losses import LOSSES
from tests.training.rig import oscillator, trainer

WEIGHT = np.array([0.0, 1.0, 0.25])  # weights of the steady labels of three samples, repeated for all samples


def labelled(run, y=True, steady=True):
    """Return a trainer like `run` with labels from rest (if `y`) and with random steady labels (if `steady`)."""

    def change(samples, seed):
        label = np.random.default_rng(seed).standard_normal(samples.y.shape)
        weight = np.resize(WEIGHT, len(label))
        return Samples(samples.x, samples.y if y else None, label if steady else None, weight if steady else None)

    tasks = [replace(task, train=change(task.train, 1), validation=change(task.validation, 2)) for task in run.tasks]
    return Trainer(tasks, run.config)


def gradient(run):
    """Return (gradient, loss) of all training samples."""
    rows = torch.arange(len(run.stack))[:, None]
    every = torch.arange(run.order.shape[1]).expand(len(run.stack), -1)
    return run._gradient(every, rows, run.order.shape[1])


@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_the_gradient_of_both_labels_is_the_sum(seeds):
    plain = trainer(seeds=seeds)
    both, rest, steady = (gradient(labelled(plain, *labels)) for labels in ((True, True), (True, False), (False, True)))
    for together, one, other in zip(both, rest, steady, strict=True):
        assert (one + other - together).norm() < 1e-5 * together.norm()
    assert min(part[0].norm() for part in (rest, steady)) > 0.01 * both[0].norm()


def test_the_steady_loss_is_the_loss_of_the_steady_state_times_the_weight():
    run = labelled(trainer(loss="l2"), y=False)
    (model,), samples = [task.model for task in run.tasks], run.tasks[0].train
    answer = model.respond(torch.as_tensor(samples.x, dtype=torch.float32), transient=False)
    losses = LOSSES["l2"](answer, torch.as_tensor(samples.steady, dtype=torch.float32)).detach().numpy()
    assert float(gradient(run)[1]) == pytest.approx(float(np.mean(losses * samples.steady_weight)), rel=1e-5)


def test_training_with_steady_labels_alone_reduces_the_loss():
    run = trainer(epochs=8)
    steady = [replace(task, train=Samples(task.train.x, None, task.train.y),
                      validation=Samples(task.validation.x, None, task.validation.y)) for task in run.tasks]  # fmt: skip
    run = Trainer(steady, run.config)
    run.run()
    assert run.history.validation[-1][0] < 0.9 * run.history.validation[0][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: Samples(s.x), "no label"),
        (lambda s: Samples(s.x, None, s.y[:-1]), "of steady"),
        (lambda s: Samples(s.x, None, s.y, np.full(len(s), np.nan)), "NaN"),
    ],
)
def test_wrong_labels_raise_an_error_message(change, words):
    run = trainer()
    with pytest.raises(LfnoError, match=words):
        Trainer([replace(task, train=change(task.train)) for task in run.tasks], run.config)


def test_samples_without_a_steady_state_have_the_weight_zero():
    data = oscillator(3)
    steady = np.stack([0.5 * data.outputs[0], np.full_like(data.outputs[1], np.nan), 3 * data.outputs[2]])
    samples = Samples.of(replace(data, steady=steady))
    np.testing.assert_allclose(samples.steady_weight, [0.5, 0.0, 1.0])
    assert np.isfinite(samples.steady).all()
