"""Values and gradients of the GPU kernels of a layer equal those of a recurrence sample by sample in double precision.

On a machine without a GPU, the kernels run in Triton's interpreter, which executes the same program.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import vmap

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
pytest.importorskip("triton")

from lfno.backends.chunked.coefficients import prepare  # noqa: E402
from lfno.backends.recurrence_kernel import gated_recurrence  # noqa: E402

DT = 0.05
#: largest error of values and of gradients with respect to fields, relative to the largest entry
EXACT = 1e-5
#: largest error of gradients with respect to parameters. The kernels round the factors of these sums to 11 significant bits, so
#: that every summand has a relative error of up to 2⁻¹¹ = 5e-4; sums whose summands cancel have a larger one
ROUNDED = 2e-3
ACTIVATIONS = {"gelu": torch.nn.functional.gelu, "sin": torch.sin, "": lambda x: x}


def sample_by_sample(
    v: Tensor, poles: Tensor, residues: Tensor, weight: Tensor, bias: Tensor, gate: list[Tensor], terms: list[Tensor],
    act: str, skip: bool,
) -> Tensor:  # fmt: skip
    """Return the output of a layer, computed one sample after the other."""
    z = (poles * DT)[:, None, None]
    q = torch.exp(z)
    b1, b0 = DT * (q * (z - 1) + 1) / z**2, DT * (q - 1 - z) / z**2
    x = torch.zeros(*v.shape[:3], poles.shape[1], dtype=poles.dtype, device=v.device)
    states = [x]
    for n in range(v.shape[-1] - 1):
        x = q * x + b1 * v[..., n, None] + b0 * v[..., n + 1, None]
        states.append(x)
    y = torch.einsum("siom,sbimn->sbon", residues, torch.stack(states, -1)).real
    total = y + torch.einsum("soi,sbin->sbon", weight, v) + bias[:, None, :, None]
    for term in terms:
        total = total + term
    u = ACTIVATIONS[act](total)
    if gate:
        both = torch.einsum("soi,sbin->sbon", gate[0], u) + gate[1][:, None, :, None]
        u = torch.nn.functional.glu(both, 2)
    return v + u if skip else u


def layer(runs: int, batch: int, channels: int, points: int, poles: int, gate: bool, terms: int) -> list[Tensor]:
    """Return random parameters and fields in single precision.

    Poles have time constants from 1 to 40 points. The fastest oscillation has a period of 13 points.
    """
    torch.manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(runs, *shape, device=DEVICE)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(runs, *shape, device=DEVICE)

    mu = torch.complex(-0.5 - 20 * uniform(poles) ** 4, 10 * uniform(poles))
    square = channels, channels
    made = [normal(batch, channels, points), mu, torch.complex(normal(*square, poles), normal(*square, poles)) / channels]
    made += [normal(*square) / channels, normal(channels)]
    made += [normal(2 * channels, channels) / channels**0.5, normal(2 * channels)] if gate else []
    return made + [normal(batch, channels, points) for _ in range(terms)]


def split(given: list[Tensor], gate: bool) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return the input with the parameters, the parameters of the gate, and the terms."""
    return given[:5], given[5:7] if gate else [], given[7 if gate else 5 :]


def fused(given: list[Tensor], gate: bool, act: str, skip: bool) -> Tensor:
    """Return the output of a layer, computed by the GPU kernels."""
    (v, poles, residues, weight, bias), gates, terms = split(given, gate)
    both: Any = gates or (None, None)
    return gated_recurrence(v, poles, residues, DT, weight, bias, *both, terms, act, skip)


CASES = {
    "fewer channels than a tile": ((1, 1, 4, 41, 2), True, 0, "gelu", True),
    "two networks with a term": ((2, 1, 16, 20, 2), True, 1, "sin", True),
    "several tiles": ((1, 2, 16, 150, 2), False, 0, "gelu", False),
    "short chunks": ((1, 1, 20, 70, 2), False, 1, "", True),
    "groups of several chunks": ((1, 1, 4, 560, 2), False, 0, "gelu", True),
    "two points": ((1, 1, 4, 2, 1), True, 0, "gelu", True),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(case: str) -> None:
    sizes, gate, terms, act, skip = CASES[case]
    given = layer(*sizes, gate, terms)
    single = [x.clone().requires_grad_() for x in given]
    double = [x.to(torch.complex128 if x.is_complex() else torch.float64).requires_grad_() for x in given]
    found, expected = fused(single, gate, act, skip), sample_by_sample(*split_double(double, gate), act, skip)
    assert (found - expected).abs().max() <= EXACT * expected.abs().max()
    weight = torch.randn_like(expected)
    slopes = torch.autograd.grad(found, single, weight.float()), torch.autograd.grad(expected, double, weight)
    for k, (a, b) in enumerate(zip(*slopes, strict=True)):
        field = k == 0 or k >= len(given) - terms
        assert (a - b).abs().max() <= (EXACT if field else ROUNDED) * b.abs().max()


def split_double(given: list[Tensor], gate: bool) -> tuple[Any, ...]:
    plain, gates, terms = split(given, gate)
    return (*plain, gates, terms)


def test_vmap_over_networks_equals_a_stack_of_networks() -> None:
    given = layer(2, 1, 4, 40, 2, True, 0)

    def one(*own: Tensor) -> Tensor:
        return fused([x[None] for x in own], True, "gelu", True)[0]

    assert torch.equal(vmap(one)(*given), fused(given, True, "gelu", True))


def test_later_samples_do_not_change_earlier_outputs() -> None:
    given = layer(1, 1, 4, 90, 2, True, 0)
    before = fused(given, True, "gelu", True)
    given[0][..., 37:] += 1
    after = fused(given, True, "gelu", True)
    assert torch.equal(before[..., :37], after[..., :37])
    assert bool((before[..., 37:] != after[..., 37:]).any(-1).all())


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.9, 1.1, 3.0])
def test_coefficients_keep_their_accuracy_at_small_steps(size: float) -> None:
    """φ₁ = (e^z − 1)/z and φ₂ = (e^z − 1 − z)/z² lose digits by cancellation if z is small.

    For |z| < 0.01, the truth is the Taylor series; for other z, the truth is the definition.
    """
    z = size * torch.exp(torch.tensor(2.0j, dtype=torch.complex128))
    if size < 0.01:
        first, second = 1 + z / 2 + z**2 / 6 + z**3 / 24, 0.5 + z / 6 + z**2 / 24 + z**3 / 120
    else:
        first, second = (torch.exp(z) - 1) / z, (torch.exp(z) - 1 - z) / z**2
    poles = (z / DT).to(torch.complex64).reshape(1, 1).to(DEVICE)
    residues, weight = torch.ones(1, 1, 1, 1, dtype=torch.complex64, device=DEVICE), torch.zeros(1, 1, 1, device=DEVICE)
    c, b0, _, _ = torch.view_as_complex(prepare(poles, residues, weight, DT, 16).constants)[0, 0].cpu()
    assert (c - DT * first**2).abs() <= 3e-7 * DT * (first**2).abs()
    assert (b0 - DT * second).abs() <= 3e-7 * DT * second.abs()
