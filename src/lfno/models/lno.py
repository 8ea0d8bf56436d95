"""The Laplace neural operator (Cao et al., 2024). Residues have the channel indices of the paper's formula."""

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

    version: "original" (steady part λ = H α at all frequencies) or "decoupled" (a separate Fourier layer as the steady part).
    """

    layers: int = 1
    version: str = "original"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("layers", self.layers, high=1000)
        check_choice("version", self.version, ("original", "decoupled"))


class LNO(PoleOperator):
    """v ← act(transient(v) + steady(v) + W v): one exact pole–residue layer between lift and projection."""

    Config = LNOConfig
    config: LNOConfig

    def build(self) -> None:
        kind = Exact if self.config.version == "original" else Free
        self.blocks = nn.ModuleList(self.block(kind) for _ in range(self.config.layers))

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for block in self.blocks:
            v = block(v, steps, self.config.activation, transient=transient)
        return v
