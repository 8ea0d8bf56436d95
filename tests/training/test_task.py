"""`hasten` changes the decay rates of stable poles. Frequencies, and energies of impulse responses, stay the same."""

import pytest
import torch

from lfno import LFNO, Grid
from lfno.training.task import hasten


def poles_and_energies(network):
    """Return the poles of the first layer, and the energies ∫|β e^{μt}|² dt = |β|² / (2 |Re μ|) of their impulse responses."""
    kernel = network.blocks[0].kernel
    poles = kernel.time_poles().detach()
    return poles, kernel.residues.detach().square().sum(-1) / (2 * poles.real.abs())


def test_stable_poles_decay_faster_with_the_same_frequency_and_energy():
    network = LFNO(Grid.line(64, dt=0.1), width=3, modes=4, n_poles=5).double()
    poles, energies = poles_and_energies(network)
    hasten(network, 3.0)
    faster, after = poles_and_energies(network)
    torch.testing.assert_close(faster, torch.complex(3 * poles.real, poles.imag))
    torch.testing.assert_close(after, energies)


@pytest.mark.parametrize(("poles", "factor"), [("free", 3.0), ("stable", 1.0)])
def test_free_poles_and_a_factor_of_one_change_nothing(poles, factor):
    network = LFNO(Grid.line(64, dt=0.1), width=3, modes=4, n_poles=5, poles=poles)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    hasten(network, factor)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
