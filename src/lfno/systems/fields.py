"""Random functions of space: profiles on an interval, and periodic fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from lfno.systems.families import Draws, Family, column


class Profiles(Family):
    """Profiles `p(x) = Σₘ aₘ sin(mπx/L)`. The coefficients are aₘ ~ N(0, 1)/m, scaled to Σ aₘ² = 1.

    length: L.
    modes: the number of modes m.
    ends: "zero" for sines; "flat" for `cos((m − 1)πx/L)`, which has zero slope at the ends. For "flat", the coefficients are
        aₘ ~ N(0, 1)/max(m − 1, 1), scaled in the same way.
    first: the smallest m.
    """

    def __init__(self, length: float, modes: int = 4, ends: Literal["zero", "flat"] = "zero", first: int = 1) -> None:
        self.length, self.ends = length, ends
        self.orders = np.arange(modes) + first - (ends == "flat")

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        coefficients = generator.standard_normal((count, len(self.orders))) / np.maximum(self.orders, 1)
        return {"coefficients": coefficients / np.linalg.norm(coefficients, axis=1, keepdims=True)}

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        (x,) = coordinates
        wave = np.sin if self.ends == "zero" else np.cos
        return draws["coefficients"] @ wave(self.orders[:, None] * np.pi / self.length * x)


class PeriodicField(Family):
    """Gaussian random fields with mean zero on a periodic box, `u = Σₖ √2 s(|κ|²) (aₖ cos κ·x + bₖ sin κ·x)`.

    The sum has one wave vector κ = 2πk/L of each pair κ, −κ. aₖ and bₖ are standard normal. The distribution of u is N(0, C),
    where the covariance C has the eigenvalues s².

    lengths: the sides of the box.
    modes: the largest |k| along each axis.
    deviation: the function s of |κ|².
    amplitude: samples are scaled to a random root mean square in this range; None for no scaling.
    """

    def __init__(
        self,
        lengths: tuple[float, ...],
        modes: int,
        deviation: Callable[[np.ndarray], np.ndarray],
        amplitude: tuple[float, float] | None = None,
    ) -> None:
        self.lengths, self.modes, self.amplitude = lengths, modes, amplitude
        # all k along the first axes, k ≥ 0 along the last axis
        orders = [np.arange(-modes, modes + 1)] * (len(lengths) - 1) + [np.arange(modes + 1)]
        self.wavenumbers = [2 * np.pi / length * order for length, order in zip(lengths, orders, strict=True)]
        mesh = np.meshgrid(*self.wavenumbers, indexing="ij")
        flat = np.stack(mesh)
        # keep a vector if its last non-zero component is positive: this drops 0 and one of each pair k, −k
        last = np.zeros(mesh[0].shape)
        for component in flat:
            last = np.where(component != 0, component, last)
        squared = (flat**2).sum(axis=0)
        self.deviations = np.where(last > 0, np.sqrt(2) * deviation(np.where(squared > 0, squared, 1.0)), 0.0)

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        waves = generator.standard_normal((2, count, *self.deviations.shape)) * self.deviations
        if self.amplitude is not None:
            axes = tuple(range(2, waves.ndim))
            size = np.sqrt(0.5 * (waves**2).sum(axis=(0, *axes)))
            waves *= column(generator.uniform(*self.amplitude, count) / size, len(axes))
        return {"cosine": waves[0], "sine": waves[1]}

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        values = draws["cosine"] - 1j * draws["sine"]
        for wavenumbers, x in zip(self.wavenumbers, coordinates, strict=True):
            # one axis at a time, because a wave is a product of waves along each axis
            values = np.tensordot(values, np.exp(1j * wavenumbers[:, None] * np.ravel(x)), axes=([1], [0]))
        return values.real
