"""Networks with a real basis in space: agreement with the formula, boundary conditions, steady state, export."""

import numpy as np
import pytest
import torch
from torch import Tensor

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.models.frozen import Frozen
from lfno.spectral.bases import basis_matrices
from lfno.spectral.reference import respond_by_samples


def rod(boundary: str, points: int = 21, steps: int = 30) -> Grid:
    return Grid((Axis("x", points, 2.0 / (points - 1), boundary=boundary), Axis("t", steps, 3.0 / steps, time=True)))


def network(grid: Grid, steady: str = "exact", **fields: object) -> lfno.LFNO:
    torch.manual_seed(0)
    given = {"width": 4, "modes": (6, 5), "n_poles": 3, "share_poles": True, "laplace_axes": "time", "padding": 0.5}
    given |= {"transient_layers": 2, "grid_channels": True, "steady": steady}
    model = lfno.LFNO(grid, **given | fields).double()
    for parameter in model.parameters():  # R, which starts at zero, becomes nonzero
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def field(grid: Grid, batch: int = 3) -> Tensor:
    return torch.randn(batch, 1, *grid.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("boundary", "basis"), [("fixed", "sine"), ("free", "cosine")])
def test_a_layer_is_one_recurrence_for_each_mode_of_the_basis(boundary: str, basis: str) -> None:
    model = network(rod(boundary))
    assert model.bases == (basis,)
    v = torch.randn(2, 4, 21, 30, dtype=torch.float64)
    steps = model.steps(model.grid)
    (found,) = model.blocks[0].response(v, steps)
    there, back = basis_matrices(basis, 6, 21)
    kernel = model.blocks[0].kernel
    residues = torch.view_as_complex(kernel.residues.detach())
    expected = torch.zeros_like(found)
    for k in range(6):
        modes = torch.einsum("x,bixt->bit", there[k], v)
        answer = respond_by_samples(modes, kernel.values()[-1].detach(), residues[:, :, k], steps[-1])
        expected += answer[:, :, None] * back[:, k, None]
    assert torch.allclose(found, expected, atol=1e-12)


def test_the_response_vanishes_at_fixed_ends() -> None:
    model = network(rod("fixed"))
    (response,) = model.blocks[0].response(torch.randn(1, 4, 21, 30, dtype=torch.float64), model.steps(model.grid))
    assert response[:, :, [0, -1]].abs().max() < 1e-12 * response.abs().max()


def test_the_steady_part_is_the_response_to_a_repeated_input() -> None:
    model = network(rod("fixed"))
    x = field(model.grid, 1)
    _, steady = model.decompose(x.numpy())
    repeated = model(x.repeat(1, 1, 1, 12), model.grid.change("t", size=360)).detach().numpy()
    assert np.allclose(repeated[..., -30:], steady, atol=1e-9 * np.abs(steady).max())


@pytest.mark.parametrize("steady", ["exact", "residual"])
def test_an_export_gives_the_same_answers(steady: str) -> None:
    model = network(rod("free"), steady)
    x, y = field(model.grid), model(field(model.grid))
    assert torch.allclose(Frozen(model, model.grid)(x.float()).double(), y, atol=3e-6 * float(y.detach().abs().max()))


def test_a_finer_grid_in_space_gives_nearly_the_same_output() -> None:
    coarse, fine = rod("fixed"), rod("fixed", points=81)
    model = network(coarse, grid_channels=False)

    def smooth(grid: Grid) -> Tensor:
        x, t = grid.mesh()
        return torch.as_tensor(np.sin(np.pi * x / 2) * np.cos(3 * t))[None, None]

    difference = model(smooth(fine), fine)[..., ::4, :] - model(smooth(coarse))
    assert difference.abs().max() < 0.02 * model(smooth(coarse)).abs().max()


def test_the_option_basis_and_the_boundary_decide_the_basis() -> None:
    assert network(rod("fixed"), basis="fourier").bases == ()
    assert network(rod(""), modes=(5, 5)).bases == ()
    assert network(rod(""), basis="chebyshev").bases == ("chebyshev",)
    assert network(rod("fixed"), hold="trigonometric", modes=(5, 5)).bases == ()
    with pytest.raises(LfnoError, match="basis='bessel'"):
        network(rod("fixed"), basis="bessel")
    with pytest.raises(LfnoError, match="Nyquist limit"):
        network(rod("fixed", points=8))
