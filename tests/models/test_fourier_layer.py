"""The Fourier layer against an independent implementation and against the definition."""

import math

import pytest
import torch

from lfno.models.fourier_weights import FourierWeights

# Axes with modes of both signs have even sizes, because neuraloperator 2.0.0 shifts the modes of odd sizes by one.
CASES = [((32,), (9,)), ((33,), (17,)), ((12, 16), (4, 5)), ((12, 15), (6, 8)), ((8, 6, 11), (3, 3, 5))]


@pytest.mark.parametrize(("shape", "modes"), CASES)
def test_equals_neuraloperator_with_the_same_weights(shape, modes):
    """Our modes |l| < K are n_modes = 2K − 1 in neuraloperator, which stores signed modes in the order −(K−1) … K−1."""
    neuralop = pytest.importorskip("neuralop.layers.spectral_convolution")
    torch.manual_seed(0)
    ours = FourierWeights(2, 3, modes)
    theirs = neuralop.SpectralConv(2, 3, n_modes=tuple(2 * k - 1 for k in modes), bias=False)
    axes = tuple(range(2, 1 + len(modes)))
    matrix = torch.fft.fftshift(ours.matrix.detach(), dim=axes) if axes else ours.matrix.detach()
    with torch.no_grad():
        theirs.weight.tensor.copy_(matrix)
    x = torch.randn(4, 2, *shape)
    # neuraloperator normalises the forward transform, and lfno the inverse transform; the results are equal
    difference = (ours(x) - theirs(x)).abs().max()
    assert difference < 1e-5 * theirs(x).abs().max()


def test_a_wave_is_multiplied_by_its_own_weight():
    n, k = 24, 3
    layer = FourierWeights(1, 1, (6,)).double()
    t = 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    gain = layer.matrix[0, 0, k].detach()
    answer = layer(torch.cos(k * t)[None, None])
    torch.testing.assert_close(answer[0, 0], gain.abs() * torch.cos(k * t + gain.angle()))
    dropped = layer(torch.cos(6 * t)[None, None])
    assert dropped.abs().max() < 1e-12


@pytest.mark.parametrize(("kx", "kt"), [(1, 2), (-1, 2), (2, 0), (0, 3)])
def test_every_combination_of_signs_has_a_weight(kx, kt):
    nx, nt = 9, 10
    layer = FourierWeights(1, 1, (3, 4)).double()
    x = 2 * math.pi * torch.arange(nx, dtype=torch.float64)[:, None] / nx
    t = 2 * math.pi * torch.arange(nt, dtype=torch.float64) / nt
    gain = layer.matrix[0, 0, kx, kt].detach()
    if kt == 0:
        # the modes (kx, 0) and (−kx, 0) have one weight each. The output is real, so the gain of the wave is the mean of the
        # first weight and of the conjugate of the second weight
        gain = (gain + layer.matrix[0, 0, -kx, 0].detach().conj()) / 2
    answer = layer(torch.cos(kx * x + kt * t)[None, None])
    torch.testing.assert_close(answer[0, 0], gain.abs() * torch.cos(kx * x + kt * t + gain.angle()))
