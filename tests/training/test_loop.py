"""The training loop: runs in a stack are equal to single runs, failed steps are undone, and the best parameters are kept."""

import numpy as np
import pytest
import torch

from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.paper.presets import find_preset
from lfno.training.loop import BACK_OFF
from lfno.training.networks import make_task
from tests.training.rig import SMALL, felt, oscillator, trainer


@pytest.mark.parametrize("loss", ["l2", "h1"])
@pytest.mark.parametrize("model", ["lfno", "fno", "lno"])
def test_a_stack_equals_single_runs_after_fifty_steps(model, loss):
    seeds = (3, 1, 2)
    together = trainer(model, epochs=17, seeds=seeds, loss=loss)  # 3 batches an epoch: 51 steps
    together.run()
    for row, seed in enumerate(seeds):
        alone = trainer(model, epochs=17, seeds=(seed,), loss=loss)
        alone.run()
        apart = (together.adam.theta[row] - alone.adam.theta[0]).abs()
        assert apart[felt(alone.stack)].max() < 1e-5
        assert abs(float(together.best_loss[row] - alone.best_loss[0])) < 1e-5
        x = alone.tasks[0].validation.x
        answers = together.predict(np.stack([x] * len(seeds)))[row], alone.predict(x[None])[0]
        assert abs(answers[0] - answers[1]).max() < 1e-5


def test_another_seed_gives_another_network_with_the_same_samples():
    data, split = oscillator(), standard(30)
    preset = find_preset("default")("lfno", data.grid).change(modes=4, n_poles=2, **SMALL)
    first, second = (make_task(data, split, preset, seed) for seed in (0, 1))
    again = first.reseeded(1)
    assert again.train is first.train
    assert again.name == second.name
    other = second.model.state_dict()
    assert all(torch.equal(value, other[name]) for name, value in again.model.state_dict().items())


def test_a_run_that_is_not_finite_returns_with_a_smaller_learning_rate_and_does_not_change_other_runs():
    run = trainer(epochs=8, seeds=(0, 1))
    alone = trainer(epochs=8, seeds=(1,))
    alone.run()

    def spoil(trainer, record):
        if record["epoch"] == 2:
            trainer.adam.theta[0] = torch.nan

    run.run(spoil)
    assert run.retreats.tolist() == [1, 0]
    assert run.scale.tolist() == [BACK_OFF, 1]
    assert torch.isfinite(run.adam.theta).all()
    assert torch.isfinite(run.best_loss).all()
    assert (run.adam.theta[1] - alone.adam.theta[0]).abs()[felt(alone.stack)].max() < 1e-5
    assert run.failed() == []


def test_a_run_that_is_never_finite_stops_with_an_error_message():
    data = oscillator()
    run = trainer(epochs=20, data=data)
    run.train["x"] = run.train["x"] * torch.nan
    run.run()
    assert run.epoch < 20
    assert "smaller learning rate" in run.failed()[0]


def test_the_parameters_with_the_lowest_validation_loss_are_kept():
    run = trainer(epochs=12, learning_rate=0.05, loss="l2")
    run.run()
    losses = [row[0] for row in run.history.validation]
    assert float(run.best_loss[0]) == min(losses)
    assert int(run.best_epoch[0]) == run.history.epoch[int(np.argmin(losses))]
    x, y = run.tasks[0].validation.x, run.tasks[0].validation.y
    (model,) = run.models()
    error = np.linalg.norm((model.predict(x) - y).reshape(len(y), -1), axis=1)
    truth = np.linalg.norm(y.reshape(len(y), -1), axis=1)
    assert np.mean(error / truth) == pytest.approx(min(losses), rel=1e-4)


def test_early_stopping_ends_a_run_that_does_not_improve():
    run = trainer(epochs=50, learning_rate=0.0, patience=6)
    run.run()
    assert run.epoch < 12


def test_the_loss_ignores_the_warm_up():
    data = oscillator()
    spoiled = Dataset(data.inputs, data.outputs.copy(), data.grid)
    spoiled.outputs[..., :10] += 100.0
    clean, dirty = trainer(epochs=2, unscored=10), trainer(epochs=2, unscored=10, data=spoiled)
    for buffer in clean.stack.buffers:
        dirty.stack.buffers[buffer] = clean.stack.buffers[buffer]
    clean.run(), dirty.run()
    assert clean.history.train == dirty.history.train


def test_training_does_not_depend_on_the_unit_of_an_output():
    """The loss does not change if a second output gets a unit that is about a million times smaller."""
    data = oscillator()
    speed = np.gradient(data.outputs, axis=-1)
    histories = []
    for unit in (1.0, 2.0**20):  # a power of two, because it does not change rounding errors
        both = Dataset(data.inputs, np.concatenate([data.outputs, unit * speed], 1), data.grid)
        run = trainer(epochs=4, data=both)
        run.run()
        histories.append(run.history.validation)
    assert histories[0] == histories[1]
