"""A run that goes wrong from its first step, for tests of what is made of it."""

import pytest
import torch

from lfno.training.loop import Trainer


def spoil_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of every stack starts, and goes back to, parameters that are not numbers."""
    whole = Trainer.run

    def spoiled(trainer, watch=None):
        with torch.no_grad():
            for state in (trainer.adam.theta, trainer.good["theta"]):
                state[0] = torch.nan
        whole(trainer, watch)

    monkeypatch.setattr(Trainer, "run", spoiled)
