"""The network for periodic records: its linear path is exact, and it learns a nonlinear force in front of it."""

from __future__ import annotations

import numpy as np
import torch

from lfno.challenges.correction import InputCorrection
from lfno.challenges.fitted import Settings
from lfno.challenges.methods import fit_level, fit_lfno
from lfno.challenges.protocol import Record, Training
from lfno.core.grid import Grid
from lfno.identification.periodic import fit_periodic
from lfno.models.lfno import LFNO
from lfno.training.task import hasten
from tests.challenges.layouts import signal, steady

SIZE = 256


def records(count: int, seed: int) -> tuple[Record, ...]:
    """Two levels of a linear system behind a cubic nonlinearity, each record one period."""
    rng = np.random.default_rng(seed)
    u = signal(rng, 2, count, 1, SIZE) * np.array([1.0, 1.5])[:, None, None, None]
    y = steady(u + 0.2 * u**3)
    return tuple(Record(f"level {k}", u[k, r], y[k, r], SIZE) for k in range(2) for r in range(count))


def make(config: dict) -> tuple[InputCorrection, np.ndarray]:
    inputs = np.stack([record.inputs for record in records(4, 0)])
    outputs = np.stack([record.outputs for record in records(4, 0)])
    response = fit_periodic(inputs, outputs, degree=1, width=6)
    torch.manual_seed(0)
    fields = {"in_channels": 2, "out_channels": 1, "width": 6, "modes": 1, "n_poles": 4, "share_poles": True}
    fields |= {"steady": "exact", "transient_layers": 2, "gate": True, "projection": 16}
    network = InputCorrection(Grid.line(SIZE, 0.1), LFNO.Config.from_fields(fields | config), response, unit=0.5)
    return network, np.concatenate([inputs, response.simulate(inputs)], 1)


def test_the_answer_is_the_networks_correction_through_the_response():
    network, x = make({})
    x32 = torch.as_tensor(x, dtype=torch.float32)
    with torch.no_grad():
        found = network.respond(x32).numpy()
        correction = LFNO.respond(network, x32, transient=False).numpy()
    level = np.sqrt((x[:, :1] ** 2).mean((1, 2))) / network.level.item()
    response = torch.view_as_complex(network.response).numpy()  # in units of 0.5
    expected = sum(level[:, None, None] ** k * np.fft.rfft(correction) * response[k, 0, 0] for k in range(2))
    np.testing.assert_allclose(found, np.fft.irfft(expected, SIZE), atol=1e-5 * np.abs(found).max())


def test_a_shifted_period_has_a_shifted_answer():
    """The steady state has no beginning."""
    network, x = make({})
    x32 = torch.as_tensor(x, dtype=torch.float32)
    with torch.no_grad():
        here, there = network.respond(x32), network.respond(x32.roll(37, -1))
    torch.testing.assert_close(here.roll(37, -1), there, atol=1e-5, rtol=1e-4)


def test_faster_poles_keep_the_gain_of_a_layer():
    torch.manual_seed(0)
    grid = Grid.line(4096, 1.0)
    networks = [LFNO(grid, width=16, modes=1, n_poles=32, share_poles=True, steady="exact", cycles=1500.0) for _ in range(2)]
    networks[1].load_state_dict(networks[0].state_dict())
    hasten(networks[1], 10.0)
    with torch.no_grad():
        gains = [
            float(network.blocks[0].kernel.transfer((None,), (4096,), network.steps(grid)).abs().square().mean().sqrt())
            for network in networks
        ]
    assert 0.7 < gains[1] / gains[0] < 1.4


def test_the_network_learns_a_force_that_no_linear_model_has():
    training = Training(records(24, 1), 0.1, 10)
    changes = {"width": 8, "transient_layers": 1, "n_poles": 4, "projection": 16}
    changes |= {"epochs": 20, "batch": 10, "validate_every": 2, "learning_rate": 0.02}
    level, lfno = fit_level(training, Settings()), fit_lfno(training, Settings(changes=changes))
    for name, value in lfno.validation.items():
        assert value < 0.75 * level.validation[name]
    seen = [
        np.mean([np.std(one.models[0].simulate(record.question(10)) - record.outputs) for record in records(3, 2)])
        for one in (level, lfno)
    ]
    assert seen[1] < 0.75 * seen[0]
