"""Truncated Fourier transforms: matrix products and fast transforms give the same result.

A field with a longer period is continued by zeros after its last point.
"""

import pytest
import torch

from lfno.backends import cache, fourier
from lfno.backends.fourier import to_modes
from lfno.spectral import fourier as formula
from lfno.spectral.waves import waves

CASES = [((90,), (20,)), ((90,), (None,)), ((24, 70), (5, 8)), ((6, 10, 66), (3, 4, 7))]
ENTERED = [*((*case, ()) for case in CASES), *((*case, (0,)) for case in CASES[2:])]


def field(shape):
    return torch.randn(2, 3, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()


def there_and_back(x, modes, shape, period=(), room=fourier, entered=()):
    """Transform a field to modes, multiply the modes by weights, and transform them back.

    room: the module to test, `lfno.backends.fourier` or `lfno.spectral.fourier`.
    entered: axes that `enter` transforms first and `leave` transforms back last.
    """
    inside = room.enter(x, modes, entered)
    spectrum = room.to_modes(inside, modes, entered, period)
    weight = torch.linspace(0.5, 2, spectrum.numel(), dtype=torch.float64).reshape(spectrum.shape)
    found = room.from_modes(spectrum * weight * (1 + 0.3j), shape, entered, period)
    return room.leave(found, shape, entered)


def value_and_slope(function, x):
    """Return the value of a function at x, and the gradient of the sum of the squares of this value."""
    out = function(x)
    return out, torch.autograd.grad(out.square().sum(), x)[0]


@pytest.fixture
def way(monkeypatch):
    """Return a function that selects the method: matrix products on all axes that drop modes, or fast transforms only."""

    def choose(products):
        monkeypatch.setattr(fourier, "by_product", lambda period, points, modes, x: products and modes is not None)

    return choose


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize(("shape", "modes", "entered"), ENTERED)
def test_both_methods_equal_the_formula(shape, modes, entered, products, way):
    way(products)
    rooms, x = (fourier, formula), field(shape)
    found = [value_and_slope(lambda x, room=room: there_and_back(x, modes, shape, (), room, entered), x) for room in rooms]
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize(("shape", "modes"), CASES)
def test_a_longer_period_equals_zeros_after_the_last_point(shape, modes, products, way):
    way(products)
    period = tuple(n + (n // 2 if d % 2 == 0 else 0) for d, n in enumerate(shape))

    def written_out(x):
        extra = [n for size, more in zip(reversed(shape), reversed(period), strict=True) for n in (0, more - size)]
        out = there_and_back(torch.nn.functional.pad(x, extra), modes, period)
        return out[(..., *(slice(n) for n in shape))]

    x = field(shape)
    found = value_and_slope(lambda x: there_and_back(x, modes, shape, period), x)
    for one, other in zip(found, value_and_slope(written_out, x), strict=True):
        assert torch.allclose(one, other, rtol=1e-11, atol=1e-11)


def test_large_angles_lose_no_digits():
    """On 2001 points, mode 1000 at point 2k equals mode 1 at point −k. Their angles differ by up to a thousand turns."""
    found = waves(2001, 2001, 1001, True, torch.float64, torch.device("cpu"))
    k = torch.arange(1, 1000)
    assert torch.equal(found[:, 1000, 2 * k], found[:, 1, 2001 - k])


def test_products_are_chosen_for_few_modes_and_short_axes():
    x = torch.zeros(1)
    assert fourier.by_product(64, 64, 30, x)
    assert fourier.by_product(3072, 2048, 32, x)
    for period, points, modes in ((2048, 2048, 32), (3072, 2048, 33), (3072, 2048, None), (3_000_000, 2_000_000, 32)):
        assert not fourier.by_product(period, points, modes, x)


def test_the_cache_of_wave_matrices_has_a_limit(way):
    way(products=True)
    for size in range(70, 70 + 2 * cache.WAVES):
        to_modes(torch.zeros(1, size), (3,))
    assert len(cache._WAVES) <= cache.WAVES


def test_tensors_inside_torch_func_transformations_are_not_cached(way):
    way(products=True)
    torch.func.grad(lambda x: to_modes(x, (3,)).abs().sum())(torch.ones(1, 301))
    to_modes(torch.ones(1, 301), (3,))
    assert all(values.data_ptr() for values in cache._WAVES.values())


def test_matrices_cached_in_inference_mode_can_be_used_in_training(way):
    way(products=True)
    x = field((90,)).float()
    with torch.inference_mode():
        to_modes(x, (17,))
    assert torch.autograd.grad(to_modes(x, (17,)).abs().sum(), x)[0].isfinite().all()
