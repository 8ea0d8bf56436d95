"""The Fourier neural operator (Li et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from lfno.models.config import OperatorConfig, check_count
from lfno.models.fourier_weights import FourierWeights
from lfno.models.layers import Block
from lfno.models.operator import Operator
from lfno.models.responses import Weights


@dataclass(frozen=True)
class FNOConfig(OperatorConfig):
    """Options of an FNO: the options of every operator, and the number of Fourier layers."""

    layers: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("layers", self.layers, high=1000)


class FNO(Operator):
    """The Fourier neural operator: lift, `layers` times v ← act(F⁻¹ R F v + W v + b), projection.

    F is the Fourier transform. R has one channel matrix for each low mode. W v + b is a channel map at every point. The last
    layer has no activation.

    >>> model = FNO(lfno.Grid.line(2048, dt=0.01), width=4, modes=16)
    >>> model.predict(np.zeros(2048)).shape
    (2048,)
    """

    Config = FNOConfig
    config: FNOConfig

    def build(self) -> None:
        width = self.config.width
        self.blocks = nn.ModuleList(
            Block(width, Weights(None, FourierWeights(width, width, self.modes))) for _ in range(self.config.layers)
        )

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for depth, block in enumerate(self.blocks):
            last = depth == len(self.blocks) - 1
            v = block(v, steps, "" if last else self.config.activation)
        return v
