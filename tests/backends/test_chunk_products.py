"""Responses in chunks on a CPU: they agree with scipy and with the recurrence sample by sample, and they are causal."""

import numpy as np
import pytest
import torch
from scipy import signal
from torch.func import vmap

from lfno.backends import chunk_products
from lfno.backends.products import product
from lfno.backends.scan import make_levels, scan
from lfno.spectral.reference import respond_by_samples

DT = 0.05


def layer(inputs, outputs, poles, dtype=torch.float64):
    """Return random poles, residues, W and b of one layer."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    mu = torch.complex(-normal(poles).exp() / 2, 5 * normal(poles))
    beta = torch.complex(normal(inputs, outputs, poles), normal(inputs, outputs, poles))
    kind = torch.complex64 if dtype == torch.float32 else torch.complex128
    return mu.to(kind), beta.to(kind), normal(outputs, inputs).to(dtype), normal(outputs).to(dtype)


def respond(u, poles, residues, weight, bias):
    batch, _, size = u.shape
    groups = chunk_products.group_samples(batch, size)
    (prepared,) = chunk_products.prepare(poles[None], residues[None], weight[None], DT, groups)
    y = chunk_products.respond(chunk_products.fold(u), batch, prepared, bias)
    return chunk_products.unfold(y, batch, size)


def noise(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)])
@pytest.mark.parametrize("kind", ["smooth", "step", "ramp", "noise"])
def test_the_response_equals_the_simulation_of_scipy(dtype, tolerance, kind):
    n = 1500
    t = DT * np.arange(n)
    u = {"smooth": np.sin(1.3 * t + 0.4), "step": (t > 3) * 1.0, "ramp": t, "noise": noise(n).numpy()}[kind]
    poles, residues, weight, bias = layer(1, 1, 3)
    truth = weight.item() * u + bias.item()
    for pole, residue in zip(poles.tolist(), residues[0, 0].tolist(), strict=True):
        matrix = [[pole.real, -pole.imag], [pole.imag, pole.real]]
        system = signal.StateSpace(matrix, [[residue.real], [residue.imag]], [[1.0, 0.0]], [[0.0]])
        truth = truth + signal.lsim(system, u, t, interp=True)[1]
    found = respond(torch.tensor(u, dtype=dtype)[None, None], *layer(1, 1, 3, dtype))[0, 0].double().numpy()
    assert np.abs(found - truth).max() < tolerance * np.abs(truth).max()


@pytest.mark.parametrize(("batch", "size"), [(2, 1), (2, 2), (2, 16), (2, 17), (2, 300), (2, 2600), (1, 400)])
def test_values_and_gradients_equal_those_of_the_recurrence_sample_by_sample(batch, size):
    given = [value.requires_grad_() for value in (noise(batch, 3, size), *layer(3, 4, 2))]
    found = respond(*given)
    u, poles, residues, weight, bias = given
    truth = respond_by_samples(u, poles, residues, DT, "linear") + torch.einsum("oi,bin->bon", weight, u) + bias[:, None]
    assert (found - truth).abs().max() < 1e-12 * truth.abs().max()
    slopes = noise(*truth.shape)
    for one, other in zip(*(torch.autograd.grad(y, given, slopes) for y in (found, truth)), strict=True):
        assert (one - other).abs().max() <= 1e-12 * (1 + other.abs().max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_later_samples_do_not_change_earlier_responses(dtype):
    u, given = noise(2, 3, 700, dtype=dtype), layer(3, 3, 4, dtype)
    before = respond(u, *given)
    for moment in (1, 16, 77, 500, 699):
        changed = torch.cat((u[..., :moment], u[..., moment:] + 1), -1)
        after = respond(changed, *given)
        assert torch.equal(after[..., :moment], before[..., :moment])
        assert not torch.equal(after, before)


@pytest.mark.parametrize("training", [False, True])
def test_vmap_over_networks_equals_each_network_alone(training):
    u, given = noise(3, 2, 2, 50), layer(2, 2, 2)
    scaled = [torch.stack([value, value / 2, -value if k else value]) for k, value in enumerate(given)]
    with torch.set_grad_enabled(training):
        together = vmap(respond)(u, *scaled)
    for run in range(3):
        alone = respond(u[run], *(value[run] for value in scaled))
        assert (together[run] - alone).abs().max() < 1e-12 * alone.abs().max()


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("count", [1, 16, 17, 300])
def test_a_scan_equals_the_recurrence_step_by_step(count, back):
    poles = layer(1, 1, 3)[0]
    added = noise(3, 2, 2, count)
    levels = [type(level)(*(part[0] for part in level)) for level in make_levels(poles[None], DT, count, torch.float64)]
    found = torch.complex(*scan(added.clone(), tuple(levels), back).unbind(1))
    factor = torch.exp(poles * DT)[:, None]
    values, state, states = torch.complex(*added.unbind(1)), torch.zeros(3, 2), []
    for k in reversed(range(count)) if back else range(count):
        state = (factor.conj() if back else factor) * state + values[..., k]
        states.append(state)
    truth = torch.stack(states[::-1] if back else states, -1)
    assert (found - truth).abs().max() < 1e-12 * truth.abs().max()


def test_products_in_single_precision_agree_with_double_precision():
    a, b = noise(40, 70), noise(70, 50)
    for left, right in ((a, b), (a.mT.contiguous().mT, b), (a, b.mT.contiguous().mT), (a[8:20, -30:], b[:30])):
        found = product(left.float(), right.float())
        assert (found - left @ right).abs().max() < 1e-5 * (left @ right).abs().max()
