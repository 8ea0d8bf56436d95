"""Losses, compared with values that can be computed by hand."""

import pytest
import torch

from lfno.training.losses import LOSSES


def test_losses_of_two_samples():
    truth = torch.tensor([[[3.0, 4.0]], [[1.0, 0.0]]])
    guess = truth + torch.tensor([[[0.0, 5.0]], [[0.0, 0.5]]])
    assert LOSSES["l2"](guess, truth).tolist() == pytest.approx([1.0, 0.5])
    assert LOSSES["linf"](guess, truth).tolist() == pytest.approx([1.25, 0.5])
    assert LOSSES["mse"](guess, truth).tolist() == pytest.approx([12.5, 0.125])


def test_the_h1_loss_is_the_mean_of_the_errors_of_values_and_slopes():
    """The error has a tenth of the amplitude of the truth and seven times its frequency: 0.1 for values and 0.7 for slopes."""
    x = 2 * torch.pi * torch.arange(4096, dtype=torch.float64) / 4096
    truth, error = 3 * torch.sin(x)[None, None], 0.3 * torch.sin(7 * x)[None, None]
    assert LOSSES["h1"](truth + error, truth).item() == pytest.approx((0.1 + 0.7) / 2, rel=1e-4)
    field, wrong = truth[..., None] + 0 * x[:50], error[..., None] + 0 * x[:50]
    # along the other axis both truth and error are constant, so the error of the slope is zero
    assert LOSSES["h1"](field + wrong, field).item() == pytest.approx((0.1 + 0.7 + 0) / 3, rel=1e-3)


def test_the_h1_loss_is_finite_for_constant_samples():
    still = torch.full((2, 1, 100), 3.0)
    guess = (still + torch.linspace(0, 0.3, 100)).requires_grad_()
    losses = LOSSES["h1"](guess, still)
    losses.sum().backward()
    assert losses.max() < 0.1
    assert torch.isfinite(guess.grad).all()
