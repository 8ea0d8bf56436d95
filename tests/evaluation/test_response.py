"""Nonlinear frequency responses and backbones, compared with transfer functions and with the exact Duffing oscillator."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from lfno import FNO, LFNO, Grid
from lfno.core.errors import LfnoError
from lfno.evaluation.backbone import backbone, decay_backbone, resolve
from lfno.evaluation.response import Response, response, system_response
from lfno.systems import Duffing, Heat, Pendulum


def test_the_response_of_a_linear_system_is_its_transfer_function():
    found = system_response(Duffing(c=0.5, beta=0.0), [0.1, 0.3, 1.0], [1.0, 3.0], harmonics=3)
    omega = 2 * np.pi * found.frequencies
    expected = np.array([[1.0], [3.0]]) / (1 - omega**2 + 0.5j * omega)
    assert np.abs(found.harmonics[:, :, 0, 1] - expected).max() < 1e-4 * np.abs(expected).max()
    assert found.unique.all()
    assert found.distortion.max() < 1e-4


def test_harmonic_balance_of_a_weakly_nonlinear_duffing_oscillator():
    """If higher harmonics are small, the fundamental X of the response to the force F fulfils X(α − ω² + ¾β|X|² + icω) = F."""
    found = system_response(Duffing(c=0.5), [0.1, 0.25], [0.5])
    for k, omega in enumerate(2 * np.pi * found.frequencies):
        size = found.harmonics[0, k, 0, 1]
        assert size * (1 - omega**2 + 0.75 * abs(size) ** 2 + 0.5j * omega) == pytest.approx(0.5, rel=0.02)
    assert found.distortion.max() < 0.05


def test_a_folded_resonance_is_not_unique():
    """A weakly damped oscillator that is driven above its resonance has two steady states, with small and large amplitude."""
    found = system_response(Duffing(c=0.1), [0.25], [0.3])
    assert not found.unique[0, 0]


def test_whole_turns_of_a_pendulum_do_not_count():
    """A pendulum that has gone over the top oscillates about 2π as it does about zero."""
    found = system_response(Pendulum(c=0.5), [0.05, 0.1], [0.5])
    turned = system_response(Turned(c=0.5), [0.05, 0.1], [0.5])
    assert found.unique.all()
    assert turned.unique.all()
    assert np.abs(turned.harmonics[..., 0] - found.harmonics[..., 0] - 2 * np.pi).max() < 1e-3
    assert np.abs(turned.harmonics[..., 1:] - found.harmonics[..., 1:]).max() < 1e-3


class Turned(Pendulum):
    """A pendulum that hangs at rest after one full turn: x(0) = 2π."""

    start = (2 * np.pi, 0.0)


def test_the_response_is_computed_on_one_cycle():
    """The steady response on one cycle is equal to the steady response on a window with eight cycles."""
    torch.manual_seed(0)
    grid = Grid.line(1024, dt=0.02)
    model = LFNO(grid, width=4, modes=8, n_poles=4, transient_layers=2, steady="exact").eval()
    frequency = 8 / grid.axes[0].length
    found = response(model, [frequency], [0.5, 2.0], harmonics=3)
    force = np.array([0.5, 2.0])[:, None, None] * np.cos(2 * np.pi * frequency * grid["t"].points)
    spectrum = np.fft.rfft(model.decompose(force)[1]) / 1024
    expected = spectrum[:, :, [0, 8, 16, 24]] * np.array([1, 2, 2, 2])
    np.testing.assert_allclose(found.harmonics[:, 0], expected, atol=1e-5 * np.abs(expected).max())


def test_the_response_of_a_function():
    found = response(lambda x, grid: x**3, [1.0, 2.0], [2.0], channels=1, step=0.01)
    assert found.amplitude == pytest.approx(6.0)  # (2 cos φ)³ = 6 cos φ + 2 cos 3φ
    assert found.distortion == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: response(FNO(Grid.line(64, 0.1), width=2, modes=4), [1.0], [1.0]), "exact steady layers"),
        (lambda: response(LFNO(Grid.line(64, 0.1), width=2, modes=4, steady="residual"), [1.0], [1.0]), "exact"),
        (lambda: response(np.sin, [1.0], [1.0]), "decompose"),
        (lambda: response(lambda x, g: x, [0.0], [1.0], channels=1, step=0.1), "positive"),
        (lambda: response(lambda x, g: x, [1.0], [1.0], channels=1, step=0.1, channel=2), "no input 2"),
    ],
)
def test_models_and_inputs_without_a_frequency_response_raise_an_error(call, words):
    with pytest.raises(LfnoError, match=words):
        call()


def test_the_response_is_nan_without_a_periodic_steady_state():
    assert np.isnan(system_response(Duffing(c=0), [1.0], [1.0]).harmonics).all()
    assert np.isnan(system_response(Heat(), [1.0], [1.0]).harmonics).all()


def free_duffing(amplitude):
    """Return (frequency in Hz, amplitude of the first harmonic) of ẍ + x + x³ = 0 for each peak amplitude A.

    The exact solution is x = A cn(u, m) with a Jacobi elliptic function.
    """
    modulus = amplitude**2 / (2 * (1 + amplitude**2))
    frequency = np.sqrt(1 + amplitude**2) / (4 * ellipk(modulus))
    phases = np.arange(512) / 512
    shapes = [a * ellipj(4 * ellipk(m) * phases, m)[1] for a, m in zip(amplitude, modulus, strict=True)]
    return frequency, 2 * np.abs(np.fft.rfft(shapes)[:, 1]) / 512


def test_the_backbone_of_duffing_by_phase_resonance():
    """For small forces, the frequency is right within 1 % of the free oscillator, and the damping within 10 % of c/(2ω)."""
    forces, frequencies = np.array([0.1, 0.4, 0.7]), np.array([0.03, *np.linspace(0.15, 0.23, 9)])
    curve = backbone(system_response(Duffing(c=0.5), frequencies, forces))
    exact, first = free_duffing(np.linspace(0.01, 1.5, 200))
    assert len(curve.frequency) == 3
    np.testing.assert_allclose(curve.frequency, np.interp(curve.amplitude, first, exact), rtol=0.01)
    np.testing.assert_allclose(curve.damping_ratio, 0.5 / (4 * np.pi * curve.frequency), rtol=0.1)


def test_a_sharp_resonance_is_resolved():
    """A resonance with a damping ratio of 0.5 % lies between two of ten frequencies. `resolve` adds frequencies near it.

    The frequency of the backbone is then right within 0.1 %, and the damping within 2 %.
    """

    def ask(frequencies, amplitudes):
        """Return the exact response of a linear oscillator."""
        omega = 2 * np.pi * np.asarray(frequencies)
        one = 1 / (1 - omega**2 + 0.01j * omega)
        harmonics = np.multiply.outer(np.asarray(amplitudes), one)[..., None, None] * np.array([0, 1])
        return Response(np.asarray(frequencies), np.asarray(amplitudes), harmonics)

    curve = backbone(resolve(ask, ask(np.linspace(0.02, 0.4, 10), np.ones(1))))
    np.testing.assert_allclose(curve.frequency, 1 / (2 * np.pi), rtol=1e-3)
    np.testing.assert_allclose(curve.damping_ratio, 0.005, rtol=0.02)


@pytest.mark.parametrize("c", [0.02, 0.2])
def test_the_backbone_of_duffing_by_free_decay(c):
    """The decay begins at the amplitude 2. The frequency is right within 1 % at every amplitude of the decay."""
    time = 0.02 * np.arange(3000)
    start = solve_ivp(lambda t, y: [y[1], -c * y[1] - y[0] - y[0] ** 3], (0, 60), [2, 0], "DOP853", time, rtol=1e-9)
    curve = decay_backbone(start.y[0], 0.02)
    amplitudes = np.linspace(1e-3, 2, 1000)
    np.testing.assert_allclose(curve.frequency, np.interp(curve.amplitude, amplitudes, free_duffing(amplitudes)[0]), rtol=0.01)
    assert curve.damping_ratio[-1] < 0.8 * curve.damping_ratio[0]  # c/(2ω): ω is higher at large amplitudes


def test_the_damping_of_a_decay_with_small_amplitude():
    time = 0.02 * np.arange(3000)
    start = solve_ivp(lambda t, y: [y[1], -0.2 * y[1] - y[0] - y[0] ** 3], (0, 60), [0.05, 0], "DOP853", time, rtol=1e-9)
    np.testing.assert_allclose(decay_backbone(start.y[0], 0.02).damping_ratio[5:], 0.1, rtol=0.02)


def test_a_response_without_resonance_raises_an_error():
    flat = Response(np.linspace(1, 2, 5), np.ones(1), np.ones((1, 5, 1, 3), dtype=complex))
    with pytest.raises(LfnoError, match="there is no resonance"):
        backbone(flat)
    with pytest.raises(LfnoError, match="about zero"):
        decay_backbone(np.random.default_rng(0).normal(size=500), 0.01)


def test_the_phase_is_continuous_across_a_frequency_without_steady_state() -> None:
    frequencies = np.linspace(0.1, 1, 10)
    turns = np.exp(-1j * np.linspace(0, 6, 10))
    harmonics = np.stack([0 * turns, turns], axis=-1)[None, :, None, :]
    whole = Response(frequencies, np.ones(1), harmonics).phase
    harmonics = harmonics.copy()
    harmonics[:, 4] = np.nan
    found = Response(frequencies, np.ones(1), harmonics).phase
    assert np.isnan(found[0, 4, 0])
    np.testing.assert_allclose(np.delete(found, 4, axis=1), np.delete(whole, 4, axis=1))


def responding(frequencies, amplitudes, modes, order=0):
    """Return the exact response of a sum of modes (gain, natural frequency, damping ratio) for the order-th derivative."""
    omega = 2 * np.pi * np.asarray(frequencies)
    one = sum(gain / (own**2 - omega**2 + 2j * ratio * own * omega) for gain, own, ratio in modes) * (1j * omega) ** order
    harmonics = np.multiply.outer(np.asarray(amplitudes), one)[..., None, None] * np.array([0, 1])
    return Response(np.asarray(frequencies), np.asarray(amplitudes), harmonics)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_backbone_of_a_displacement_a_velocity_and_an_acceleration(order):
    found = responding(np.linspace(0.2, 2, 200), [0.5, 1.0], [(3.0, 6.0, 0.05)], order)
    curve = backbone(found)
    np.testing.assert_allclose(curve.frequency, 6 / (2 * np.pi), rtol=1e-3)
    np.testing.assert_allclose(curve.damping_ratio, 0.05, rtol=0.02)


def test_two_modes_at_neighbouring_frequencies_have_no_backbone():
    """The sharp mode at 0.25 Hz lies on the flank of a broad mode. The amplitude alone would give a damping ratio of 0.1."""
    two = [(0.1, 2 * np.pi * 0.25, 0.012), (1.0, 2 * np.pi * 0.335, 0.1)]
    with pytest.raises(LfnoError, match="more than one mode responds"):
        backbone(responding(np.geomspace(0.03, 0.6, 400), [1.0], two))
    weak = [(1.0, 2 * np.pi * 0.25, 0.012), (0.05, 2 * np.pi * 2.0, 0.1)]
    curve = backbone(responding(np.geomspace(0.03, 0.6, 2000), [1.0], weak))
    np.testing.assert_allclose(curve.damping_ratio, 0.012, rtol=0.1)
