"""Numbers of parameters and operations, and peak memory, equal the values that we compute by hand."""

import math

import pytest
import torch
from torch import nn

from lfno.core.grid import Grid
from lfno.models import FNO, FNOConfig
from lfno.paper.cost import count_operations, count_parameters, latency, peak_memory


class Poles(nn.Module):
    """A module with all kinds of parameters: complex as (re, im), complex, frozen and real."""

    complex_parameters = ("poles",)

    def __init__(self) -> None:
        super().__init__()
        self.poles = nn.Parameter(torch.zeros(3, 4, 2))
        self.native = nn.Parameter(torch.zeros(5, dtype=torch.complex64))
        self.frozen = nn.Parameter(torch.zeros(7), requires_grad=False)
        self.weight = nn.Linear(2, 3)


def test_parameters_with_complex_numbers_counted_once_and_twice() -> None:
    assert count_parameters(Poles()) == {"complex_once": 12 + 5 + 9, "real": 24 + 10 + 9}


@pytest.mark.parametrize("inputs", [torch.ones(7, 10), torch.ones(1, 7, 10)])
def test_operations_of_a_linear_layer(inputs: torch.Tensor) -> None:
    layer = nn.Linear(10, 20, bias=False)
    assert count_operations(lambda: layer(inputs)) == {"macs": 7 * 10 * 20, "flops": 2 * 7 * 10 * 20}


def test_bias_and_activation_cost_no_macs() -> None:
    network = nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Linear(20, 1))
    assert count_operations(lambda: network(torch.ones(7, 10)))["macs"] == 7 * (200 + 20)


@pytest.mark.parametrize("groups", [1, 2])
def test_operations_of_a_convolution(groups: int) -> None:
    layer = nn.Conv1d(4, 6, 3, groups=groups)
    assert count_operations(lambda: layer(torch.ones(2, 4, 12)))["macs"] == 2 * 10 * 6 * (4 // groups) * 3


def test_operations_of_fourier_transforms() -> None:
    size, batch = 1024, 3
    signal = torch.ones(batch, size)
    whole = 5 * size * math.log2(size) * batch
    assert count_operations(lambda: torch.fft.fft(signal.to(torch.complex64)))["flops"] == whole
    assert count_operations(lambda: torch.fft.rfft(signal))["flops"] == whole / 2
    half = torch.fft.rfft(signal)
    assert count_operations(lambda: torch.fft.irfft(half, n=size, norm="forward"))["flops"] == whole / 2
    plane = torch.ones(16, 64, dtype=torch.complex64)
    assert count_operations(lambda: torch.fft.fft2(plane))["flops"] == 5 * 1024 * 10


def test_complex_products_are_four_real_ones() -> None:
    left, right = torch.ones(3, 4, dtype=torch.complex64), torch.ones(4, 5, dtype=torch.complex64)
    assert count_operations(lambda: left @ right) == {"macs": 4 * 60, "flops": 8 * 60}
    modes = torch.ones(2, 3, 8, dtype=torch.complex64)
    weight = torch.ones(3, 5, 8, dtype=torch.complex64)
    assert count_operations(lambda: torch.einsum("bik,iok->bok", modes, weight))["macs"] == 4 * 2 * 3 * 5 * 8
    assert count_operations(lambda: left * left) == {"macs": 0, "flops": 6 * 12}


def test_peak_memory_counts_tensors_that_exist_at_the_same_time() -> None:
    start = torch.ones(1000)

    def chain() -> torch.Tensor:
        first = start + 1  # 4 kB
        second = first * 2  # 8 kB for both
        del first
        return (second + 1).view(10, 100)  # 8 kB for `second` and the result; the view needs no memory

    assert peak_memory(chain, "cpu") == 8000
    assert peak_memory(lambda: start.view(10, 100).add_(1), "cpu") == 0


def test_latency_calls_the_function_for_warmups_and_runs() -> None:
    calls: list[int] = []
    measured = latency(lambda: calls.append(1), "cpu", warmups=10, runs=100)
    assert len(calls) == 110
    assert measured.mean > 0
    assert measured.runs == 100


def test_operations_and_parameters_of_an_fno() -> None:
    """The FNO has a lift, four layers and a projection with 128 hidden channels.

    A layer has two Fourier transforms between real and complex numbers, a product with R at the modes, and a product with W at
    the points.
    """
    size, width, modes = 2048, 4, 16
    model = FNO(Grid.line(size, 0.01), FNOConfig(width=width, modes=modes))
    transforms = 2 * width * 2.5 * size * math.log2(size) / 2
    layer = transforms + 4 * modes * width**2 + size * width**2
    expected = size * width + 4 * layer + size * (width * 128 + 128)
    assert count_operations(lambda: model(torch.ones(1, 1, size)))["macs"] == expected
    assert count_parameters(model)["complex_once"] == 1881
