"""Normalisers: zero mean and unit deviation where they were fitted, exactly undone, the same in NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.data import normalise
from lfno.data.normalise import Normaliser

RNG = np.random.default_rng(0)
VALUES = RNG.normal([[[[3.0]], [[-1e6]], [[0.0]]]], [[[[2.0]], [[5.0]], [[1e-4]]]], size=(20, 3, 7, 50))


def test_mean_zero_deviation_one_and_back() -> None:
    normaliser = Normaliser.fit(VALUES)
    encoded = normaliser.encode(VALUES)
    np.testing.assert_allclose(encoded.mean(axis=(0, 2, 3)), 0, atol=1e-9)
    np.testing.assert_allclose(encoded.std(axis=(0, 2, 3)), 1, rtol=1e-9)
    np.testing.assert_allclose(normaliser.decode(encoded), VALUES, rtol=1e-12)


def test_pieces_do_not_change_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Normaliser.fit(VALUES)
    monkeypatch.setattr(normalise, "BLOCK", 1000)
    pieces = Normaliser.fit(VALUES)
    np.testing.assert_allclose(pieces.offset, whole.offset, rtol=1e-12)
    np.testing.assert_allclose(pieces.scale, whole.scale, rtol=1e-12)
    np.testing.assert_allclose(whole.scale, VALUES.std(axis=(0, 2, 3)), rtol=1e-9)


def test_torch_and_numpy_agree_on_any_axis() -> None:
    normaliser = Normaliser.fit(VALUES)
    tensor = torch.from_numpy(VALUES)
    np.testing.assert_array_equal(normaliser.encode(tensor).numpy(), normaliser.encode(VALUES))
    moved = np.moveaxis(VALUES, 1, 0)
    np.testing.assert_array_equal(np.moveaxis(normaliser.encode(moved, axis=0), 0, 1), normaliser.encode(VALUES))
    single = tensor.float().requires_grad_()
    assert normaliser.decode(single).dtype == torch.float32
    normaliser.decode(single).sum().backward()
    assert single.grad is not None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_constant_channel_gets_scale_one(dtype: type) -> None:
    values = np.ones((50, 2, 333), dtype=dtype)
    values[:, 0] = 7
    values[:, 1, ::2] = 5
    normaliser = Normaliser.fit(values if dtype is not np.float32 else values * np.float32(0.1))
    assert normaliser.scale[0] == 1.0
    assert normaliser.scale[1] != 1.0


def test_there_and_back_as_a_dictionary() -> None:
    normaliser = Normaliser.fit(VALUES)
    assert Normaliser.from_dict(normaliser.to_dict()) == normaliser
    same = Normaliser.identity(3)
    np.testing.assert_array_equal(same.encode(VALUES), VALUES)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Normaliser((1.0,), (0.0,)), "scales positive"),
        (lambda: Normaliser((1.0,), (1.0, 2.0)), "a scale for each offset"),
        (lambda: Normaliser.from_dict({"offset": [1.0]}), "not the description"),
        (lambda: Normaliser.fit(VALUES[:0]), "no samples"),
        (lambda: Normaliser.fit(np.full((2, 1, 3), np.nan)), "not finite"),
        (lambda: Normaliser.identity(2).encode(VALUES), "3 channels and the normaliser 2"),
    ],
)
def test_what_cannot_be_normalised(make: object, says: str) -> None:
    with pytest.raises(LfnoError, match=says):
        make()  # type: ignore[operator]
