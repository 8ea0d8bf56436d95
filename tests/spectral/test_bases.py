"""Bases along an axis: they agree with the transforms of scipy, satisfy the boundary conditions, and accept uneven points."""

import numpy as np
import pytest
import torch
from scipy.fft import dct, dst

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis
from lfno.spectral.bases import BASES, analysis, basis_matrices, most_modes, shapes, trapezoid_weights

FIELD = np.random.default_rng(0).normal(size=33)


def test_sine_modes_are_the_discrete_sine_transform() -> None:
    there, _ = basis_matrices("sine", 31, 33)
    assert np.allclose(there.numpy() @ FIELD, dst(FIELD[1:-1], type=1) / 32, atol=1e-12)


def test_cosine_modes_are_the_discrete_cosine_transform() -> None:
    there, _ = basis_matrices("cosine", 33, 33)
    expected = dct(FIELD, type=1) / 32
    expected[[0, -1]] /= 2  # scipy counts the two ends of the spectrum twice
    assert np.allclose(there.numpy() @ FIELD, expected, atol=1e-12)


@pytest.mark.parametrize("basis", BASES)
def test_modes_to_points_and_back_is_the_identity(basis: str) -> None:
    there, back = basis_matrices(basis, 9, 40)
    assert torch.allclose(there @ back, torch.eye(9, dtype=torch.float64), atol=1e-10)


@pytest.mark.parametrize("basis", BASES)
def test_modes_do_not_depend_on_the_points(basis: str) -> None:
    """A sum of six basis functions on uneven points has exactly its six coefficients."""
    inner = torch.rand(60, generator=torch.Generator().manual_seed(0))
    uneven = torch.sort(torch.cat((inner, torch.tensor([0.0, 1.0])))).values
    wanted = torch.linspace(1, -1, 6, dtype=torch.float64)
    field = shapes(basis, 6, uneven) @ wanted
    assert torch.allclose(analysis(shapes(basis, 6, uneven), uneven) @ field, wanted, atol=1e-9)


def test_sines_vanish_at_fixed_ends_and_cosines_are_flat_at_free_ends() -> None:
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert shapes("sine", 5, ends).abs().max() < 1e-12
    near = torch.tensor([0.0, 1e-6, 1 - 1e-6, 1.0], dtype=torch.float64)
    values = shapes("cosine", 5, near)
    assert (values[1] - values[0]).abs().max() < 1e-9
    assert (values[3] - values[2]).abs().max() < 1e-9


def test_the_trapezoidal_rule_is_exact_for_lines() -> None:
    places = torch.tensor([0.0, 0.1, 0.4, 1.0], dtype=torch.float64)
    assert torch.isclose((trapezoid_weights(places) * (3 * places + 2)).sum(), torch.tensor(3.5, dtype=torch.float64))


def test_too_many_modes_and_unknown_names_are_refused() -> None:
    assert most_modes("sine", 10) == 8
    with pytest.raises(LfnoError, match="10 points carry 1 to 8 sine modes"):
        basis_matrices("sine", 9, 10)
    with pytest.raises(LfnoError, match="no basis 'bessel'"):
        shapes("bessel", 3, torch.zeros(2))
    with pytest.raises(LfnoError, match="boundary 'loose'"):
        Axis("x", 8, 0.1, boundary="loose")
    with pytest.raises(LfnoError, match="no fixed ends"):
        Axis("t", 8, 0.1, time=True, boundary="fixed")
    with pytest.raises(LfnoError, match="cannot be free"):
        Axis("x", 8, 0.1, periodic=True, boundary="free")
    assert Axis("x", 8, 0.1, boundary="periodic").periodic
