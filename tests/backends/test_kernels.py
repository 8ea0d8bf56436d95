"""Values and gradients of the GPU kernels equal those of the plain formulas in double precision, for one and several networks.

On a machine without a GPU, the kernels run in Triton's interpreter, which executes the same program.
"""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor
from torch.func import vmap

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
pytest.importorskip("triton")

from lfno.backends import mixing_kernel  # noqa: E402
from lfno.backends.gated import update_with_gate  # noqa: E402
from lfno.backends.mixing_kernel import mix  # noqa: E402
from lfno.backends.perceptron import perceptron  # noqa: E402
from lfno.backends.update import update  # noqa: E402
from lfno.models.config import ACTIVATIONS  # noqa: E402
from lfno.models.pointwise import activation  # noqa: E402

RUNS, BATCH, WIDTH, HIDDEN, OUT, GRID = 2, 3, 4, 20, 3, (7, 30)


def fields(*shape: int) -> Tensor:
    """Return random numbers (RUNS, *shape)."""
    return torch.randn(RUNS, *shape, device=DEVICE)


def agree(kernel, formula, *inputs: Tensor) -> None:
    """Check that values and gradients agree in single precision, for a stack of networks and for one network."""
    torch.manual_seed(0)
    for mapped, given in ((vmap, inputs), (lambda f: f, [x[0] for x in inputs])):
        single = [x.clone().requires_grad_() for x in given]
        double = [x.double().requires_grad_() for x in given]
        found, expected = mapped(kernel)(*single), mapped(formula)(*double)
        weight = torch.randn_like(expected)
        slopes = torch.autograd.grad(found, single, weight.to(found.dtype)), torch.autograd.grad(expected, double, weight)
        for a, b in ((found, expected), *zip(*slopes, strict=True)):
            assert (a - b).abs().max() <= 3e-6 * b.abs().max()


def affine(v: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.einsum("oc,bc...->bo...", w, v) + b.reshape(-1, *(1,) * (v.ndim - 2))


@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_perceptron(kind: str) -> None:
    act = activation(kind)
    agree(
        lambda v, w1, b1, w2, b2: perceptron(v, w1, b1, w2, b2, kind),
        lambda v, w1, b1, w2, b2: affine(act(affine(v, w1, b1)), w2, b2),
        fields(BATCH, WIDTH, *GRID), fields(HIDDEN, WIDTH), fields(HIDDEN), fields(OUT, HIDDEN), fields(OUT),
    )  # fmt: skip


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("terms", [0, 1, 2])
@pytest.mark.parametrize("kind", ["", "gelu", "relu"])
def test_update(kind: str, terms: int, skip: bool) -> None:
    act = activation(kind) if kind else lambda x: x
    agree(
        lambda v, w, b, *rest: update(v, w, b, rest, kind, skip),
        lambda v, w, b, *rest: act(affine(v, w, b) + sum(rest)) + skip * v,
        fields(BATCH, WIDTH, *GRID), fields(WIDTH, WIDTH), fields(WIDTH),
        *(fields(BATCH, WIDTH, *GRID) for _ in range(terms)),
    )  # fmt: skip


def test_update_may_change_the_number_of_channels() -> None:
    kernel = lambda v, w, b: update(v, w, b, [], "", False)  # noqa: E731
    agree(kernel, affine, fields(BATCH, WIDTH, *GRID), fields(HIDDEN, WIDTH), fields(HIDDEN))


@pytest.mark.parametrize("terms", [0, 1, 2])
@pytest.mark.parametrize("kind", ["gelu", "sin"])
def test_gated(kind: str, terms: int) -> None:
    def formula(v: Tensor, w: Tensor, b: Tensor, gate: Tensor, bias: Tensor, *rest: Tensor) -> Tensor:
        value, opening = affine(activation(kind)(affine(v, w, b) + sum(rest)), gate, bias).chunk(2, 1)
        return v + value * torch.sigmoid(opening)

    agree(
        lambda v, w, b, gate, bias, *rest: update_with_gate(v, w, b, gate, bias, rest, kind), formula,
        fields(BATCH, WIDTH, *GRID), fields(WIDTH, WIDTH), fields(WIDTH), fields(2 * WIDTH, WIDTH), fields(2 * WIDTH),
        *(fields(BATCH, WIDTH, *GRID) for _ in range(terms)),
    )  # fmt: skip


@pytest.mark.parametrize(("samples", "channels_in", "channels_out"), [(3, 4, 4), (18, 6, 3)])
@pytest.mark.parametrize("few", [0, 4096])
def test_mix(samples: int, channels_in: int, channels_out: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes are not multiples of the tile size. The kernels use large tiles, then small tiles."""
    monkeypatch.setattr(mixing_kernel, "FEW", few)
    agree(
        lambda x, h: torch.view_as_real(mix(torch.view_as_complex(x), torch.view_as_complex(h))),
        lambda x, h: torch.view_as_real(
            torch.einsum("bi...,io...->bo...", torch.view_as_complex(x), torch.view_as_complex(h))
        ),
        fields(samples, channels_in, 5, 9, 2), fields(channels_in, channels_out, 5, 9, 2),
    )  # fmt: skip


def test_mix_accepts_any_memory_layout() -> None:
    """Inputs are permuted or conjugated, and the gradient is an expanded tensor."""
    x, h = (torch.randn(*shape, 6, 2, device=DEVICE) for shape in ((4, 3), (3, 5)))

    def kernel(x: Tensor, h: Tensor) -> Tensor:
        left, right = torch.view_as_complex(x).conj(), torch.view_as_complex(h).transpose(0, 1).contiguous().transpose(0, 1)
        return torch.view_as_real(mix(left, right).conj().resolve_conj().transpose(0, 1))

    def formula(x: Tensor, h: Tensor) -> Tensor:
        left, right = torch.view_as_complex(x).conj(), torch.view_as_complex(h)
        return torch.view_as_real(torch.einsum("bil,iol->obl", left, right).conj().resolve_conj())

    agree(kernel, formula, *(values.expand(RUNS, *values.shape) for values in (x, h)))


def test_vmap_within_vmap() -> None:
    v, w, b = fields(3, BATCH, WIDTH, *GRID), fields(3, WIDTH, WIDTH), fields(3, WIDTH)
    kernel = lambda v, w, b: update(v, w, b, [], "gelu", True)  # noqa: E731
    nested = vmap(vmap(kernel))(v, w, b)
    assert nested.shape == v.shape
    assert torch.allclose(nested[1, 2], kernel(v[1, 2], w[1, 2], b[1, 2]), atol=1e-6)


def test_relu_keeps_nan() -> None:
    v = fields(BATCH, WIDTH, *GRID)[0]
    v[0, 0, 0, 0] = torch.nan
    eye, zero = torch.eye(WIDTH, device=DEVICE), torch.zeros(WIDTH, device=DEVICE)
    assert bool(update(v, eye, zero, [], "relu", False).isnan().any())
