"""The pole–residue transform equals the direct computation of its formula, in values and gradients, in any dimension."""

from itertools import chain, combinations

import numpy as np
import pytest
import torch
from scipy import signal

from lfno.spectral.fourier import from_modes, mix_channels, to_modes
from lfno.spectral.pole_residue import transfer, transient
from lfno.spectral.reference import dense_terms

SHAPES = {1: (12,), 2: (7, 8), 3: (5, 6, 4)}
STEPS = (0.3, 0.2, 0.4)
POLES, MODES = (2, 3, 2), (2, 3, 2)


def random_layer(ndim, laplace_axes, shared=False, dtype=torch.complex128, seed=0):
    """Return an input, poles and residues with random values."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    poles = []
    for d in range(ndim):
        shape = (POLES[d],) if shared else (2, 3, POLES[d])
        mu = torch.complex(-normal(*shape).exp(), 3 * normal(*shape)).to(dtype)
        poles.append(mu.requires_grad_() if d in laplace_axes else None)
    counts = [POLES[d] if d in laplace_axes else 2 * MODES[d] - 1 for d in range(ndim)]
    residues = torch.complex(normal(2, 3, *counts), normal(2, 3, *counts)).to(dtype).requires_grad_()
    x = normal(4, 2, *SHAPES[ndim]).to(residues.real.dtype).requires_grad_()
    return x, poles, residues


def cases():
    for ndim in (1, 2, 3):
        axes = range(ndim)
        for laplace in chain.from_iterable(combinations(axes, count) for count in range(1, ndim + 1)):
            for shared in (False, True):
                yield ndim, laplace, shared


def steady(x, poles, residues, steps):
    """Return the steady part of the response."""
    modes = [None if mu is not None else (residues.shape[2 + d] + 1) // 2 for d, mu in enumerate(poles)]
    shape = x.shape[2:]
    return from_modes(mix_channels(to_modes(x, modes), transfer(poles, residues, modes, shape, steps)), shape)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.complex128, 1e-10), (torch.complex64, 1e-5)])
@pytest.mark.parametrize(("ndim", "laplace", "shared"), list(cases()))
def test_values_and_gradients_equal_those_of_the_direct_computation(ndim, laplace, shared, dtype, tolerance):
    x, poles, residues = random_layer(ndim, laplace, shared, dtype)
    steps = STEPS[:ndim]
    terms = dense_terms(x, poles, residues, steps)
    decaying = sum(term for kinds, term in terms.items() if any(kinds))
    all_decaying = next(t for kinds, t in terms.items() if all(kinds[d] for d in laplace))
    ringing = next(term for kinds, term in terms.items() if not any(kinds))
    parameters = [x, residues, *(mu for mu in poles if mu is not None)]

    pairs = [
        (transient(x, poles, residues, steps), decaying),
        (transient(x, poles, residues, steps, mixed=False), all_decaying),
        (steady(x, poles, residues, steps), ringing),
    ]
    for ours, truth in pairs:
        scale = truth.abs().max()
        assert (ours - truth).abs().max() < tolerance * scale
        weight = torch.randn(truth.shape, generator=torch.Generator().manual_seed(1), dtype=truth.dtype)
        ours_gradients = torch.autograd.grad((ours * weight).sum(), parameters)
        true_gradients = torch.autograd.grad((truth * weight).sum(), parameters, retain_graph=True)
        for got, want in zip(ours_gradients, true_gradients, strict=True):
            assert (got - want).abs().max() < tolerance * want.abs().max()


@pytest.mark.parametrize("laplace", [(0, 1), (1,), (0,)])
def test_gradients_equal_finite_differences(laplace):
    x, poles, residues = random_layer(2, laplace)
    given = [mu for mu in poles if mu is not None]

    def layer(x, residues, *mu):
        source = iter(mu)
        filled = [next(source) if axis in laplace else None for axis in range(2)]
        return transient(x, filled, residues, STEPS[:2]) + steady(x, filled, residues, STEPS[:2])

    assert torch.autograd.gradcheck(layer, (x, residues, *given), fast_mode=True)


def one_layer(x, mu, beta, dt):
    """Return the transient and the steady part of the response of one channel."""
    poles, residues = [mu[None, None]], beta[None, None]
    return transient(x, poles, residues, (dt,)), steady(x, poles, residues, (dt,))


def by_state_space(x_fine, mu, beta, dt_fine):
    """Return the response of the same linear system, simulated by scipy as one real system of second order for each pole."""
    total = np.zeros_like(x_fine)
    times = dt_fine * np.arange(x_fine.size)
    for pole, residue in zip(mu, beta, strict=True):
        a, b = pole.real, pole.imag
        system = signal.StateSpace([[a, -b], [b, a]], [[residue.real], [residue.imag]], [[1.0, 0.0]], [[0.0]])
        total += signal.lsim(system, x_fine, times)[1]
    return total


POLES_1D = torch.tensor([-0.4 + 3.0j, -1.5 + 0.7j, -0.1 + 5.0j], dtype=torch.complex128)
RESIDUES_1D = torch.tensor([1.0 - 0.5j, 0.3 + 2.0j, -0.7 + 0.2j], dtype=torch.complex128)


def test_transient_plus_steady_is_the_zero_state_response():
    n, dt, fine = 2048, 0.01, 32
    period = n * dt
    t = np.arange(n * fine) * dt / fine
    x = np.sin(2 * np.pi * 3 * t / period) + 0.5 * np.cos(2 * np.pi * 11 * t / period + 0.4) + 0.2
    truth = by_state_space(x, POLES_1D.numpy(), RESIDUES_1D.numpy(), dt / fine)[::fine]
    decaying, ringing = one_layer(torch.tensor(x[::fine])[None, None], POLES_1D, RESIDUES_1D, dt)
    ours = (decaying + ringing)[0, 0].numpy()
    assert abs(ours[0]) < 1e-12
    assert np.abs(ours - truth).max() < 1e-6 * np.abs(truth).max()


def test_a_ramp_is_not_periodic_and_converges_at_first_order():
    """A ramp that repeats after the window jumps at t = 0. This jump causes an error of order dt."""
    errors = []
    for n in (512, 1024, 2048, 4096):
        dt, fine = 20.48 / n, 16
        x = np.arange(n * fine) * dt / fine
        truth = by_state_space(x, POLES_1D.numpy(), RESIDUES_1D.numpy(), dt / fine)[::fine]
        decaying, ringing = one_layer(torch.tensor(x[::fine])[None, None], POLES_1D, RESIDUES_1D, dt)
        ours = (decaying + ringing)[0, 0].numpy()
        # without the ends of the window, where the jump causes oscillations (Gibbs' phenomenon)
        middle = slice(n // 8, -n // 8)
        errors.append(np.abs(ours - truth)[middle].max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(orders > 0.8), (errors, orders)


def test_twice_the_resolution_gives_the_same_values_at_common_points():
    n, dt = 256, 0.05
    t = dt / 2 * torch.arange(2 * n, dtype=torch.float64)
    x = torch.sin(2 * torch.pi * 4 * t / (n * dt)) + torch.cos(2 * torch.pi * 9 * t / (n * dt))
    coarse = sum(one_layer(x[::2][None, None], POLES_1D, RESIDUES_1D, dt))
    fine = sum(one_layer(x[None, None], POLES_1D, RESIDUES_1D, dt / 2))
    wrong = sum(one_layer(x[None, None], POLES_1D, RESIDUES_1D, dt))
    scale = coarse.abs().max()
    assert (coarse - fine[..., ::2]).abs().max() < 1e-10 * scale
    assert (coarse - wrong[..., ::2]).abs().max() > 0.1 * scale, "this test would not notice a layer that ignores dt"
