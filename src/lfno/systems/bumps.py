"""Random periodic bumps: localised initial states. The other families consist of waves."""

from __future__ import annotations

import numpy as np
from scipy.special import i0e

from lfno.systems.families import Draws, Family


class Bumps(Family):
    """Sums of smooth periodic bumps, `Σᵢ aᵢ (Π_d exp(κᵢ (cos 2π(x_d − c_id)/L_d − 1)) − mean)`.

    lengths: L, the period of each axis d.
    amplitude: the range of the heights |aᵢ|. Their signs are random.
    sharpness: the range of κ. A bump has a width of about L/(2π√κ).
    bumps: the number of bumps of a sample, with random centres c.
    centred: whether to subtract the mean of each bump. A vorticity must have mean zero.
    """

    def __init__(
        self,
        lengths: tuple[float, ...],
        amplitude: tuple[float, float],
        sharpness: tuple[float, float] = (2.0, 12.0),
        bumps: int = 4,
        centred: bool = True,
    ) -> None:
        self.lengths, self.amplitude, self.sharpness = lengths, amplitude, sharpness
        self.bumps, self.centred = bumps, centred

    def draw(self, count: int, generator: np.random.Generator) -> Draws:
        sign = generator.choice([-1.0, 1.0], (count, self.bumps))
        return {
            "height": sign * generator.uniform(*self.amplitude, (count, self.bumps)),
            "sharpness": generator.uniform(*self.sharpness, (count, self.bumps)),
            "centre": generator.uniform(0, 1, (count, self.bumps, len(self.lengths))) * np.array(self.lengths),
        }

    def evaluate(self, draws: Draws, *coordinates: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(*(np.shape(c) for c in coordinates))
        total = np.zeros((len(draws["height"]), *shape))
        ones = (1,) * len(shape)
        for i in range(self.bumps):
            sharpness = draws["sharpness"][:, i].reshape(-1, *ones)
            bump = np.ones((1, *ones))
            for d, (x, length) in enumerate(zip(coordinates, self.lengths, strict=True)):
                angle = 2 * np.pi / length * (x - draws["centre"][:, i, d].reshape(-1, *ones))
                bump = bump * np.exp(sharpness * (np.cos(angle) - 1))
            mean = i0e(sharpness) ** len(self.lengths) if self.centred else 0.0
            total += draws["height"][:, i].reshape(-1, *ones) * (bump - mean)
        return total
