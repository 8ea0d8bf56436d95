"""Adam, weight decay, and the schedule of the learning rate."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.training.adam import Adam
from lfno.training.config import TrainingConfig
from tests.training.rig import trainer


def test_our_adam_equals_adamw_of_torch_with_clipping():
    theta = torch.randn(2, 7, dtype=torch.float64)
    ours = Adam.start(theta)
    rows = [torch.nn.Parameter(row.clone()) for row in theta]
    theirs = [torch.optim.AdamW([row], lr=0.01, weight_decay=0.1) for row in rows]
    for step in range(20):
        gradient = torch.randn(2, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(step)) * 3
        ours.step(gradient.clone(), torch.full((2, 1), 0.01), torch.full((2, 7), 0.1), clip=1.0)
        for row, optimiser, own in zip(rows, theirs, gradient, strict=True):
            row.grad = own.clone()
            torch.nn.utils.clip_grad_norm_([row], 1.0)
            optimiser.step()
    assert (ours.theta - torch.stack([row.detach() for row in rows])).abs().max() < 1e-6


def test_poles_are_never_decayed_and_r_has_its_own_decay():
    """R are the Fourier weights (`lfno.models.fourier_weights`), the parameters whose names contain "weights."."""
    run = trainer(seeds=(0,))
    run.stack.theta.fill_(1.0)
    decay = run.stack.decay(0.5, [7.0])[0]
    parts = decay.split([shape.numel() for shape in run.stack.shapes])
    for (name, _), part in zip(run.stack.layout(), parts, strict=True):
        expected = 0.0 if ".poles_" in name else 7.0 if "weights." in name else 0.5
        assert (part == expected).all(), name


def test_the_cosine_schedule_rises_and_falls_to_zero_and_the_step_schedule_has_steps():
    cosine = TrainingConfig(epochs=100, learning_rate=1.0, warmup=0.1)
    rates = [cosine.rate(epoch) for epoch in range(100)]
    assert rates[0] < 0.2
    assert max(rates) == pytest.approx(1.0)
    assert np.all(np.diff(rates[10:]) < 0)
    assert rates[-1] < 0.001
    steps = replace(cosine, schedule="step", step_size=100, gamma=0.85)
    assert [steps.rate(epoch) for epoch in (0, 99, 100, 250)] == pytest.approx([1, 1, 0.85, 0.85**2])


@pytest.mark.parametrize("change", [{"learning_rate": "fast"}, {"clip": None}, {"gamma": True}])
def test_an_option_that_is_not_a_number_raises_an_error_message(change):
    with pytest.raises(LfnoError, match=next(iter(change))):
        TrainingConfig(**change)
