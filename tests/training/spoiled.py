"""A run that fails from the beginning, for tests of failed runs."""

import pytest
import torch

from lfno.training.loop import Trainer


def spoil_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the first run of every stack fail: its parameters and its last good state become NaN."""
    whole = Trainer.run

    def spoiled(trainer, watch=None):
        with torch.no_grad():
            for state in (trainer.adam.theta, trainer.good["theta"]):
                state[0] = torch.nan
        whole(trainer, watch)

    monkeypatch.setattr(Trainer, "run", spoiled)
