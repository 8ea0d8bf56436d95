"""Small-signal modes of networks. The modes of a network with one layer are the poles of this layer."""

import numpy as np
import pytest
import torch

import lfno
from lfno.core.errors import LfnoError
from lfno.evaluation.modes import force_shapes, network_modes
from lfno.evaluation.truth import true_poles


def shallow(seed: int) -> lfno.LFNO:
    """Return a network with one exact layer of two poles. Linearised, it has the modes of these poles and no others."""
    torch.manual_seed(seed)
    grid = lfno.Grid.line(512, dt=0.05)
    model = lfno.LFNO(grid, width=4, modes=8, n_poles=2, share_poles=True, transient_layers=1, projection=8, steady="exact")
    model.provenance = {"band": [0.05, 3.0]}
    return model


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_modes_of_a_shallow_network_are_the_poles_of_its_layer(seed: int) -> None:
    model = shallow(seed)
    inside = model.poles().pole
    found = network_modes(model)
    strong = found.poles[found.contributions > 0.05]
    assert len(strong) > 0
    for pole in strong:
        assert np.abs(inside - pole).min() < 0.02 * abs(pole)


def test_an_ensemble_adds_the_scatter_of_its_members() -> None:
    one = shallow(0)
    other = shallow(0)
    with torch.no_grad():
        other.lift.weight *= 1.01  # the same poles, another gain
    together, alone = network_modes([one, other]), network_modes(one)
    assert together.poles[0] == pytest.approx(alone.poles[0], rel=0.01)
    assert np.trace(together.covariance[0]) >= 0.99 * np.trace(alone.covariance[0])


def test_forces_on_a_field_are_half_waves_that_are_zero_at_the_ends() -> None:
    grid = lfno.Grid((lfno.Axis("x", 9, 0.5), lfno.Axis("t", 64, 0.1, time=True)))
    shapes = force_shapes(lfno.LFNO(grid, width=2, modes=4, in_channels=2))
    assert shapes.shape == (8, 2, 9)
    assert np.abs(shapes[..., [0, -1]]).max() < 1e-12
    signs = [int((np.diff(np.sign(shapes[k, 0, 1:-1])) != 0).sum()) for k in range(4)]
    assert signs[0] == 0


def test_a_model_without_time_has_no_modes() -> None:
    grid = lfno.Grid((lfno.Axis("x", 16, 0.5), lfno.Axis("y", 16, 0.1)))
    with pytest.raises(LfnoError, match="time axis"):
        network_modes(lfno.FNO(grid, width=2, modes=4))


def test_the_true_poles_are_known_only_for_built_in_data() -> None:
    assert true_poles({"data": {"name": "pendulum-c05-rich"}}) == pytest.approx([-0.25 + 1j * np.sqrt(1 - 0.25**2)], rel=1e-6)
    assert true_poles({"data": {"name": "brusselator-rich"}}) is None
    assert true_poles({"data": {"name": "somebody's own"}}) is None


def test_the_modes_of_a_network_for_fields_are_the_modes_of_the_equation() -> None:
    """The equation has decays and no oscillations. Four modes contribute more than 5 %. Their poles are right within 2 %."""
    model = lfno.load("reaction-diffusion-rich-lfno")
    truth = true_poles(model.provenance)
    assert truth is not None
    strong = [mode for mode in model.modes() if mode.contribution > 0.05]
    assert [mode.frequency for mode in strong] == [0.0] * 4
    for mode, pole in zip(strong, truth, strict=False):
        assert mode.pole == pytest.approx(pole, rel=0.02)
        assert mode.time_constant_interval[0] < -1 / pole.real < mode.time_constant_interval[1]


def test_a_field_that_never_rests_has_no_small_signal_modes() -> None:
    with pytest.raises(LfnoError, match="moves without any force"):
        lfno.load("brusselator-rich").modes()
