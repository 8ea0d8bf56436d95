"""The Laplace neural operator (Cao et al., 2024). Each pair of input and output channels has its own residues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from lfno.models.config import PoleConfig, check_choice, check_count
from lfno.models.pole_operator import PoleOperator
from lfno.models.responses import Exact, Free


@dataclass(frozen=True)
class LNOConfig(PoleConfig):
    """Options of an LNO.

    layers: the number of layers.
    version: the steady part of a layer. "original": H α at all frequencies, with the transfer function H of the poles and the
        Fourier coefficients α of the input. "decoupled": R α at the low frequencies, with learned channel matrices R.
    """

    layers: int = 1
    version: str = "original"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("layers", self.layers, high=1000)
        check_choice("version", self.version, ("original", "decoupled"))


class LNO(PoleOperator):
    """The Laplace neural operator: lift, `layers` times v ← act(transient(v) + steady(v) + W v + b), projection."""

    Config = LNOConfig
    config: LNOConfig

    def build(self) -> None:
        kind = Exact if self.config.version == "original" else Free
        self.blocks = nn.ModuleList(self.block(kind) for _ in range(self.config.layers))

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for block in self.blocks:
            v = block(v, steps, self.config.activation, transient=transient)
        return v
