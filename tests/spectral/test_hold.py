"""Coefficients of the recurrence of a pole: they agree with quadrature and with each other."""

import numpy as np
import pytest
import torch

from lfno.spectral.hold import HOLDS, discrete_resolvent, impulse_response, phi_functions, taps

Z = torch.tensor([1e-9 + 0j, 1e-3 - 2e-3j, 0.3j, -0.99 + 0.1j, -1.01 + 0.1j, -5 + 7j, -80 + 3j], dtype=torch.complex128)


def test_phi_functions_are_their_integrals():
    nodes, weights = np.polynomial.legendre.leggauss(80)
    s, w = torch.tensor((nodes + 1) / 2), torch.tensor(weights / 2)
    for k, factorial in ((1, 1), (2, 1), (3, 2), (4, 6)):
        integral = (w * torch.exp(Z[:, None] * (1 - s)) * s ** (k - 1) / factorial).sum(-1)
        found = phi_functions(Z, 4)[k - 1]
        assert ((found - integral).abs() / integral.abs()).max() < 1e-13


def test_gradients_of_phi_functions():
    assert torch.autograd.gradcheck(lambda z: phi_functions(z, 4), Z.clone().requires_grad_(), fast_mode=True)


@pytest.mark.parametrize("hold", HOLDS)
def test_a_hold_is_exact_for_its_polynomials(hold):
    """From x = 0 and with the input sᵖ, one step of the recurrence gives ∫₀¹ e^{z(1−s)} sᵖ ds."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    s, w = torch.tensor((nodes + 1) / 2), torch.tensor(weights / 2)
    for p in range(len(HOLDS[hold])):
        integral = (w * torch.exp(Z[:, None] * (1 - s)) * s**p).sum(-1)
        found = sum(tap * float(node) ** p for tap, node in zip(taps(Z, 1.0, hold), HOLDS[hold], strict=True))
        assert ((found - integral).abs() / integral.abs()).max() < 1e-11


@pytest.mark.parametrize("hold", HOLDS)
def test_the_transfer_function_is_the_transform_of_the_impulse_response(hold):
    poles = torch.tensor([-2.0 + 3.0j, -1.0 + 0.0j], dtype=torch.complex128)
    omega, dt = torch.tensor([0.0, 1.0, -7.0], dtype=torch.float64), 0.1
    lags = torch.arange(800, dtype=torch.float64)
    summed = impulse_response(poles, dt, hold, 800) @ torch.exp(-1j * dt * lags[:, None] * omega)
    assert (discrete_resolvent(poles, omega, dt, hold) - summed).abs().max() < 1e-13
    fine = discrete_resolvent(poles, omega, 1e-4, hold)
    assert (fine - 1 / (1j * omega - poles[:, None])).abs().max() < 1e-6
