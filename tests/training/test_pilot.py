"""Pilot runs choose the initialisation and the weight decay of R (see `lfno.training.pilot`).

If R is zero and not trained, it is removed from the models.
"""

from dataclasses import replace

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.split import standard
from lfno.paper.presets import find_preset
from lfno.training.config import HELD, TrainingConfig
from lfno.training.loop import Trainer
from lfno.training.networks import make_task
from lfno.training.pilot import (
    FEWEST_STEPS,
    START_SHARE,
    STRENGTHS,
    _samples,
    choices,
    choose_start,
    choose_strength,
    chosen_before,
    lightened,
    share_of_pilot,
)
from tests.training.rig import GRID, SMALL, oscillator, trainer


def test_every_fold_has_its_own_pilot_run():
    """The hash of the samples differs between folds, although folds may have the same first and last samples."""
    data = Dataset(*np.random.default_rng(0).normal(size=(2, 60, 1, 16)).astype(np.float32), Grid.line(16, 0.1))
    folds = [standard(60, fold) for fold in range(5)]
    preset = find_preset("default")("lfno", data.grid).change(width=2, modes=2, n_poles=2, epochs=5, projection=4)
    assert len({_samples(make_task(data, split, preset, 0)) for split in folds}) == 5
    assert _samples(make_task(data, folds[0], preset, 0)) == _samples(make_task(data, folds[0], preset, 1)), "one for all seeds"


def test_a_network_whose_r_is_held_has_the_same_bits_as_exact_layers():
    held, exact = trainer(steady_decay=HELD), trainer(steady="exact", steady_decay=0.0)
    held.run(), exact.run()
    assert held.history.train == exact.history.train
    assert held.history.validation == exact.history.validation
    inputs = oscillator(5, seed=9).inputs[None]
    assert (held.predict(inputs) == exact.predict(inputs)).all()
    free = trainer(steady_decay=1e-4)
    free.run()
    assert free.history.train != exact.history.train


def test_r_is_removed_from_the_models_if_no_run_trains_it():
    held = trainer(seeds=(0, 1), steady_decay=HELD, padding=0.5)
    light = Trainer(lightened([replace(own, steady_decay=HELD) for own in held.tasks]), held.config)
    assert light.stack.theta.shape[1] < held.stack.theta.shape[1]
    held.run(), light.run()
    np.testing.assert_allclose(light.history.train, held.history.train, rtol=1e-5)
    inputs = np.stack([oscillator(5, seed=9).inputs] * 2)
    np.testing.assert_allclose(light.predict(inputs), held.predict(inputs), atol=1e-5)
    mixed = [replace(own, steady_decay=strength) for own, strength in zip(held.tasks, STRENGTHS, strict=True)]
    assert all(one.model is own.model for one, own in zip(lightened(mixed), mixed, strict=True)), "one run trains R"


def test_the_pilot_makes_one_choice_for_all_seeds_of_a_data_set():
    data = oscillator()
    preset = find_preset("default")("lfno", GRID).change(epochs=10, n_poles=3, modes=6, **SMALL)
    assert preset.training.steady_decay is None
    tasks = [make_task(data, standard(len(data)), preset, seed) for seed in (0, 1)]
    chosen = choose_strength(tasks, preset.training, "cpu")
    assert {own.steady_decay for own in chosen} <= set(STRENGTHS)
    assert len({own.steady_decay for own in chosen}) == 1, "seeds of one data set share the choice"


def test_the_pilot_run_is_a_fifth_of_a_long_run_and_has_at_least_450_steps_of_a_short_run():
    config = TrainingConfig(batch=16)
    assert share_of_pilot(274, replace(config, epochs=400)) == 0.2
    assert 60 * 18 * share_of_pilot(274, replace(config, epochs=60)) == pytest.approx(FEWEST_STEPS)
    assert share_of_pilot(10, replace(config, epochs=3)) == 0.5


def test_training_continues_from_the_initialisation_with_the_lowest_validation_loss():
    data = oscillator()
    preset = find_preset("paper")("lfno", GRID).change(epochs=100, starts=3, modes=6, n_poles=3, validate_every=1)
    tasks = [make_task(data, standard(len(data)), preset, seed) for seed in (0, 1)]
    short = replace(preset.training, epochs=round(100 * START_SHARE))
    chosen = choose_start(tasks, preset.training, "cpu")
    for own, ahead in zip(tasks, chosen, strict=True):
        trials = Trainer([own.restarted(start) for start in range(3)], short)
        trials.run()
        assert ahead.start == int(trials.best_loss.argmin())
        assert (ahead.model.output_scale == own.model.output_scale).all()
    again = chosen_before(tasks, choices(chosen))
    assert again is not None
    for one, other in zip(chosen, again, strict=True):
        assert all((a == b).all() for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True))
    for damaged in ([[0]], [[0, None]], [[10**9, None]] * 2, [["a", None]] * 2, None, [0.5, 0.5]):
        assert chosen_before(tasks, damaged) is None
    assert len({float(tasks[0].restarted(start).model.lift.weight.detach().sum()) for start in range(3)}) == 3
