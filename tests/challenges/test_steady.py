"""The model for periodic records is the sum of a frequency response and a network, both in steady state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from lfno.challenges.fitted import Settings
from lfno.challenges.linear import SteadyResponse
from lfno.challenges.methods import fit_level, fit_lfno
from lfno.challenges.networks import place_poles
from lfno.challenges.protocol import Record, Training
from lfno.challenges.steady import SteadyNetwork, strongest_poles
from lfno.core.grid import Grid
from lfno.identification.periodic import PeriodicResponse, fit_periodic
from lfno.models.kernel import WINDOW, PoleResidue
from lfno.models.lfno import LFNO
from tests.challenges.layouts import POLE, signal, steady

#: number of samples in a period
SIZE = 256


def records(count: int, seed: int) -> tuple[Record, ...]:
    """Return records of a cubic nonlinearity followed by a linear system, at two levels. Each record is one period."""
    rng = np.random.default_rng(seed)
    u = signal(rng, 2, count, 1, SIZE) * np.array([1.0, 1.5])[:, None, None, None]
    y = steady(u + 0.2 * u**3)
    return tuple(Record(f"level {k}", u[k, r], y[k, r], SIZE) for k in range(2) for r in range(count))


def known_response() -> PeriodicResponse:
    """Return a frequency response, fitted to eight records of `records`."""
    inputs, outputs = (np.stack([getattr(record, side) for record in records(4, 0)]) for side in ("inputs", "outputs"))
    return fit_periodic(inputs, outputs, degree=1, width=6)


def small_network() -> LFNO:
    """Return a network with random weights."""
    torch.manual_seed(0)
    fields = {"in_channels": 2, "out_channels": 1, "width": 6, "modes": 1, "n_poles": 4, "share_poles": True}
    fields |= {"steady": "exact", "transient_layers": 2, "gate": True, "projection": 16, "hold": "trigonometric"}
    return LFNO(Grid.line(SIZE, 0.1), LFNO.Config.from_fields(fields))


def test_the_prediction_is_a_sum_and_shifts_with_the_input():
    """A circular shift of a periodic input shifts the prediction by the same number of samples."""
    path, network = SteadyResponse(known_response()), small_network()
    model = SteadyNetwork(path, network, "cpu")
    record = records(1, 3)[0]
    alone = path.simulate(record.question(0))
    x = torch.as_tensor(np.concatenate([record.inputs, alone])[None], dtype=torch.float32)
    with torch.no_grad():
        more = network.respond(x, transient=False)[0].numpy()
    answer = model.simulate(record.question(0))
    np.testing.assert_allclose(answer, alone + more, atol=1e-5 * np.abs(more).max())
    moved = replace(record, inputs=np.roll(record.inputs, 37, -1))
    np.testing.assert_allclose(model.simulate(moved.question(0)), np.roll(answer, 37, -1), atol=1e-4 * np.abs(answer).max())


def test_the_poles_of_layers_are_initialised_with_the_poles_of_the_response():
    step, size = 0.1, 1024
    u = signal(np.random.default_rng(4), 6, 1, size)
    response = fit_periodic(u, steady(u), degree=0, width=6)
    expected = np.log(POLE) / step
    found = strongest_poles(response, step, 4)
    assert abs(found[0] - expected) < 1e-2 * abs(expected)
    network = LFNO(Grid.line(size, step), width=8, modes=1, n_poles=4, share_poles=True, steady="exact", cycles=300.0)
    before = [gain(network, kernel) for kernel in network.modules() if isinstance(kernel, PoleResidue)]
    place_poles(network, found[:1])
    kernels = [kernel for kernel in network.modules() if isinstance(kernel, PoleResidue)]
    for kernel in kernels:
        decay, swing = kernel.get_parameter("poles_0")[0].tolist()
        placed = complex(-np.exp(decay), swing) * WINDOW / (size * step)
        assert abs(placed - found[0]) < 1e-4 * abs(placed)
    after = [gain(network, kernel) for kernel in kernels]
    assert all(0.5 < b / a < 2 for a, b in zip(before, after, strict=True))


def gain(network: LFNO, kernel: PoleResidue) -> float:
    """Return the root mean square of the frequency response of a layer."""
    with torch.no_grad():
        return float(kernel.transfer((None,), (1024,), network.steps(network.grid)).abs().square().mean().sqrt())


def test_the_network_learns_a_nonlinearity_that_a_frequency_response_cannot_describe():
    training = Training(records(24, 1), 0.1, 10)
    changes = {"width": 8, "transient_layers": 2, "n_poles": 4, "projection": 16}
    changes |= {"epochs": 60, "batch": 10, "validate_every": 2, "learning_rate": 0.02}
    level, lfno = fit_level(training, Settings()), fit_lfno(training, Settings(changes=changes))
    for name, value in lfno.validation.items():
        assert value < 0.75 * level.validation[name]
    seen = [
        np.mean([np.std(one.models[0].simulate(record.question(10)) - record.outputs) for record in records(3, 2)])
        for one in (level, lfno)
    ]
    assert seen[1] < 0.75 * seen[0]
