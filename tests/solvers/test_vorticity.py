"""Flow on the torus: exact solutions, invariants, order of convergence, and agreement with an independent solver."""


import numpy as np
import pytest
import torch

from lfno.solvers.etdrk4 import ETDRK4
from lfno.solvers.vorticity import VorticityFlow, convective_flow

TAU = 2 * np.pi


def unit_mesh(size):
    side = torch.arange(size, dtype=torch.float64) / size
    return torch.meshgrid(side, side, indexing="ij")


def stirring(x, y):
    return 0.1 * (torch.sin(TAU * (x + y)) + torch.cos(TAU * (x + y)))


def two_waves(x, y):
    return (torch.sin(TAU * x) + torch.cos(TAU * (x + 2 * y)))[None]


def test_etdrk4_has_order_four():
    """The solution of w′ = −5 w + w² with w(0) = 1 is w = 5 / (1 + 4 e^{5t})."""
    errors = []
    for steps in (10, 20, 40):
        step, w = ETDRK4(torch.tensor([-5.0], dtype=torch.float64), 1 / steps), torch.ones(1, dtype=torch.float64)
        for _ in range(steps):
            w = step(w, lambda w: w**2)
        errors.append(abs(float(w[0]) - 5 / (1 + 4 * np.exp(5))))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4) < 0.4), orders


def test_from_rest_the_flow_is_a_growing_multiple_of_the_forcing():
    """With w0 = 0 the advection term is zero, so that w = g (1 − e^{−8π²νt})/(8π²ν)."""
    x, y = unit_mesh(32)
    flow = VorticityFlow(32, 1.0, 1e-3)
    w = flow.frames(torch.zeros(1, 32, 32, dtype=torch.float64), stirring(x, y), np.arange(1.0, 51.0), 0.04)
    rate = 2 * TAU**2 * 1e-3
    exact = stirring(x, y) * (1 - np.exp(-50 * rate)) / rate
    assert float((w[0, ..., -1] - exact).abs().max()) < 1e-10
    assert float(w[0, 0, 0, -1]) == pytest.approx(1.2420757424, abs=1e-10)  # computed independently


def test_smooth_field_against_values_computed_independently():
    x, y = unit_mesh(64)
    w = VorticityFlow(64, 1.0, 1e-3).frames(two_waves(x, y), stirring(x, y), np.arange(1.0, 11.0), 0.04)
    found = w[0, 16, 32, [0, 4, 9]].numpy()
    np.testing.assert_allclose(found, [0.87736908, 0.49888161, -0.51917313], atol=1e-6)


def test_flow_converges_at_fourth_order_in_time():
    x, y = unit_mesh(32)
    flow = VorticityFlow(32, 1.0, 1e-3)
    initial, forcing, times = 3 * two_waves(x, y), stirring(x, y), np.array([1.0])
    finest = flow.frames(initial, forcing, times, 1 / 320)
    errors = [float((flow.frames(initial, forcing, times, dt) - finest).abs().max()) for dt in (1 / 20, 1 / 40, 1 / 80)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 3.6), (errors, orders)


def test_agrees_with_the_convective_form_on_a_finer_grid():
    (x, y), (fine_x, fine_y) = unit_mesh(64), unit_mesh(96)
    times = np.array([0.5, 1.0])
    fast = VorticityFlow(64, 1.0, 5e-3).frames(two_waves(x, y), stirring(x, y), times, 0.02)[0].numpy()
    slow = convective_flow(two_waves(fine_x, fine_y)[0].numpy(), stirring(fine_x, fine_y).numpy(), 1.0, 5e-3, times, 0.005)
    np.testing.assert_allclose(fast[::2, ::2], slow[::3, ::3], atol=1e-7)


def test_the_advection_term_changes_neither_energy_nor_enstrophy():
    flow = VorticityFlow(32, 1.0, 0.0)
    generator = torch.Generator().manual_seed(0)
    w = flow.analyse(torch.randn(3, 32, 32, dtype=torch.float64, generator=generator))
    change = flow.advection(w)

    def product(a, b):
        return (flow.synthesise(a) * flow.synthesise(b)).mean(dim=(-2, -1))

    stream = (flow.velocity.abs() ** 2).sum(dim=(0, 1)) * w  # ψ̂ = ŵ/|k|²
    size = float(product(change, change).max()) ** 0.5
    assert float(product(change, w).abs().max()) < 1e-12 * size
    assert float(product(change, stream).abs().max()) < 1e-12 * size


def test_series_and_fields_are_inverse_to_each_other():
    flow = VorticityFlow(32, TAU, 1e-3)
    generator = torch.Generator().manual_seed(1)
    series = flow.analyse(torch.randn(2, 32, 32, dtype=torch.float64, generator=generator))
    again = flow.analyse(flow.synthesise(series))
    assert float((again - series).abs().max()) < 1e-14


def test_a_fast_flow_refines_its_step_with_a_message():
    x, y = unit_mesh(32)
    flow = VorticityFlow(32, 1.0, 1e-3)
    with pytest.warns(UserWarning, match=r"too fast for a time step of 0\.04; it was refined"):
        coarse = flow.frames(100 * two_waves(x, y), 0 * x, np.array([0.04]), 0.04)
    assert bool(torch.isfinite(coarse).all())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cuda_gives_the_same_flow():
    x, y = unit_mesh(64)
    times = np.array([1.0, 2.0])
    here = VorticityFlow(64, 1.0, 1e-3).frames(two_waves(x, y), stirring(x, y), times, 0.04)
    flow = VorticityFlow(64, 1.0, 1e-3, torch.device("cuda"))
    there = flow.frames(two_waves(x, y).cuda(), stirring(x, y).cuda(), times, 0.04)
    assert float((here - there.cpu()).abs().max()) < 1e-11
