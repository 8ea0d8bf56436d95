"""Responses as recurrences: agreement with scipy, orders of convergence, causality, states, periodic steady state."""

import numpy as np
import pytest
import torch
from scipy import signal

from lfno.spectral.hold import HOLDS, discrete_resolvent
from lfno.spectral.recurrence import State, advance, respond
from lfno.spectral.reference import respond_by_samples

#: a slow decay, a weakly damped oscillation and a fast decay, in 1/s
POLES = torch.tensor([-0.05 + 0.0j, -0.2 + 6.0j, -8.0 + 3.0j], dtype=torch.complex128)
RESIDUES = torch.tensor([[[0.3 - 0.1j, 1.0 + 2.0j, -4.0 + 1.0j], [0.5 + 0.0j, -1.0 + 1.0j, 2.0 - 3.0j]]] * 2)
RESIDUES = (RESIDUES * torch.tensor([1.0, -0.4])[:, None, None]).to(torch.complex128)


def inputs(n, dt):
    """Return four inputs of two channels, (4, 2, n): smooth, step, ramp and white noise."""
    t = dt * np.arange(n)
    noise = np.random.default_rng(0).standard_normal((2, n))
    pairs = [(np.sin(1.3 * t + 0.4), np.cos(5.5 * t)), (t > 3, t > 1), (t, 3 - t), noise]
    return torch.tensor(np.array(pairs, dtype=float))


def by_scipy(u, dt):
    """Return the response from scipy, which integrates one real system of second order for each pole.

    scipy interpolates the input linearly between samples.
    """
    total = np.zeros((len(u), RESIDUES.shape[1], u.shape[-1]))
    for b, i, o, m in np.ndindex(len(u), *RESIDUES.shape):
        pole, residue = POLES[m].item(), RESIDUES[i, o, m].item()
        matrix = [[pole.real, -pole.imag], [pole.imag, pole.real]]
        system = signal.StateSpace(matrix, [[residue.real], [residue.imag]], [[1.0, 0.0]], [[0.0]])
        total[b, o] += signal.lsim(system, u[b, i].numpy(), dt * np.arange(u.shape[-1]), interp=True)[1]
    return torch.tensor(total)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.complex128, 1e-9), (torch.complex64, 1e-4)])
def test_the_response_equals_the_simulation_of_scipy(dtype, tolerance):
    n, dt = 2000, 0.01
    u = inputs(n, dt)
    truth = by_scipy(u, dt)
    found = respond(u.to(RESIDUES.to(dtype).real.dtype), POLES.to(dtype), RESIDUES.to(dtype), dt)
    peak = truth.abs().amax((1, 2), keepdim=True)
    assert ((found - truth).abs() / peak).max() < tolerance


def oscillation(n, window, phase):
    """Return n samples of sin(5t + phase), and the exact response to this sine from rest."""
    t = window / n * torch.arange(n, dtype=torch.float64)
    wave = torch.exp(1j * (5 * t[:, None] + phase))
    part = wave / (5j - POLES) - torch.exp(POLES * t[:, None] + 1j * phase) / (5j - POLES)
    mirror = wave.conj() / (-5j - POLES) - torch.exp(POLES * t[:, None] - 1j * phase) / (-5j - POLES)
    return torch.sin(5 * t + phase)[None, None], ((part - mirror) / 2j @ RESIDUES[0, 0]).real


@pytest.mark.parametrize(("hold", "phase", "order"), [("linear", 0.7, 2), ("cubic", 0.0, 4), ("cubic", 0.7, 3)])
def test_the_order_of_a_hold(hold, phase, order):
    """The cubic hold is linear on its first interval. It therefore loses one order, except if u″ = 0 at the start."""
    errors = []
    for n in (200, 400, 800):
        u, truth = oscillation(n, 4.0, phase)
        errors.append((respond(u, POLES, RESIDUES[:1, :1], 4.0 / n, hold)[0, 0] - truth).abs().max().item())
    assert np.log2(np.array(errors[:-1]) / np.array(errors[1:])) == pytest.approx([order] * 2, abs=0.25)


def random_layer(paired, modes, seed=0):
    """Return random poles and residues, and a function that draws normal numbers."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    pairs = (2, 3) if paired else ()
    poles = torch.complex(-normal(*pairs, 2).exp(), 3 * normal(*pairs, 2))
    return poles, torch.complex(normal(2, 3, *modes, 2), normal(2, 3, *modes, 2)), normal


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("modes", [(), (3,), (2, 3)])
@pytest.mark.parametrize("size", [1, 2, 8, 9, 300])
def test_responses_in_chunks_and_in_blocks_equal_the_recurrence_sample_by_sample(hold, paired, modes, size):
    poles, residues, normal = random_layer(paired, modes)
    u = normal(2, 2, *modes, size) + (1j * normal(2, 2, *modes, size) if modes else 0)
    truth = respond_by_samples(u, poles, residues, 0.1, hold)
    tolerance = 1e-12 * (1 + truth.abs().max())
    assert (respond(u, poles, residues, 0.1, hold) - truth).abs().max() < tolerance
    for block in (1, 3, 20):
        if size // block > 100:
            continue
        state, parts = None, []
        for part in u.split(block, -1):
            y, state = advance(part, poles, residues, 0.1, hold, state)
            parts.append(y)
        assert (torch.cat(parts, -1) - truth).abs().max() < tolerance


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_later_samples_do_not_change_earlier_responses(hold, dtype):
    poles, residues, normal = random_layer(False, ())
    u, change = normal(4, 2, 500).to(dtype), normal(4, 2, 500).to(dtype)
    kind = torch.complex(u[0, 0, 0], u[0, 0, 0]).dtype
    respond_to = lambda u: respond(u, poles.to(kind), residues.to(kind), 0.1, hold)  # noqa: E731
    before = respond_to(u)
    for moment in (1, 8, 77, 499):
        changed = torch.cat((u[..., :moment], u[..., moment:] + change[..., moment:]), -1)
        after = respond_to(changed)
        assert torch.equal(after[..., :moment], before[..., :moment])
        assert not torch.equal(after, before)


@pytest.mark.parametrize("hold", HOLDS)
def test_a_restored_state_continues_with_the_same_bits(hold):
    poles, residues, normal = random_layer(False, ())
    u = normal(3, 2, 200).float()
    given = poles.to(torch.complex64), residues.to(torch.complex64), 0.1, hold
    _, state = advance(u[..., :77], *given)
    saved = State(*(values.numpy().tobytes() for values in state))
    restored = State(
        torch.frombuffer(bytearray(saved.x), dtype=torch.complex128).reshape(state.x.shape),
        torch.frombuffer(bytearray(saved.past), dtype=torch.float32).reshape(state.past.shape) if saved.past else state.past,
    )
    for part in (u[..., 77:78], u[..., 78:200]):
        one, state = advance(part, *given, state)
        other, restored = advance(part, *given, restored)
        assert torch.equal(one, other)
        assert torch.equal(state.x, restored.x)


@pytest.mark.parametrize("hold", HOLDS)
def test_repeating_the_window_reaches_the_periodic_steady_state(hold):
    """The steady state is H_d α, with the transfer function H_d of the recurrence and the Fourier coefficients α of the input.

    The difference from the steady state is a sum of the exponentials e^{μt} of the poles μ.
    """
    poles, residues, normal = random_layer(False, ())
    n, dt = 60, 0.1
    u = normal(1, 2, n)
    omega = 2 * torch.pi * torch.fft.fftfreq(n, dt, dtype=torch.float64)
    transfer = torch.einsum("iom,ml->iol", residues, discrete_resolvent(poles, omega, dt, hold))
    steady = torch.fft.ifft(torch.einsum("bil,iol->bol", torch.fft.fft(u), transfer)).real
    repeated = respond(u.repeat(1, 1, 40), poles, residues, dt, hold)
    assert (repeated[..., -n:] - steady).abs().max() < 1e-12 * steady.abs().max()
    # check the difference from the steady state in the first two windows, without the first samples
    rest = (repeated - steady.repeat(1, 1, 40))[0, 0, 3 : 3 + 2 * n]
    basis = torch.exp(poles * dt * torch.arange(2 * n)[:, None])
    basis = torch.cat((basis.real, basis.imag), 1)
    found = torch.linalg.lstsq(basis, rest[:, None]).solution
    assert (basis @ found - rest[:, None]).abs().max() < 1e-11 * rest.abs().max()


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("size", [19, 300])
def test_gradients(hold, paired, size):
    """19 samples are two chunks. 300 samples need two levels of groups."""
    poles, residues, normal = random_layer(paired, ())
    given = [values.requires_grad_() for values in (normal(1, 2, size), poles, residues)]
    assert torch.autograd.gradcheck(lambda u, mu, beta: respond(u, mu, beta, 0.1, hold), given, fast_mode=True)


def test_gradients_of_a_field():
    poles, residues, normal = random_layer(False, (2,))
    u = torch.complex(normal(1, 2, 2, 10), normal(1, 2, 2, 10))
    given = [values.requires_grad_() for values in (u, poles, residues)]
    assert torch.autograd.gradcheck(lambda u, mu, beta: respond(u, mu, beta, 0.1, "cubic"), given, fast_mode=True)


def test_vmap_over_layers_equals_each_layer_alone():
    poles, residues, normal = random_layer(False, ())
    poles, residues = (torch.stack((values, 0.7 * values)) for values in (poles, residues))
    u = normal(2, 4, 2, 50)
    found = torch.func.vmap(lambda u, mu, beta: respond(u, mu, beta, 0.1))(u, poles, residues)
    for row in range(2):
        alone = respond(u[row], poles[row], residues[row], 0.1)
        assert (found[row] - alone).abs().max() < 1e-13


def test_a_pole_at_zero_is_an_integral():
    """For a pole at zero, the recurrence is the trapezoidal rule."""
    u = torch.randn(1, 1, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    one = torch.ones(1, 1, 1, dtype=torch.complex128)
    found = respond(u, torch.zeros(1, dtype=torch.complex128), one, 0.1)
    expected = torch.cumulative_trapezoid(u, dx=0.1)
    assert (found[..., 1:] - expected).abs().max() < 1e-13
