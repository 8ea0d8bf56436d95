"""The unit of the outputs does not change the training: metres and nanometres give the same model."""

from __future__ import annotations

import numpy as np
import pytest

import lfno

FIELDS = {"width": 4, "modes": 8, "n_poles": 4, "epochs": 4, "batch": 8, "steady_decay": 1e-4, "device": "cpu"}


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("loss", ["l2", "linf"])
def test_training_does_not_depend_on_the_unit_of_the_output(unit, loss):
    force = np.random.default_rng(0).normal(size=(30, 64))
    motion = np.tanh(0.3 * np.cumsum(force, 1))
    one, other = (lfno.fit((force, motion * scale), "lfno", dt=0.1, loss=loss, **FIELDS) for scale in (1.0, unit))
    losses = [run.fitted.training.trainer.best_loss.item() for run in (one, other)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert other.predict(force[:, None]) / unit == pytest.approx(one.predict(force[:, None]), abs=1e-2)


def test_values_whose_square_overflows_in_single_precision_are_refused():
    force = np.random.default_rng(0).normal(size=(20, 32))
    with pytest.raises(lfno.LfnoError, match="another unit"):
        lfno.fit((force, 1e25 * force), "lno", dt=0.1, **FIELDS)
